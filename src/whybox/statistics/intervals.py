"""Intervals that are never narrower than what was seen: rates, means, and the bound of a rate that showed no event."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

Interval = tuple[float, float]


@dataclass(frozen=True)
class Rate:
    """`hits` of `n`."""

    hits: int
    n: int

    def __str__(self) -> str:
        return f"{self.hits} of {self.n}"


def wilson(rate: Rate) -> Interval | None:
    """95 % Wilson interval of a rate, for showing; None when nothing was counted."""
    if rate.n == 0:
        return None
    low, high = proportion_confint(rate.hits, rate.n, method="wilson")
    return float(low), float(high)


def clopper_pearson(rate: Rate) -> Interval | None:
    """95 % exact interval of a rate, for bounds; None when nothing was counted."""
    if rate.n == 0:
        return None
    low, high = proportion_confint(rate.hits, rate.n, method="beta")
    return float(np.nan_to_num(low, nan=0.0)), float(np.nan_to_num(high, nan=1.0))


def flip_bound(calls: int) -> float:
    """What 0 flips in `calls` calls bounds the rate below, with 95 % confidence: 1 − 0.05^(1/n)."""
    return float(1 - 0.05 ** (1 / calls))


def mean_interval(values: Sequence[float]) -> Interval | None:
    """95 % t interval of a mean over items; None for fewer than two (one prompt generalises to nothing).

    For effects on an open scale. Identical values would give width zero, so that case is None as well.
    """
    data = np.asarray(values, np.float64)
    if data.size < 2 or np.ptp(data) == 0:
        return None
    low, high = stats.t.interval(0.95, data.size - 1, loc=data.mean(), scale=stats.sem(data))
    return float(low), float(high)


def t_interval(mean: float, sd: float, n: int) -> Interval | None:
    """95 % t interval of a mean whose spread is known; None for fewer than two values, or for values all alike."""
    if n < 2 or sd == 0:
        return None
    low, high = stats.t.interval(0.95, n - 1, loc=mean, scale=sd / n**0.5)
    return float(low), float(high)
