"""What a gate demands, and the two p-values that speak for it and against it.

p_holds (null: the demand is violated) lets a gate pass; p_broken (null: it holds) lets it fail. A gate with parts is an
intersection–union test: it holds when every part does, so its p_holds is the largest of theirs, without adjustment;
its p_broken is the smallest of theirs after Holm.
"""

from dataclasses import dataclass

import numpy as np

from whybox.errors import UsageError
from whybox.statistics.effects import Effects, effect_interval, p_mean_above, p_mean_below
from whybox.statistics.equivalence import p_mean_other, p_mean_same, p_other, p_same
from whybox.statistics.intervals import Interval, Rate, wilson
from whybox.statistics.multiplicity import holm
from whybox.statistics.need import Need, more_for_mean, more_for_pairs, more_for_rate, more_for_same
from whybox.statistics.paired import Pairs, p_harm_above, p_harm_below, paired_difference
from whybox.statistics.rates import p_rate_above, p_rate_below
from whybox.statistics.unknown import Unknown


@dataclass(frozen=True)
class RateAtLeast:
    least: float


@dataclass(frozen=True)
class RateAtMost:
    most: float


@dataclass(frozen=True)
class HarmAtMost:
    """The share of items lost from the first arm to the second."""

    most: float


@dataclass(frozen=True)
class SameWithin:
    """Two one-sided tests at ±margin, on pairs or on item effects. Never inferred from p > α."""

    margin: float


@dataclass(frozen=True)
class MeanAtMost:
    """The mean of item effects in [−1, 1]."""

    most: float


Demand = RateAtLeast | RateAtMost | HarmAtMost | SameWithin | MeanAtMost
Seen = Rate | Pairs | Effects


@dataclass(frozen=True)
class Part:
    """One demand on one estimate. interval: 95 %. n: items. needs: about how many more would settle it."""

    name: str
    demand: Demand
    estimate: float | None
    interval: Interval | None
    n: int
    p_holds: float
    p_broken: float
    needs: Need


@dataclass(frozen=True)
class Gate:
    """A sentence that was written beforehand; its parts are places, orders or doses, or it has one part."""

    probe: str
    name: str
    parts: tuple[Part, ...]

    @property
    def p_holds(self) -> float:
        return max((part.p_holds for part in self.parts), default=1.0)

    @property
    def p_broken(self) -> float:
        return min(holm([part.p_broken for part in self.parts]), default=1.0)

    @property
    def needs(self) -> Need:
        """The largest need among its parts: all of them must be settled."""
        needs = [part.needs for part in self.parts]
        unknown = next((need for need in needs if isinstance(need, Unknown)), None)
        return unknown or max((need for need in needs if isinstance(need, int)), default=Unknown("nothing to settle"))


def judged(name: str, demand: Demand, seen: Seen) -> Part:
    """One part of a gate. UsageError where the demand speaks of a statistic that was not measured."""
    match demand, seen:
        case RateAtLeast(least), Rate():
            p = p_rate_above(seen, least), p_rate_below(seen, least)
            return Part(name, demand, seen.share, wilson(seen), seen.n, *p, more_for_rate(seen, least))
        case RateAtMost(most), Rate():
            p = p_rate_below(seen, most), p_rate_above(seen, most)
            return Part(name, demand, seen.share, wilson(seen), seen.n, *p, more_for_rate(seen, most))
        case _, Pairs(n=0):
            return Part(name, demand, None, None, 0, 1.0, 1.0, more_for_pairs(seen, 0.0))
        case HarmAtMost(most), Pairs():
            p = p_harm_below(seen, most), p_harm_above(seen, most)
            return _of_pairs(name, demand, seen, p, more_for_pairs(seen, most))
        case SameWithin(margin), Pairs():
            p = p_same(seen, margin), p_other(seen, margin)
            return _of_pairs(name, demand, seen, p, more_for_same(seen, margin))
        case MeanAtMost(most), np.ndarray():
            p = p_mean_below(seen, most), p_mean_above(seen, most)
            return _of_effects(name, demand, seen, p, more_for_mean(seen, most))
        case SameWithin(margin), np.ndarray():
            p = p_mean_same(seen, margin), p_mean_other(seen, margin)
            return _of_effects(name, demand, seen, p, more_for_mean(seen * _sign(seen), margin))
        case _:
            raise UsageError(
                f"gate {name}: {type(demand).__name__} cannot be judged on {type(seen).__name__}",
                "a gate demands something of a statistic that its probe measures",
            )


def _of_pairs(name: str, demand: Demand, seen: Pairs, p: tuple[float, float], needs: Need) -> Part:
    return Part(name, demand, seen.harm, paired_difference(seen), seen.n, *p, needs)


def _of_effects(name: str, demand: Demand, seen: Effects, p: tuple[float, float], needs: Need) -> Part:
    if seen.size == 0:
        return Part(name, demand, None, None, 0, 1.0, 1.0, needs)
    return Part(name, demand, float(seen.mean()), effect_interval(seen), seen.size, *p, needs)


def _sign(effects: Effects) -> float:
    return -1.0 if effects.size and effects.mean() < 0 else 1.0
