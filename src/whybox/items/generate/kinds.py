"""The kinds of items that are rendered from facts: fact, keyvalue, choice, boundary, rule."""

from dataclasses import replace

import numpy as np

from whybox.items.generate.facts import FactSet, arranged, draw_facts, rotation, until
from whybox.items.generate.item import Answers, Draw, Fact, Item, documents_case
from whybox.items.generate.names import draw_names, with_kind
from whybox.items.generate.vocabulary import ATTRIBUTES, Attribute
from whybox.items.scoring import (
    AbstainScorer,
    FalsePremiseScorer,
    JsonWithKeys,
    Scorer,
    choice_scorer,
    code_scorer,
    never_write,
    number_scorer,
)

LABELS = "ABCDEFGH"


def fact_item(draw: Draw) -> Item:
    """X keeps parcels for 17 days; how many days does X keep parcels?"""
    attribute = _attribute(draw)
    return _asked_item(draw, attribute, draw_facts(draw, attribute))


def _attribute(draw: Draw) -> Attribute:
    return ATTRIBUTES[draw.pick(len(ATTRIBUTES))]


def _asked_item(draw: Draw, attribute: Attribute, drawn: FactSet) -> Item:
    phrases = attribute.phrases(draw.language)
    right, *others = (phrases.answer.format(value=fact.value) for fact in (drawn.right, *drawn.distractors))
    question = phrases.question.format(name=drawn.right.name)
    answers = Answers(right, others[0] if others else None, "number")
    sentences = [fact.sentence for fact in drawn.facts]
    instance = documents_case(draw, sentences, question, answers, drawn.asked)
    scorer = number_scorer(right, others)
    return Item(
        draw.id, "fact", draw.language, instance, scorer, drawn.facts, drawn.asked, tuple(others), flags=drawn.flags
    )


_KEY_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
KEYVALUE = {
    "en": ("The code of the {name} is {value}.", "What is the code of the {name}?"),
    "zh": ("{name}的代码是{value}。", "{name}的代码是什么？"),
}


def keyvalue_item(draw: Draw) -> Item:
    """The code of X is K7Q-19; what is the code of X?"""
    statement, question = KEYVALUE[draw.language]
    facts: list[Fact] = []
    for name in draw_names(draw.generator, draw.language, draw.size):
        written = with_kind(name, "device", draw.language)
        code = until(lambda: draw_code(draw.generator), lambda code: all(code[:2] != fact.value[:2] for fact in facts))
        facts.append(Fact(written, "code", code, statement.format(name=written, value=code)))
    drawn = arranged(draw, facts, ())
    right, others = drawn.right.value, tuple(fact.value for fact in drawn.distractors)
    instance = documents_case(
        draw,
        [fact.sentence for fact in drawn.facts],
        question.format(name=drawn.right.name),
        Answers(right, others[0] if others else None, "text"),
        drawn.asked,
    )
    return Item(
        draw.id, "keyvalue", draw.language, instance, code_scorer(right, others), drawn.facts, drawn.asked, others
    )


def draw_code(generator: np.random.Generator) -> str:
    """A code such as K7Q-19: no letter or digit that could be read as another."""
    letters = generator.choice(list(_KEY_LETTERS), size=2)
    digits = generator.integers(2, 10, size=3)
    return f"{letters[0]}{digits[0]}{letters[1]}-{digits[1]}{digits[2]}"


