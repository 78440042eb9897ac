"""The ratio of two means over the same items, or why there is none."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.stats import bootstrap

from whybox.statistics.effects import effect_interval
from whybox.statistics.intervals import Interval
from whybox.statistics.unknown import Unknown

RESAMPLES = 9999
_CELLS = 1 << 22


@dataclass(frozen=True)
class Ratio:
    value: float
    interval: Interval


def ratio(
    above: Float[np.ndarray, "item"],
    below: Float[np.ndarray, "item"],
    generator: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Ratio | Unknown:
    """Σ above / Σ below over items, each value in [−1, 1], with a 95 % BCa interval over items.

    Unknown when the denominator's own interval holds 0. Where resamples cannot vary (all items alike), the interval
    is that of the numerator over the nearer bound of the denominator.
    """
    bounds = effect_interval(below)
    if bounds is None:
        return Unknown("no items")
    if bounds[0] <= 0 <= bounds[1]:
        return Unknown("the interval of the denominator holds 0")
    value = float(above.sum() / below.sum())
    interval = _bca(above, below, generator, resamples)
    return Ratio(value, interval or _widest(above, bounds))


def _bca(
    above: Float[np.ndarray, "item"], below: Float[np.ndarray, "item"], generator: np.random.Generator, resamples: int
) -> Interval | None:
    if above.size < 2 or np.ptp(above * below.sum() - below * above.sum()) < 1e-12:
        return None

    def statistic(items: np.ndarray, axis: int) -> np.ndarray:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(above[items].sum(axis=axis) / below[items].sum(axis=axis))

    found = bootstrap(
        (np.arange(above.size),),
        statistic,
        method="BCa",
        n_resamples=resamples,
        batch=max(1, _CELLS // above.size),
        vectorized=True,
        rng=generator,
    ).confidence_interval
    low, high = float(found.low), float(found.high)
    return (low, high) if np.isfinite([low, high]).all() and low < high else None


def _widest(above: Float[np.ndarray, "item"], denominator: Interval) -> Interval:
    bounds = effect_interval(above)
    assert bounds is not None, "the denominator has items, so has the numerator"
    corners = [a / b for a in bounds for b in denominator]
    return min(corners), max(corners)
