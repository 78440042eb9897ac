"""Numbers in folded text, each with its exact value, its sign and its unit: `-7 days`, `7.0 天`, `seven to nine weeks`.

A run of digits is one number or none: 17, 2007, 7.5, 7:30, 7/30 and 1.2.3 never hold a 7. Commas count only between
digits, in threes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from whybox.items.scoring.folding import is_han, is_word
from whybox.items.scoring.numerals import CHINESE_RUN, ENGLISH_RUN, chinese_value, english_value
from whybox.items.scoring.units import UNITS, Unit, after_pattern

_RUN = re.compile(r"\.?[0-9](?:[0-9.,:/⁄]*[0-9])?")
_PLAIN = re.compile(r"(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)?(?:\.[0-9]+)?")
_LARGER = re.compile(r"[ ]?(?:hundred|thousand|million|billion|k(?![a-z]))|[百千万亿]|[ ]and a half|个?半")
_JOIN = re.compile(
    r"\s*(?:,?\s*(?:or|and|to|but|till|through)|,|/|-|~|、|，|或者?|和|与|至|到|而不是|还是)\s*(?:not\s+)?"
)
_RANGE = re.compile(r"\s*(?:-|~|to|till|through|至|到)\s*")
_OR = re.compile(r"\s*(?:,?\s*or|或者?|还是)\s*")
_LIST = re.compile(r"\s*(?:[,、，]?\s*(?:or|and|或者?|还是|和)|[,、，])\s*")
# Behind a hyphenated word the digits belong to its name: covid-19, K7Q-19.
_COMPOUND = re.compile(r"(?=[^\W_]*[a-z])[a-z0-9]+-\Z")
_BETWEEN = re.compile(r"(?:\bbetween|介于|在)\s*$")


@dataclass(frozen=True)
class Quantity:
    """A number at [start, end) of the folded text; `unit` is canonical.

    `others`: what is offered in the same breath, the other end of a range or the rest of a list of alternatives.
    """

    value: Decimal
    unit: str | None
    start: int
    end: int
    in_words: bool = False
    others: tuple[Decimal, ...] = ()


def find_quantities(text: str, words: bool, extra: Sequence[Unit] = ()) -> list[Quantity]:
    """Every readable number of folded text, in order; number words only where `words` is set."""
    known = (*extra, *UNITS)
    after, names = after_pattern(known), {form: unit.name for unit in reversed(known) for form in unit.after}
    numbers = [*_digit_runs(text), *(_word_runs(text) if words else ())]
    found = [
        quantity
        for number in sorted(numbers, key=lambda number: number.start)
        if (quantity := _with_unit(text, number, after, names)) is not None
    ]
    return _among_alternatives(text, _joined(text, found))


def _digit_runs(text: str) -> Iterator[Quantity]:
    for match in _RUN.finditer(text):
        start, end = match.span()
        value = _plain_value(match[0])
        if value is None or _is_inside_word(text, start) or _COMPOUND.search(text[max(0, start - 24) : start]):
            continue
        negative = text.startswith("-", max(0, start - 1), start) and not (
            start > 1 and _carries_hyphen(text[start - 2])
        )
        yield Quantity(-value if negative else value, None, start - negative, end)


def _plain_value(run: str) -> Decimal | None:
    return Decimal(run.replace(",", "")) if _PLAIN.fullmatch(run) else None


def _is_inside_word(text: str, start: int) -> bool:
    return start > 0 and (is_word(text[start - 1]) or text[start - 1] == "第")


def _carries_hyphen(letter: str) -> bool:
    """Whether a hyphen behind this character joins or ranges (K-7, 5-7, 天-7) and is no minus sign."""
    return letter.isalnum() or letter in ")]%"


def _word_runs(text: str) -> Iterator[Quantity]:
    for match in ENGLISH_RUN.finditer(text):
        value = english_value(match[0])
        if value is not None:
            yield Quantity(Decimal(value), None, match.start(), match.end(), in_words=True)
    for match in CHINESE_RUN.finditer(text):
        value = chinese_value(match[0])
        if value is not None and not _is_inside_word(text, match.start()):
            yield Quantity(Decimal(value), None, match.start(), match.end(), in_words=True)


def _with_unit(text: str, number: Quantity, after: re.Pattern[str], names: dict[str, str]) -> Quantity | None:
    """The number with the unit behind or before it; None if it turns out to be part of something longer."""
    unit = after.match(text, number.end)
    if unit is not None:
        if unit["other"] == "日" and text[number.start - 1 : number.start] == "月":  # a date, not a duration
            return None
        return replace(number, unit=names[unit["latin"] or unit["other"]], end=unit.end())
    if _is_longer(text, number):
        return None
    before = text[max(0, number.start - 8) : number.start].rstrip(" ")
    for known in UNITS:
        for sign in known.before:
            if before.endswith(sign):
                return replace(number, unit=known.name, start=text.rindex(sign, 0, number.start))
    return number


def _is_longer(text: str, number: Quantity) -> bool:
    """A multiplier, a half, a letter or a fraction follows; or a Chinese numeral stands inside a word (一定)."""
    behind = text[number.end : number.end + 1]
    if _LARGER.match(text, number.end) or (behind and is_word(behind)):
        return True
    if not number.in_words or text[number.start].isascii():
        return False
    return bool(behind) and is_han(behind)


def _joined(text: str, found: list[Quantity]) -> list[Quantity]:
    """Units shared across `7 or 30 days`, and the two ends of `5 to 7 days` tied to each other."""
    for i in range(len(found) - 2, -1, -1):
        left, right = found[i], found[i + 1]
        gap = text[left.end : right.start]
        if right.unit is not None and left.unit is None and _JOIN.fullmatch(gap):
            found[i] = left = replace(left, unit=right.unit)
        between = gap.strip() in ("and", "和", "与") and _BETWEEN.search(text[max(0, left.start - 16) : left.start])
        if left.unit == right.unit and (between or _RANGE.fullmatch(gap)):
            found[i] = replace(left, others=(*left.others, right.value))
            found[i + 1] = replace(right, others=(*right.others, left.value))
    return found


def _among_alternatives(text: str, found: list[Quantity]) -> list[Quantity]:
    """`7 or 8` and `5, 6, 7` offer several values, each of them beside the others; a pair needs its `or`."""
    out: list[Quantity] = []
    for run in _lists(text, found):
        gaps = [text[a.end : b.start] for a, b in pairwise(run)]
        several = len(run) > 2 or any(map(_OR.fullmatch, gaps))
        values = tuple(quantity.value for quantity in run) if several else ()
        out += [replace(quantity, others=quantity.others + values) for quantity in run]
    return out


def _lists(text: str, found: list[Quantity]) -> Iterator[list[Quantity]]:
    """Neighbours of one unit with nothing but `,` `or` `and` between them, as long as they go on."""
    run: list[Quantity] = []
    for quantity in found:
        if run and not (quantity.unit == run[-1].unit and _LIST.fullmatch(text[run[-1].end : quantity.start])):
            yield run
            run = []
        run.append(quantity)
    if run:
        yield run
