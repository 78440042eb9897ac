"""What around a quantity makes another value of it.

A further amount joined to it (7 days and 12 hours), a bound that leaves the value itself out (more than 7 days,
不到7天), a place in time (7 days ago), a rate (7 days a week), a multiple. A bound that holds the value (at least, at
most, within, up to, no more than, 不超过) leaves it as it is.
"""

import re

from whybox.items.scoring.loose import NAMES
from whybox.items.scoring.units import MEASURES, UNITS

_FURTHEST = 40

_FILL = r"[ \t]*(?:(?:about|around|roughly|just|only|exactly|full)[ \t]+)?"
_BEFORE: dict[str, re.Pattern[str]] = {
    "above": re.compile(
        r"(?:(?<!\bno )\b(?:more|longer|greater|higher|larger|later|older|bigger|farther) than"
        r"|\b(?:over|above|beyond|past|exceed(?:s|ed|ing)?|upwards of)|(?<!=)>"
        rf"|(?<![不没未])(?<!不[会得能可应要])(?:超过|超出|多于|大于|高于|长于)){_FILL}\Z"
    ),
    "below": re.compile(
        r"(?:(?<!\bno )\b(?:less|fewer|shorter|lower|smaller|sooner|earlier|younger) than"
        r"|\b(?:under|below|almost|nearly|short of|not quite)|<"
        rf"|不到|不足|未满|不满|将近|接近|(?<![不没未])(?<!不[会得能可应要])(?:少于|小于|低于|短于)){_FILL}\Z"
    ),
    "other": re.compile(r"\b(?:other|different) (?:than|from)[ \t]*\Z"),
    "rate": re.compile(
        r"(?:\b(?:every|each)[ \t]+|每[ \t]*|每[一个]*(?:周|星期|礼拜|月|年|天|日|小时)[^，。；！？\n0-9]{0,4})\Z"
    ),
    "multiple": re.compile(
        r"(?:\b(?:twice|double|triple|half(?: of)?|times)[ \t]+(?:the[ \t]+)?|[0-9][ \t]*[x×*][ \t]*)\Z"
    ),
}
_TIMES = "|".join(form for unit in UNITS if MEASURES.get(unit.name, ("",))[0] == "time" for form in unit.after)
_AFTER: dict[str, re.Pattern[str]] = {
    "ago": re.compile(r"[ \t]*(?:(?:ago|earlier|previously)\b|以前|之前|前(?![后台往来]))"),
    "above": re.compile(
        r"[ \t]*(?:and (?:a (?:half|quarter|third|bit|few|little)|half|some|more|several)\b"
        r"|(?:more|longer|extra|plus)\b|\+|多(?!少)|有余|余(?![额下])|开外|半(?![价额数费天年月日夜径]))"
    ),
    "rate": re.compile(
        r"[ \t]*(?:/[ \t]*[a-z]|/[ \t]*[周月年天日时分秒]"
        rf"|(?:per|each|every|in every|out of every)[ \t]+(?:{_TIMES})(?![a-z]))"
    ),
    "multiple": re.compile(r"[ \t]*(?:times [0-9]|[x×*][ \t]*[0-9]|的[^，。；\n]{0,3}[倍半])"),
}

# Joints between two amounts of one claim; those of a list join only what measures the same thing.
_PLUS = re.compile(
    r"[ \t]*(?:[,，]?[ \t]*(?:and|plus|&|\+|as well as|along with|followed by|then|又|零|加上?|外加|和|与))?"
    r"[ \t]*(?:(?:then|another|about|exactly|further)[ \t]+)?"
)
_LIST = re.compile(
    r"[ \t]*(?:[,、，/(=;；|]|[,，]?[ \t]*or\b|或者?|即|就是|也就是)[ \t]*(?:(?:or|and|about|maybe)[ \t]+)?"
)
_RATE = re.compile(r"[ \t]+")

# One of these before a number says that it counts nothing: document 7.
_LABELLED = re.compile(
    r"\b(?:article|chapter|clause|day|doc|document|figure|item|level|line|month|no|note|number|option|page|paragraph|part"
    r"|point|room|rule|section|step|table|version|week|year)\.?[ \t]*\Z"
)
_KEY = re.compile(r"[\"'](?P<key>[^\W\d_]{2,})[\"'][ \t]*[:=][ \t]*[\"']?\Z")


def unit_of_key(text: str, start: int) -> str | None:
    """The unit that a JSON key right before a number names: {"days": 7}."""
    key = _KEY.search(text[max(0, start - _FURTHEST) : start])
    return None if key is None else NAMES.get(key["key"])


def is_labelled(text: str, start: int) -> bool:
    """Whether the number at `start` names a page, a step or the like."""
    return _LABELLED.search(text[max(0, start - _FURTHEST) : start]) is not None


def bounds_of(text: str, start: int, end: int, unit: str | None) -> frozenset[str]:
    """What the words before and behind [start, end) of folded text make of the quantity there. A price may have a rate:
    450 dollars a month are 450 dollars; 7 days a week are no 7 days.
    """
    before, behind = text[max(0, start - _FURTHEST) : start], text[end : end + _FURTHEST]
    found = {name for name, pattern in _BEFORE.items() if pattern.search(before)}
    found |= {name for name, pattern in _AFTER.items() if pattern.match(behind)}
    return frozenset(found - ({"rate"} if MEASURES.get(unit or "", ("",))[0] == "money" else set()))


def is_rate(joint: str, one_kind: bool) -> bool:
    """Whether an amount without a number, behind another one, says how often: 7 days a week."""
    return one_kind and _RATE.fullmatch(joint) is not None


def are_summed(joint: str, one_kind: bool, loose: bool) -> bool:
    """Whether the text between two amounts makes one longer amount of them: 7 days and 12 hours, 7天12小时."""
    return (one_kind or not loose) and _PLUS.fullmatch(joint) is not None


def are_listed(joint: str, one_kind: bool) -> bool:
    """Whether the text between two amounts offers the second beside the first, or says it again: 7 days (1 week)."""
    return one_kind and _LIST.fullmatch(joint) is not None
