"""An estimate in one line: value, interval, floor, null, p before and after Holm, n, errors. None of them alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from whybox.report.document import Lang
from whybox.report.numbers import MINUS
from whybox.report.words import say
from whybox.statistics.intervals import Interval
from whybox.statistics.unknown import Unknown

ALPHA = 0.05
Unit = Literal["share", "difference"]


@dataclass(frozen=True)
class Shown:
    """value, interval, floor, null_95: parts of 1, shown in % or in points. p, adjusted: None where there is no test.

    unit: a share is a rate, a difference is one of two rates.
    net: whether the floor is taken off the value already.
    """

    name: str
    value: float | Unknown
    interval: Interval | None
    floor: float | Unknown
    null_95: float | Unknown
    p: float | None
    adjusted: float | None
    items: int
    calls: int
    errors: int
    net: bool = False
    unit: Unit = "difference"

    @property
    def is_apart(self) -> bool:
        """Whether the test rejects where the interval holds 0: the two answer different questions."""
        rejected = self.adjusted is not None and self.adjusted <= ALPHA
        return rejected and self.interval is not None and self.interval[0] <= 0 <= self.interval[1]


def line(shown: Shown, lang: Lang) -> str:
    """order effect 4.0 points [1.2, 6.9] · floor 0.3 · null 95 % 2.1 · p .003 (Holm .006) · n 100 items × …"""
    return " · ".join(_clauses(shown, lang))


def _clauses(shown: Shown, lang: Lang) -> Iterator[str]:
    yield _value(shown, lang)
    yield _beside("net_floor" if shown.net and not isinstance(shown.floor, Unknown) else "floor", shown.floor, lang)
    yield _beside("null", shown.null_95, lang)
    if shown.p is not None and shown.adjusted is not None:
        yield say("estimate.p", lang, p=p_text(shown.p), adjusted=p_text(shown.adjusted))
    if shown.is_apart:
        yield say("estimate.apart", lang)
    yield say("estimate.n", lang, items=shown.items, calls=shown.calls)
    yield say("estimate.error" if shown.errors == 1 else "estimate.errors", lang, n=shown.errors)


def _value(shown: Shown, lang: Lang) -> str:
    if isinstance(shown.value, Unknown):
        return say("estimate.unknown", lang, name=shown.name, reason=shown.value.reason)
    assert shown.interval is not None, "a value never stands without its interval"
    low, high = (points(bound) for bound in shown.interval)
    return say(f"estimate.{shown.unit}", lang, name=shown.name, value=points(shown.value), low=low, high=high)


def _beside(what: str, value: float | Unknown, lang: Lang) -> str:
    if isinstance(value, Unknown):
        return say(f"estimate.no_{what}", lang, reason=value.reason)
    return say(f"estimate.{what}", lang, value=points(value))


def limit(share: float, unit: Unit, lang: Lang) -> str:
    """What a gate sets, as its writer would say it: 90 %, 2.5 %; of a difference 5 points."""
    return say(f"limit.{unit}", lang, value=f"{100 * share:g}")


def points(share: float) -> str:
    """A part of 1 in hundredths: 4.0, −0.3. What one decimal would hide is said as a bound: < 0.1, > −0.1."""
    size = abs(100 * share)
    if 0 < size < 0.05:
        return "< 0.1" if share > 0 else f"> {MINUS}0.1"
    return f"{MINUS if share < 0 else ''}{size:.1f}"


def p_text(p: float) -> str:
    """.003, < .001, 1: three digits behind the point, never 0."""
    if p < 0.001:
        return "< .001"
    return f"{p:.3f}".lstrip("0") if p < 0.9995 else "1"