def choice_item(draw: Draw) -> Item:
    """Options A … with contents from the given facts; the right label and the right document's place rotate apart."""
    attribute = _attribute(draw)
    drawn = draw_facts(draw, attribute)
    phrases = attribute.phrases(draw.language)
    right, *others = (phrases.answer.format(value=fact.value) for fact in (drawn.right, *drawn.distractors))
    _, _, place = rotation(draw.index, draw.size)
    contents = dict(zip(LABELS, [*others[:place], right, *others[place:]], strict=False))
    options = "\n".join(f"{label}) {content}" for label, content in contents.items())
    ask = {"en": "Answer with the letter.", "zh": "请只回答字母。"}[draw.language]
    question = f"{phrases.question.format(name=drawn.right.name)}\n{options}\n{ask}"
    label, wrong = LABELS[place], LABELS[(place + 1) % draw.size]
    sentences = [fact.sentence for fact in drawn.facts]
    instance = documents_case(draw, sentences, question, Answers(label, wrong, "choice"), drawn.asked)
    scorer = choice_scorer(label, tuple(contents), contents)
    return Item(
        draw.id, "choice", draw.language, instance, scorer, drawn.facts, drawn.asked, tuple(others), flags=drawn.flags
    )


_PREMISE = {
    "en": "Why did the {name} close last year?",
    "zh": "{name}去年为什么停用？",
}
DECLINE = {"en": "The documents do not say.", "zh": "文档没有说明。"}


def boundary_item(draw: Draw) -> Item:
    """Answerable, unanswerable (an entity that no document names), false premise, in turn."""
    attribute = _attribute(draw)
    drawn = draw_facts(draw, attribute)
    phrases = attribute.phrases(draw.language)
    given = tuple(phrases.answer.format(value=fact.value) for fact in drawn.facts)
    match draw.index % 3:
        case 0:
            item = _asked_item(draw, attribute, drawn)
            return replace(item, kind="boundary", variant="answerable")
        case 1:
            words = [fact.name.split(" ")[0] if draw.language == "en" else fact.name[:2] for fact in drawn.facts]
            (absent,) = draw_names(draw.generator, draw.language, 1, avoid=words)
            question = phrases.question.format(name=with_kind(absent, attribute.entity, draw.language))
            known = number_scorer(given[0], given[1:])
            return _declined(draw, drawn, (question, "unanswerable"), given, AbstainScorer(known))
        case _:
            question = _PREMISE[draw.language].format(name=drawn.right.name)
            return _declined(draw, drawn, (question, "false-premise"), given, FalsePremiseScorer())


def _declined(draw: Draw, drawn: FactSet, ask: tuple[str, str], given: tuple[str, ...], scorer: Scorer) -> Item:
    question, variant = ask
    answers = Answers(DECLINE[draw.language], given[0], "text")
    instance = documents_case(draw, [fact.sentence for fact in drawn.facts], question, answers, None)
    return Item(draw.id, "boundary", draw.language, instance, scorer, drawn.facts, None, given, variant, drawn.flags)


NEVER = {"en": "Answer in one sentence. Never write the word {word}.", "zh": "用一句话回答，不要写出“{word}”这个词。"}
JSON_RULE = {
    "en": "Reply with a JSON object that has the key value, and nothing else.",
    "zh": "只回复一个含有键 value 的 JSON 对象。",
}


def rule_item(draw: Draw) -> Item:
    """An instruction with its checker: a word never to be written, a JSON object with a key, in turn.

    `right` and `wrong` of the case are an answer that obeys and one that breaks the rule.
    """
    attribute = _attribute(draw)
    drawn = draw_facts(draw, attribute)
    phrases = attribute.phrases(draw.language)
    value = phrases.answer.format(value=drawn.right.value)
    if draw.index % 2:
        system, variant = JSON_RULE[draw.language], "json"
        answers = Answers(f'{{"value": {drawn.right.value}}}', value, "text")
        scorer: Scorer = JsonWithKeys(("value",), strict=True)
    else:
        word = phrases.topic
        system, variant = NEVER[draw.language].format(word=word), f"never:{word}"
        answers = Answers(value, f"{value} {word}" if draw.language == "en" else f"{word}{value}", "text")
        scorer = never_write([word])
    question = phrases.question.format(name=drawn.right.name)
    sentences = [fact.sentence for fact in drawn.facts]
    instance = documents_case(draw, sentences, question, answers, drawn.asked, system)
    return Item(draw.id, "rule", draw.language, instance, scorer, drawn.facts, drawn.asked, (), variant, drawn.flags)
