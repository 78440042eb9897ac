"""Dated facts: only their shape. Nothing invented is asked as a fact; rows come from a file, each with its source."""

import csv
import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlparse

from whybox.errors import CaseError

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
    if not re.fullmatch(r"\d{4}-(?:0[1-9]|1[0-2])", row["month"]):
        raise CaseError(f"{where}: month: expected YYYY-MM, found {row['month']!r}")
    wrong = tuple(filter(None, map(str.strip, row["wrong"].split("|"))))
    if not row["question"].strip() or not row["right"].strip() or row["right"] in wrong:
        raise CaseError(f"{where}: expected a question and a right answer that is not among the wrong ones")
    if urlparse(row["source"].split(" ")[0]).scheme not in ("http", "https"):
        raise CaseError(f"{where}: source: expected a public address, found {row['source']!r}")
    return DatedFact(row["month"], row["question"], row["right"], wrong, row["source"])
