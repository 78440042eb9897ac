"""Numbers in folded text, each with its exact value, its sign and its unit: `-7 days`, `7.0 天`, `seven to nine weeks`.

A run of digits is one number or none: 17, 2007, 7.5, 7:30, 7/30 and 1.2.3 never hold a 7. Commas, blanks and
apostrophes count only between digits, in threes.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from whybox.items.scoring.folding import is_han, is_word
from whybox.items.scoring.loose import VAGUE, Amount, is_often, loose_amounts
from whybox.items.scoring.negation import is_negated
from whybox.items.scoring.notation import is_head, is_tail, is_under_zero, sign_before
from whybox.items.scoring.numerals import CHINESE_RUN, ENGLISH_RUN, chinese_value, english_value
from whybox.items.scoring.standing import (
    are_listed,
    are_summed,
    bounds_of,
    is_labelled,
    is_rate,
)
from whybox.items.scoring.units import UNITS, Unit, after_pattern, of_one_kind, same_amount

_RUN = re.compile(
    r"(?<![0-9.,])[0-9]{1,3}(?P<mark>[ '_，])[0-9]{3}(?:(?P=mark)[0-9]{3})*(?![0-9])(?:\.[0-9]+)?"
    r"|\.?[0-9](?:[0-9.,:/⁄]*[0-9])?"
)
_MARKS = re.compile(r"[ '_，,]")
_PLAIN = re.compile(r"(?:[0-9]+|[0-9]{1,3}(?:,[0-9]{3})+)?(?:\.[0-9]+)?")
_JOIN = re.compile(
    r"\s*(?:,?\s*(?:or|and|to|but|till|through)|,|/|-|~|、|，|或者?|和|与|至|到|而不是|还是)\s*(?:not\s+)?"
)
_RANGE = re.compile(r"\s*(?:-|~|to|till|through|至|到)\s*")
_OR = re.compile(r"\s*(?:,?\s*or|或者?|还是)\s*")
# What may part the values of a list; a pair parted by a comma or an `and` is none yet.
_LIST = re.compile(
    r"(?:\n[ \t]*[0-9]{1,2}[.)、][ \t]|[\s,、，;；/|.。!?！？·•*-]"
    r"|\b(?:or|and|also|then|maybe|perhaps|possibly|probably|either|even|it's|it|is|could|might|may|be)\b"
    r"|或者?|还是|和|要么|也许|可能|也|是)*"
)
_PAIR = re.compile(r"\s*(?:[,、，]?\s*(?:and|和)|[,、，])\s*")
_MARKER = re.compile(r"[.)、:](?=[ \t])")
_SENTENCE = re.compile(r"[^.!?;。！？；\n]+(?:\.(?=\S)[^.!?;。！？；\n]+)*")
_OPENING = re.compile(r"[\W_]*(?:(?:or|and|maybe|perhaps|also|或者?|也许|可能)\b[\W_]*)*")
_LONGEST_FRAME = 200
# Behind a hyphenated word the digits belong to its name: covid-19, K7Q-19.
_COMPOUND = re.compile(r"(?=[^\W_]*[a-z])[a-z0-9]+-\Z")
_COUNTED = re.compile(r"[ \t]*[^\W\d_]")
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
        if (quantity := _signed(text, number, after, names)) is not None
    ]
    bound = [replace(one, bounds=one.bounds | bounds_of(text, one.start, one.end, one.unit)) for one in found]
    if len(bound) < 2:
        return _beside(text, bound, frozenset())
    denied = frozenset(one.start for one in bound if is_negated(text, (one.start, one.end), ()))
    return _in_one_frame(text, _among_alternatives(text, _joined(text, _beside(text, bound, denied)), denied), denied)


def amounts_in(text: str, words: bool = True, extra: Sequence[Unit] = ()) -> list[Quantity]:
    """Every quantity of folded text, those without a number (a week) among them, in order."""
    return sorted([*find_quantities(text, words, extra), *_no_rates(text)], key=lambda one: one.start)


def _loose(text: str) -> list[Quantity]:
    return [
        Quantity(value, unit, start, end, bounds=bounds_of(text, start, end, unit))
        for (value, unit), start, end in loose_amounts(text)
    ]


def _no_rates(text: str) -> list[Quantity]:
    return [one for one in _loose(text) if not is_often(text, one.start)]


def unsummed(text: str) -> list[Quantity]:
    """Amounts without a number whose value is definite, and to which nothing is joined (a week and 3 days)."""
    found = amounts_in(text)
    joined = {
        one.start
        for left, right in pairwise(found)
        if are_summed(text[left.end : right.start], of_one_kind(left.unit, right.unit), loose=True)
        for one in (left, right)
    }
    return [one for one in _no_rates(text) if one.value != VAGUE and one.start not in joined]


def _digit_runs(text: str) -> Iterator[Quantity]:
    for match in _RUN.finditer(text):
        start, end = match.span()
        value = _plain_value(match[0])
        if value is None or _is_inside_word(text, start) or _COMPOUND.search(text[max(0, start - 24) : start]):
            continue
        yield Quantity(value, None, start, end)


def _plain_value(run: str) -> Decimal | None:
    return Decimal(_MARKS.sub("", run)) if _PLAIN.fullmatch(_MARKS.sub(",", run)) else None


def _is_inside_word(text: str, start: int) -> bool:
    return start > 0 and (is_word(text[start - 1]) or text[start - 1] == "第")


def _word_runs(text: str) -> Iterator[Quantity]:
    for match in ENGLISH_RUN.finditer(text):
        value = english_value(match[0])
        if value is not None:
            yield Quantity(Decimal(value), None, match.start(), match.end(), in_words=True)
    for match in CHINESE_RUN.finditer(text):
        value = chinese_value(match[0])
        if value is not None and not _is_inside_word(text, match.start()):
            yield Quantity(Decimal(value), None, match.start(), match.end(), in_words=True)


def _signed(text: str, number: Quantity, after: re.Pattern[str], names: dict[str, str]) -> Quantity | None:
    """The number with its sign and its unit; None where it is a piece of something longer."""
    if is_tail(text, number.start):
        return None
    sign = sign_before(text, number.start)
    at = number.start if sign.over_money else sign.start
    found = _with_unit(text, replace(number, start=at), after, names)
    if found is None:
        return None
    negative = (sign.says == "minus") != is_under_zero(text, found.end)
    return replace(
        found,
        value=-found.value if negative else found.value,
        start=min(sign.start, found.start),
        bounds=frozenset({"unsure"} if sign.says == "unsure" else ()),
    )


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
    if is_head(text, number.end) or (behind and is_word(behind)):
        return True
    if not number.in_words or text[number.end - 1].isascii():
        return False
    return bool(behind) and is_han(behind)


def _beside(text: str, found: list[Quantity], denied: frozenset[int]) -> list[Quantity]:
    """Amounts that are joined make one claim: in another unit a longer amount (unless a list says the same again,
    7 days or 1 week), in the same one another value.
    """
    out = {one.start: one for one in found}
    united = sorted([*(one for one in found if one.unit), *_loose(text)], key=lambda one: one.start)
    for left, right in pairwise(united):
        joint, one_kind = text[left.end : right.start], of_one_kind(left.unit, right.unit)
        summed = are_summed(joint, one_kind, loose=left.start not in out or right.start not in out)
        if right.start not in out and is_rate(joint, one_kind):
            _add(out, left.start, bounds={"rate"})
            continue
        others = summed or (are_listed(joint, one_kind) and not _equal(left, right))
        if others and left.end <= right.start and left.start not in denied:
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


def _among_alternatives(text: str, found: list[Quantity], denied: frozenset[int]) -> list[Quantity]:
    """`7 or 8` and `5; 6; 7` offer several values, each of them beside the others; a pair needs more than a comma."""
    out = {quantity.start: quantity for quantity in found}
    offered = [one for one in found if one.start not in denied and not _is_place(text, one)]
    for run in _lists(text, offered):
        gaps = [text[a.end : b.start] for a, b in pairwise(run)]
        if len(run) > 2 or not all(map(_PAIR.fullmatch, gaps)):
            _offer(out, run)
    for left, right in pairwise(found):
        bare = left.unit is not None and right.unit is None and not _COUNTED.match(text, right.end)
        if bare and left.value != right.value and _OR.fullmatch(text[left.end : right.start]):
            _add(out, left.start, bounds={"unsure"})
    return list(out.values())


def _lists(text: str, found: list[Quantity]) -> Iterator[list[Quantity]]:
    """Neighbours of one unit with nothing but what parts a list between them, as long as they go on."""
    run: list[Quantity] = []
    for quantity in found:
        if run and not (quantity.unit == run[-1].unit and _LIST.fullmatch(text[run[-1].end : quantity.start])):
            yield run
            run = []
        run.append(quantity)
    if run:
        yield run


def _is_place(text: str, quantity: Quantity) -> bool:
    """Whether a number counts the lines or names a page, so that it offers nothing: 1. …, on page 3."""
    if quantity.unit is not None:
        return False
    head = text[: quantity.start].rpartition("\n")[2]
    if head.strip() or not _MARKER.match(text, quantity.end):
        return is_labelled(text, quantity.start)
    count = 1 + len(
        re.findall(r"^[ \t]*[0-9]{1,2}[.)、:][ \t]", text[max(0, quantity.start - 2_000) : quantity.start], re.M)
    )
    return quantity.value == count


def _in_one_frame(text: str, found: list[Quantity], denied: frozenset[int]) -> list[Quantity]:
    """One sentence said again with another value offers both: It takes 7 days. It takes 9 days."""
    out, frames = {one.start: one for one in found}, dict[tuple[str, str | None], list[Quantity]]()
    at = 0
    for sentence in _SENTENCE.finditer(text):
        while at < len(found) and found[at].start < sentence.end():
            one, at = found[at], at + 1
            if one.start >= sentence.start() and len(sentence[0]) <= _LONGEST_FRAME:
                frame = f"{text[sentence.start() : one.start]}#{text[one.end : sentence.end()]}"
                frames.setdefault((_OPENING.sub("", frame, count=1).strip(), one.unit), []).append(one)
    for (frame, _), alike in frames.items():
        if any(map(str.isalpha, frame)):
            _offer(out, [one for one in alike if one.start not in denied])
    return list(out.values())


def _offer(out: dict[int, Quantity], together: list[Quantity]) -> None:
    """Each of them stands beside the values of all."""
    values = tuple(dict.fromkeys(one.value for one in together))
    for one in together:
        out[one.start] = replace(out[one.start], others=out[one.start].others + values)
