"""Software releases by month: the dated facts that come with whybox, each with the public address where it was read.

At least three a month; months with fewer are left out. Days near the turn of a month are left out where sources could
disagree about them.
"""

import csv
from functools import cache
from importlib.resources import files

from whybox.items.generate.dated import DatedFact, checked_fact
from whybox.items.generate.vocabulary import Language
from whybox.items.seeds import item_generator

RELEASES = "releases"
OTHERS, NEAREST, FARTHEST = 4, 2, 11  # wrong months of a fact, and how many months they may lie from the right one
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_ASKED = {"en": "In which month was {name} released?", "zh": "{name} 是在哪个月发布的？"}


@cache
def releases(language: Language) -> tuple[DatedFact, ...]:
    """The table, in its order. CaseError for a row without an address and the day of its reading."""
    text = (files("whybox.items") / "data" / "releases.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return tuple(_fact(row, language, f"releases.tsv:{number}") for number, row in enumerate(rows, 2))


def _fact(row: dict[str, str], language: Language, where: str) -> DatedFact:
    month, name = row["month"], row["name"]
    question, right = _ASKED[language].format(name=name), _said(_number(month), language)
    wrong = tuple(_said(other, language) for other in _others(month, name))
    return checked_fact(DatedFact(month, question, right, wrong, f"{row['source']} {row['read']}"), where)


def _others(month: str, name: str) -> list[int]:
    """Other months on both sides, the same for the same release."""
    generator = item_generator(0, RELEASES, name)
    away = generator.permutation([*range(-FARTHEST, 1 - NEAREST), *range(NEAREST, FARTHEST + 1)])[:OTHERS]
    return [_number(month) + int(each) for each in away]


def _number(month: str) -> int:
    year, _, of_year = month.partition("-")
    return 12 * int(year) + int(of_year) - 1


def _said(number: int, language: Language) -> str:
    year, month = divmod(number, 12)
    return f"{year}年{month + 1}月" if language == "zh" else f"{_MONTHS[month]} {year}"
