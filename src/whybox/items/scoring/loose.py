"""Amounts in words without a number: a month, a year and a half, a fortnight, a few weeks, 半个月, 两三天, 几小时.

Read are units that measure something (time, length, mass, money), behind a word that says how many. Definite ones have
their value; the others are vague, another value than any number. No amount: how often something happens (7 times a day,
3 meals a day), "a second" before a word (a second document), the moment of an idiom (wait a minute), half of a calendar
(上半年), and what is asked (几天？).
"""

import re
from collections.abc import Iterator
from decimal import Decimal

from whybox.items.scoring.units import MEASURES, UNITS

Amount = tuple[Decimal, str]
VAGUE = Decimal(-1)  # some hours, a few weeks: equal to nothing
_FURTHEST = 40

NAMES = {form: unit.name for unit in reversed(UNITS) for form in unit.after}
_SPANS = {"fortnight": (2, "week"), "decade": (10, "year"), "century": (100, "year")}
_MEASURED = [form for unit in UNITS if unit.name in MEASURES for form in sorted(unit.after, key=len, reverse=True)]
_LATIN = "|".join([*(form for form in _MEASURED if form.isascii() and len(form) > 2), *_SPANS])
_OTHER = "|".join(form for form in _MEASURED if not form.isascii())
_ABOUT = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_NEXT_TO = "一两|一二|两三|二三|三四|三五|四五|五六|六七|七八|八九|十几|几十|几百|好几"

_LOOSE = re.compile(
    rf"(?<![^\W_])(?:(?P<half>half[ -]an?|an?[ -]half)|(?P<pair>a couple(?: of)?)"
    r"|(?P<some>some|several|many|multiple|(?:an?[ \t]+)?few|an?[ \t]+(?:number|handful) of)"
    r"|(?P<one>an?)(?:[ \t]+(?:full|whole|single|entire|calendar|mere|short))?)"
    rf"[ \t]+(?P<latin>{_LATIN})(?![^\W\d_]|-|[ \t]+[0-9])"
    r"(?P<tail>[ \t]+and[ \t]+a[ \t]+half\b|[ \t]+or[ \t]+(?:so|two|more|longer)\b)?"
    rf"|(?<![上下前后])(?:(?P<zh_half>半)|{_NEXT_TO}|[几数]|(?<=[0-9十百])多)(?P<other>{_OTHER})"
)
_JOINS = "(?:and|or|for|in|to|is|then|at)"
_OFTEN = re.compile(
    r"(?:\b(?:once|twice|thrice|times?|often|much|many|of)"
    rf"|(?:\b[0-9]+|\b(?:{'|'.join(_ABOUT)}))[ \t]+[a-z]+(?:[ \t](?!{_JOINS}\b)[a-z]+)?)[ \t]+\Z"
)
_MOMENT = re.compile(r"\b(?:wait|just|hold on|hang on|give me|take|got|have)[ \t]+(?:for[ \t]+)?\Z")
_NUMBERED = re.compile(r"[ \t]+(?!(?:or|and|at|after|later|ago|before|from|to)\b)\w")
_ASKED = re.compile(r"[^.。!！;；\n?？]*[?？]")


def loose_amounts(text: str) -> Iterator[tuple[Amount, int, int]]:
    """Each amount without a number in folded text, with its place."""
    for match in _LOOSE.finditer(text):
        before = text[max(0, match.start() - _FURTHEST) : match.start()]
        named = match["latin"] or match["other"]
        if _is_moment(text, match, before):
            continue
        if match["other"] and match[0].startswith(("几", "好几")) and _ASKED.match(text, match.end()):
            continue
        times, unit = _SPANS.get(named, (1, NAMES.get(named, "")))
        yield (_value(match, times), unit), match.start(), match.end()


def is_often(text: str, start: int) -> bool:
    """Whether the amount there says how often: 7 times a day, 3 meals a day."""
    return _OFTEN.search(text[max(0, start - _FURTHEST) : start]) is not None


def _value(match: re.Match[str], times: int) -> Decimal:
    tail = match["tail"] or ""
    if match["half"] or match["zh_half"]:
        return Decimal(times) / 2 if not tail else VAGUE
    if match["pair"]:
        return Decimal(2 * times) if not tail else VAGUE
    if match["one"] and (not tail or tail.endswith("half")):
        return Decimal(times) * (Decimal("1.5") if tail else 1)
    return VAGUE


def _is_moment(text: str, match: re.Match[str], before: str) -> bool:
    """Whether a second is the one behind the first, or it, or a minute, is a moment of an idiom."""
    if not match["one"] or NAMES.get(match["latin"]) not in ("second", "minute"):
        return False
    if NAMES[match["latin"]] == "second" and _NUMBERED.match(text, match.end()):
        return True
    return _MOMENT.search(before) is not None
