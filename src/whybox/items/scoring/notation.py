"""How a number is written beyond its digits: its sign, and what makes it a piece of a longer notation.

A sign stands before the value or before its currency (-7, -$7, $-7, minus 7, 负7, 零下7). A dash with a blank behind it
is a sign behind an equals sign or a verb, a list's mark at the beginning of one line of several, and elsewhere a dash.
Where it may be either, the value is unsure and equals nothing.
"""

import re
from dataclasses import dataclass
from typing import Literal

from whybox.items.scoring.numerals import ENGLISH

_FURTHEST = 40
_MONEY = r"(?:(?:us|hk|nt|[ac])?\$|[€£¥]|(?<![^\W_])(?:usd|eur|gbp|rmb|cny))?"
_DASH = re.compile(rf"(?P<dash>[-\u2212\u2014\u2015±∓]+)(?P<gap>[ \t]*)(?P<money>{_MONEY})[ \t]*\Z")
_WORD = re.compile(
    rf"(?:(?<![a-z0-9])(?:minus|negative)[ \t]+|(?<![自担肩背抱胜欺])(?:负的?|零下)[ \t]*)(?P<money>{_MONEY})[ \t]*\Z"
)
_SUBTRACTS = re.compile(r"(?:[0-9)%]|(?<![^\W_])[a-z]|\b(?:or|by|days|hours))[ \t]*\Z")
_EXPECTS_SIGN = re.compile(r"(?:[=(]|\b(?:is|are|was|were|be|equals?|equal to)|[是为得]|等于)[ \t]*\Z")
_UNDER_ZERO = re.compile(r"[ \t]*(?:celsius|centigrade|fahrenheit|[cf]\b)?[ \t]*below (?:zero|freezing|0)\b")

_DIGIT = "[0-9零〇一二两三四五六七八九十百]"
_WORDS = "|".join(sorted(ENGLISH, key=len, reverse=True))
_LONGER_BEFORE = re.compile(
    rf"(?:[√∛∜^]|(?<![百千万])分之|{_DIGIT}点|(?:[0-9]|(?<![^\W_])(?:{_WORDS}|hundred))[ -]point[ -])[ \t]*\Z"
)
_LONGER_BEHIND = re.compile(
    r"[ ]?(?:hundred|thousand|million|billion|trillion|lakhs?|crores?|(?:k|bn|mn|mio|mrd|tn)(?![a-z]))|[百千万亿]"
    rf"|[ ]and a half|个?半|[ ]?\^|\*\*|[ -]point[ -](?:[0-9]|{_WORDS})|点(?:{_DIGIT}|半)"
)


@dataclass(frozen=True)
class Sign:
    """What stands before a number: where it begins, what it says, and whether a currency stands between."""

    says: Literal["nothing", "minus", "unsure"]
    start: int
    over_money: bool = False


def sign_before(text: str, start: int) -> Sign:
    """The sign of the number whose digits or words begin at `start` of folded text."""
    head = text[max(0, start - _FURTHEST) : start]
    at = start - len(head)
    if (word := _WORD.search(head)) is not None:
        says: Literal["minus", "unsure"] = "unsure" if _SUBTRACTS.search(head[: word.start()]) else "minus"
        return Sign(says, at + word.start(), bool(word["money"]))
    dash = _DASH.search(head)
    if dash is None:
        return Sign("nothing", start)
    read = _read_dash(text, at + dash.start(), dash["dash"], bool(dash["gap"]))
    if read == "nothing":
        return Sign("nothing", start)
    return Sign(read, at + dash.start(), bool(dash["money"]))


def _read_dash(text: str, at: int, dash: str, parted: bool) -> Literal["nothing", "minus", "unsure"]:
    before = text[at - 1 : at] if at else ""
    if dash in ("±", "∓"):
        return "unsure"
    joins = before.isalnum() or before in (")", "]", "%")  # or ranges: K-7, 5-7, 天-7
    if not parted and joins and before not in "是为得":
        return "nothing"
    if dash not in ("-", "\u2212"):  # dashes of a sentence, unless it touches the value alone
        return "nothing" if parted or len(dash.strip("\u2014\u2015")) == 0 < len(dash) - 1 else "unsure"
    return _read_parted(text, at) if parted else "minus"


def _read_parted(text: str, at: int) -> Literal["nothing", "minus", "unsure"]:
    """A dash with a blank behind it."""
    line = text.rfind("\n", 0, at) + 1
    tail = text.find("\n", at)
    head = text[max(line, at - _FURTHEST) : at]
    if not text[line:at].strip():
        others = text[:line] + (text[tail:] if tail >= 0 else "")
        return "nothing" if others.strip() else "unsure"
    if head.rstrip().endswith(":"):
        return "unsure"
    return "minus" if _EXPECTS_SIGN.search(head) else "nothing"


def is_under_zero(text: str, end: int) -> bool:
    """Whether the words behind a value put it below zero: 7 degrees below zero."""
    return _UNDER_ZERO.match(text, end) is not None


def is_tail(text: str, start: int) -> bool:
    """Whether what stands before the number makes it a piece of another: √7, 二分之七, seven point five."""
    return _LONGER_BEFORE.search(text[max(0, start - _FURTHEST) : start]) is not None


def is_head(text: str, end: int) -> bool:
    """Whether a multiplier, an exponent, a decimal part or a half stands behind the number."""
    return _LONGER_BEHIND.match(text, end) is not None
