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
from whybox.items.scoring.negation import is_negated
from whybox.items.scoring.numerals import CHINESE_RUN, ENGLISH_RUN, chinese_value, english_value
from whybox.items.scoring.standing import Amount, are_listed, are_summed, bounds_of, is_rate, loose_amounts
from whybox.items.scoring.units import UNITS, Unit, after_pattern, of_one_kind, same_amount

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
    `beside`: amounts in another unit that are joined to it (7 days and 12 hours); `bounds`: what around it makes
    another value of it (`whybox.items.scoring.standing`).
    """

    value: Decimal
    unit: str | None
    start: int
    end: int
    in_words: bool = False
    others: tuple[Decimal, ...] = ()
    beside: tuple[Amount, ...] = ()
    bounds: frozenset[str] = frozenset()


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
    bound = [replace(one, bounds=bounds_of(text, one.start, one.end, one.unit)) for one in found]
    return _among_alternatives(text, _joined(text, _beside(text, bound)))


def amounts_in(text: str) -> list[Quantity]:
    """Every quantity of folded text, those without a number (a week) among them, in order."""
    loose = (Quantity(value, unit, start, end) for (value, unit), start, end in loose_amounts(text))
    return sorted([*find_quantities(text, words=True), *loose], key=lambda one: one.start)


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


def _beside(text: str, found: list[Quantity]) -> list[Quantity]:
    """Amounts that are joined make one claim: in another unit a longer amount (unless a list says the same again,
    7 days or 1 week), in the same one another value.
    """
    out = {one.start: one for one in found}
    loose = [Quantity(value, unit, start, end) for (value, unit), start, end in loose_amounts(text)]
    for left, right in pairwise(sorted([*(one for one in found if one.unit), *loose], key=lambda one: one.start)):
        joint, one_kind = text[left.end : right.start], of_one_kind(left.unit, right.unit)
        summed = are_summed(joint, one_kind, loose=left.start not in out or right.start not in out)
        if right.start not in out and is_rate(joint, one_kind):
            _add(out, left.start, bounds={"rate"})
            continue
        others = summed or (are_listed(joint, one_kind) and not _equal(left, right))
        if others and left.end <= right.start and not is_negated(text, (left.start, left.end), ()):
            _add_amount(out, left.start, right)
            _add_amount(out, right.start, left)
    return [out[one.start] for one in found]


def _equal(one: Quantity, other: Quantity) -> bool:
    return same_amount(one.value, one.unit, other.value, other.unit)


def _add_amount(out: dict[int, Quantity], start: int, other: Quantity) -> None:
    own = out.get(start)
    if own is None or other.unit is None:
        return
    if own.unit != other.unit:
        out[start] = replace(own, beside=(*own.beside, (other.value, other.unit)))
    elif own.value != other.value:
        out[start] = replace(own, others=(*own.others, other.value))


def _add(out: dict[int, Quantity], start: int, bounds: set[str]) -> None:
    if start in out:
        out[start] = replace(out[start], bounds=out[start].bounds | bounds)


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
