"""Three hundred undisputed facts (capitals, element symbols, weekday arithmetic, units), asked without any document."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from whybox.items.generate.item import Draw, Item
from whybox.items.generate.vocabulary import Language
from whybox.items.instance import CaseInstance, Message
from whybox.items.scoring import Scorer, forms_scorer, number_scorer, symbol_scorer
from whybox.text.prompt import Part

Topic = Literal["capital", "symbol", "weekday", "unit"]


@dataclass(frozen=True)
class CommonFact:
    """One row of the table: question and accepted forms of the answer in both languages."""

    id: str
    topic: Topic
    questions: dict[Language, str]
    answers: dict[Language, tuple[str, ...]]


@cache
def common_facts() -> tuple[CommonFact, ...]:
    """The table, in its order."""
    text = (files("whybox.items") / "data" / "common.tsv").read_text(encoding="utf-8")
    return tuple(_row(dict(row)) for row in csv.DictReader(text.splitlines(), delimiter="\t"))


def _row(row: dict[str, Any]) -> CommonFact:
    return CommonFact(
        row["id"],
        row["topic"],
        {"en": row["question_en"], "zh": row["question_zh"]},
        {"en": tuple(row["answer_en"].split("/")), "zh": tuple(row["answer_zh"].split("/"))},
    )


def common_item(draw: Draw) -> Item:
    """Row `index` of the table; the wrong answer is that of another row of the same topic."""
    facts = common_facts()
    return common_item_of(draw, facts[draw.index % len(facts)])


def common_item_of(draw: Draw, fact: CommonFact) -> Item:
    """One fact as an item: the question alone, without system text."""
    right = fact.answers[draw.language]
    others = _other_answers(fact, draw.language)
    wrong = others[draw.pick(len(others))][0]
    instance = CaseInstance(
        id=draw.id,
        case_id=draw.id,
        values=(),
        messages=(Message("user", (Part("question", fact.questions[draw.language]),)),),
        raw_parts=(),
        join="\n",
        right=right[0],
        wrong=wrong,
        kind="number" if fact.topic == "unit" else "text",
    )
    scorer = _scorer(fact.topic, right, others)
    return Item(draw.id, "common", draw.language, instance, scorer, others=(wrong,), variant=fact.id)


def _other_answers(fact: CommonFact, language: Language) -> list[tuple[str, ...]]:
    """The other answers of the topic that cannot be taken for the right one; units must also agree."""
    right = fact.answers[language]
    others = {
        other.answers[language]: None
        for other in common_facts()
        if other.topic == fact.topic and not set(other.answers[language]) & set(right)
    }
    if fact.topic == "unit":
        return [(str(int(_digits(right[0])) * 10) + right[0][len(_digits(right[0])) :],)]
    return list(others)


def _digits(written: str) -> str:
    return "".join(letter for letter in written if letter.isdigit())


def _scorer(topic: Topic, right: Sequence[str], others: Sequence[Sequence[str]]) -> Scorer:
    match topic:
        case "unit":
            return number_scorer(right[0], [forms[0] for forms in others])
        case "symbol":
            return symbol_scorer(right[0], [forms[0] for forms in others])
        case "capital" | "weekday":
            return forms_scorer(right, others)
