"""Intervals that are never narrower than what was seen: rates, means, and the bound of a rate that showed no event."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts, and statsmodels with pandas, are loaded where they are asked for

from whybox.statistics.unknown import Unknown

Interval = tuple[float, float]


@dataclass(frozen=True)
class Rate:
    """`hits` of `n`."""

    hits: int
    n: int

    @property
    def share(self) -> float | None:
        """hits / n; None when nothing was counted."""
        return self.hits / self.n if self.n else None

    def __str__(self) -> str:
        return f"{self.hits} of {self.n}"


def wilson(rate: Rate) -> Interval | None:
    """95 % Wilson interval of a rate, for showing; None when nothing was counted. Its ends are 0 and 1, not 3e-17."""
    from statsmodels.stats.proportion import proportion_confint

    if rate.n == 0:
        return None
    low, high = proportion_confint(rate.hits, rate.n, method="wilson")
    return float(low) if rate.hits else 0.0, float(high) if rate.hits < rate.n else 1.0


def clopper_pearson(rate: Rate, alpha: float = 0.05) -> Interval | None:
    """Exact interval of a rate with confidence 1 − α, for bounds; None when nothing was counted."""
    from statsmodels.stats.proportion import proportion_confint

    if rate.n == 0:
        return None
    low, high = proportion_confint(rate.hits, rate.n, alpha=alpha, method="beta")
    return float(np.nan_to_num(low, nan=0.0)), float(np.nan_to_num(high, nan=1.0))


def exact_upper(rate: Rate, tail: float) -> float:
    """Clopper–Pearson upper bound that the rate exceeds with probability `tail` at most; 1 when nothing was counted."""
    if rate.hits == rate.n:
        return 1.0
    return float(scipy.stats.beta.ppf(1 - tail, rate.hits + 1, rate.n - rate.hits))


def unpaired_difference(one: Rate, other: Rate) -> Interval | None:
    """95 % Newcombe interval of p₁ − p₂ for two *different* sets of items; a report says "unpaired" beside it."""
    from statsmodels.stats.proportion import confint_proportions_2indep

    if one.n == 0 or other.n == 0:
        return None
    low, high = confint_proportions_2indep(one.hits, one.n, other.hits, other.n, method="newcomb", compare="diff")
    return float(low), float(high)


def flip_bound(calls: int) -> float:
    """What 0 flips in `calls` calls bounds the rate below, with 95 % confidence: 1 − 0.05^(1/n)."""
    return float(1 - 0.05 ** (1 / calls))


def standard_error(values: Sequence[float]) -> float | Unknown:
    """s/√n over items. Unknown for one item, and for identical values: those bound an error, they do not show one."""
    data = np.asarray(values, np.float64)
    if data.size < 2:
        return Unknown("one prompt; no generalisation")
    if np.ptp(data) == 0:
        return Unknown("all values are the same; the bound of a rate stands in place of an error")
    return float(scipy.stats.sem(data))


def mean_interval(values: Sequence[float]) -> Interval | None:
    """95 % t interval of a mean over items; None for fewer than two (one prompt generalises to nothing).

    For effects on an open scale. Identical values would give width zero, so that case is None as well.
    """
    data = np.asarray(values, np.float64)
    error = standard_error(values)
    if isinstance(error, Unknown):
        return None
    return _about(float(data.mean()), error, data.size)


def t_interval(mean: float, sd: float, n: int) -> Interval | None:
    """95 % t interval of a mean whose spread is known; None for fewer than two values, or for values all alike."""
    if n < 2 or sd == 0:
        return None
    return _about(mean, sd / n**0.5, n)


def _about(mean: float, error: float, n: int) -> Interval:
    low, high = scipy.stats.t.interval(0.95, n - 1, loc=mean, scale=error)
    return float(low), float(high)
