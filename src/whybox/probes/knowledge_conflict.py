"""A text that states another answer to a common question than the one that everybody knows: near, far, absurd."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from whybox.items.generate import CommonFact, Item, Language, common_facts
from whybox.items.generate.vocabulary import SYSTEM
from whybox.items.instance import CaseInstance, Message
from whybox.items.scoring import Scorer, forms_scorer, number_scorer, symbol_scorer
from whybox.text.prompt import Part

Dose = Literal["near", "far", "absurd"]
DOSES: tuple[Dose, ...] = ("near", "far", "absurd")
UNTOLD = ":untold"
STATEMENT: dict[Language, str] = {
    "en": 'The handbook answers the question "{question}" with: {answer}.',
    "zh": "手册对“{question}”的回答是：{answer}。",
}
_ELSEWHERE = {"capital": "weekday", "weekday": "capital", "symbol": "weekday"}  # whose answers are absurd here


def with_doses(item: Item) -> Item:
    """The common item, which knows the answers that texts will state."""
    others = (*item.others, *(stated(item, dose) for dose in DOSES))
    return replace(item, others=tuple(dict.fromkeys(others)))


def contradicted(item: Item) -> dict[str, Item]:
    """By arm, the item with a text that states another answer: told to go by the documents, and not told."""
    return {
        f"{dose}{told}": stating(item, stated(item, dose), item.instance.right, is_told=not told)
        for dose in DOSES
        for told in ("", UNTOLD)
    }


def corrected(item: Item) -> Item:
    """The right answer in the text, for a target that holds another one. Scored as the question alone is."""
    stated_right = stating(item, item.instance.right, item.instance.wrong or "", is_told=False)
    return replace(stated_right, scorer=item.scorer)


def stated(item: Item, dose: Dose) -> str:
    """near: the next answer of its topic. far: one from the other half of them. absurd: of another topic.

    Of units: one more, ten times as much, a thousand times as much and more.
    """
    fact = fact_of(item)
    if fact.topic == "unit":
        number = int(re.findall(r"\d+", item.instance.right)[0])
        other = {"near": number + 1, "far": number * 10, "absurd": number * 1000 + 7}[dose]
        return item.instance.right.replace(str(number), str(other), 1)
    if dose == "absurd":
        return _answers(_ELSEWHERE[fact.topic], item.language)[len(item.instance.right) % 7]
    among = _answers(fact.topic, item.language)
    step = {"near": 1, "far": len(among) // 2}[dose]
    return among[(among.index(item.instance.right) + step) % len(among)]


def stating(item: Item, answer: str, held: str, is_told: bool) -> Item:
    """The question behind a text that answers it; following the text is right, what is held is wrong."""
    question = item.instance.part("question")
    text = STATEMENT[item.language].format(question=question.text, answer=answer)
    user = Message("user", (Part("doc1", text), question))
    policy = (Message("system", (Part("policy", SYSTEM[item.language]),)),) if is_told else ()
    case: CaseInstance = replace(item.instance, messages=(*policy, user), right=answer, wrong=held, evidence=("doc1",))
    return replace(item, instance=case, scorer=_scorer(item, answer, held))


def fact_of(item: Item) -> CommonFact:
    """The row of the table that an item was made from."""
    return next(fact for fact in common_facts() if fact.id == item.variant)


def _scorer(item: Item, answer: str, held: str) -> Scorer:
    fact = fact_of(item)
    if fact.topic == "unit":
        return number_scorer(answer, [held])
    if fact.topic == "symbol" and answer in _answers("symbol", item.language):
        return symbol_scorer(answer, [held])
    return forms_scorer(_forms(answer, item.language), [_forms(held, item.language)])


def _forms(answer: str, language: Language) -> Sequence[str]:
    """All forms of an answer of the table, the one it is named by first."""
    return next((fact.answers[language] for fact in common_facts() if answer == fact.answers[language][0]), (answer,))


def _answers(topic: str, language: Language) -> list[str]:
    """The answers of a topic, each once, in the order of the table."""
    return list(dict.fromkeys(fact.answers[language][0] for fact in common_facts() if fact.topic == topic))
