"""Dated facts: only their shape. Nothing invented is asked as a fact; rows come from a file, each with its source."""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlparse

from whybox.errors import CaseError
from whybox.items.generate.item import Item
from whybox.items.generate.vocabulary import Language
from whybox.items.instance import CaseInstance, Message
from whybox.items.scoring import text_scorer
from whybox.text.prompt import Part

COLUMNS = ("month", "question", "right", "wrong", "source")


@dataclass(frozen=True)
class DatedFact:
    """What became true in `month` (YYYY-MM). `source`: a public address, with the date of reading behind a blank."""

    month: str
    question: str
    right: str
    wrong: tuple[str, ...]
    source: str


def read_dated(lines: Iterable[str], name: str) -> tuple[DatedFact, ...]:
    """Rows of a CSV: month, question, right, wrong (several, parted by `|`), source. CaseError names the line."""
    rows = csv.DictReader(lines, strict=True)
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise CaseError(f"{name}:1: expected the columns {', '.join(COLUMNS)}, found {rows.fieldnames}")
    try:
        return tuple(_dated(row, f"{name}:{rows.line_num}") for row in rows)
    except csv.Error as error:
        raise CaseError(f"{name}:{rows.line_num}: expected CSV, found {error}") from error


def _dated(row: dict[str, str], where: str) -> DatedFact:
    if None in row or None in row.values():
        raise CaseError(f"{where}: expected {len(COLUMNS)} columns, found another number")
    wrong = tuple(filter(None, map(str.strip, row["wrong"].split("|"))))
    return checked_fact(DatedFact(row["month"], row["question"], row["right"], wrong, row["source"]), where)


def checked_fact(fact: DatedFact, where: str) -> DatedFact:
    """The fact itself. CaseError where it has no month, no question, no right answer or no public address."""
    if not re.fullmatch(r"\d{4}-(?:0[1-9]|1[0-2])", fact.month):
        raise CaseError(f"{where}: month: expected YYYY-MM, found {fact.month!r}")
    if not fact.question.strip() or not fact.right.strip() or fact.right in fact.wrong:
        raise CaseError(f"{where}: expected a question and a right answer that is not among the wrong ones")
    if urlparse(fact.source.split(" ")[0]).scheme not in ("http", "https"):
        raise CaseError(f"{where}: source: expected a public address, found {fact.source!r}")
    return fact


def dated_item(fact: DatedFact, index: int, language: Language) -> Item:
    """A dated fact as an item that asks it openly; variant: its month."""
    name = f"dated-{index}"
    asked = Message("user", (Part("question", fact.question),))
    wrong = fact.wrong[0] if fact.wrong else None
    case = CaseInstance(name, name, (), (asked,), (), "\n", fact.right, wrong, "text")
    scorer = text_scorer(fact.right, fact.wrong)
    return Item(name, "dated", language, case, scorer, others=fact.wrong, variant=fact.month)
