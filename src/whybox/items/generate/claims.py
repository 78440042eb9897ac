"""Documents that disagree: office S states value v on issue I. Every item has a mirror with the claims swapped."""

from dataclasses import dataclass, replace

from whybox.items.generate.facts import FactSet, draw_facts
from whybox.items.generate.item import Answers, Draw, Item, documents_case
from whybox.items.generate.vocabulary import Attribute, Language, Phrases
from whybox.items.scoring import name_scorer, number_scorer


@dataclass(frozen=True)
class Issue:
    """What the sources disagree about; `who`: the question for the source of a value, per language."""

    attribute: Attribute
    who: dict[Language, str]


ISSUES: tuple[Issue, ...] = (
    Issue(
        Attribute(
            "claim-bridge", "office", 11, 98,
            Phrases("The {name} writes: the new bridge is {value} metres long.",
                    "According to the {name}, how many metres long is the new bridge?", "{value} metres"),
            Phrases("{name}写道：新桥长{value}米。", "根据{name}的说法，新桥长多少米？", "{value}米"),
        ),
        {"en": "Who writes that the new bridge is {value} metres long?", "zh": "谁写道新桥长{value}米？"},
    ),
    Issue(
        Attribute(
            "claim-works", "office", 11, 98,
            Phrases("The {name} writes: the road works take {value} weeks.",
                    "According to the {name}, how many weeks do the road works take?", "{value} weeks"),
            Phrases("{name}写道：道路施工需要{value}周。", "根据{name}的说法，道路施工需要多少周？", "{value}周"),
        ),
        {"en": "Who writes that the road works take {value} weeks?", "zh": "谁写道道路施工需要{value}周？"},
    ),
    Issue(
        Attribute(
            "claim-fee", "office", 11, 98,
            Phrases("The {name} writes: the yearly fee is {value} dollars.",
                    "According to the {name}, how many dollars is the yearly fee?", "{value} dollars"),
            Phrases("{name}写道：年费为{value}元。", "根据{name}的说法，年费是多少元？", "{value}元"),
        ),
        {"en": "Who writes that the yearly fee is {value} dollars?", "zh": "谁写道年费为{value}元？"},
    ),
)  # fmt: skip


def claim_item(draw: Draw) -> Item:
    """What does S say, or who says v. Items 2n and 2n+1 are mirrors: same sources, the claims moved on by one."""
    issue = ISSUES[draw.pick(len(ISSUES))]
    drawn = draw_facts(replace(draw, index=draw.index // 4), issue.attribute)
    if draw.index % 2:
        drawn = _mirrored(drawn, issue.attribute.phrases(draw.language))
    return _who(draw, issue, drawn) if draw.index // 2 % 2 else _what(draw, issue, drawn)


def pair_index(index: int) -> int:
    """Number of the pair that an item belongs to; both of a pair draw from one generator."""
    return index // 2


def _mirrored(drawn: FactSet, phrases: Phrases) -> FactSet:
    values = [fact.value for fact in drawn.facts]
    moved = [
        replace(fact, value=value, sentence=phrases.fact.format(name=fact.name, value=value))
        for fact, value in zip(drawn.facts, [*values[1:], values[0]], strict=True)
    ]
    return replace(drawn, facts=tuple(moved))


def _what(draw: Draw, issue: Issue, drawn: FactSet) -> Item:
    phrases = issue.attribute.phrases(draw.language)
    right, *others = (phrases.answer.format(value=fact.value) for fact in (drawn.right, *drawn.distractors))
    return _item(draw, drawn, phrases.question.format(name=drawn.right.name), [right, *others], "what")


def _who(draw: Draw, issue: Issue, drawn: FactSet) -> Item:
    names = [fact.name for fact in (drawn.right, *drawn.distractors)]
    return _item(draw, drawn, issue.who[draw.language].format(value=drawn.right.value), names, "who")


def _item(draw: Draw, drawn: FactSet, question: str, candidates: list[str], direction: str) -> Item:
    right, others = candidates[0], tuple(candidates[1:])
    kind, scorer = (
        ("number", number_scorer(right, others)) if direction == "what" else ("name", name_scorer(right, others))
    )
    answers = Answers(right, others[0] if others else None, "number" if kind == "number" else "name")
    instance = documents_case(draw, [fact.sentence for fact in drawn.facts], question, answers, drawn.asked)
    variant = f"{direction}/{'mirror' if draw.index % 2 else 'original'}"
    return Item(
        draw.id, "claim", draw.language, instance, scorer, drawn.facts, drawn.asked, others, variant, drawn.flags
    )
