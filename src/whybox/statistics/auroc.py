"""Does confidence tell right from wrong answers? The area under the ROC curve, with an interval over items."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from scipy.stats import mannwhitneyu, rankdata

from whybox.statistics.intervals import Interval
from whybox.statistics.unknown import Unknown

RESAMPLES = 1999


@dataclass(frozen=True)
class Auroc:
    """P(confidence of a right answer > that of a wrong one), ties half. interval: None where no resample differs."""

    area: float
    interval: Interval | None
    right: int
    wrong: int


def auroc(
    confidence: Float[np.ndarray, "item"], right: Bool[np.ndarray, "item"], generator: np.random.Generator
) -> Auroc | Unknown:
    """Mann–Whitney U over the number of pairs; 95 % of item resamples that hold both kinds."""
    hits, misses = confidence[right], confidence[~right]
    if hits.size == 0 or misses.size == 0:
        return Unknown("all answers are right" if hits.size else "no answer is right")
    area = float(mannwhitneyu(hits, misses).statistic / (hits.size * misses.size))
    drawn = [_area(confidence[items], right[items]) for items in _resamples(right, generator)]
    low, high = np.quantile(drawn, [0.025, 0.975]) if drawn else (area, area)
    interval = (float(low), float(high)) if low < high else None
    return Auroc(area, interval, hits.size, misses.size)


def _resamples(right: Bool[np.ndarray, "item"], generator: np.random.Generator) -> list[np.ndarray]:
    drawn = generator.integers(right.size, size=(RESAMPLES, right.size))
    return [items for items in drawn if 0 < right[items].sum() < right.size]


def _area(confidence: Float[np.ndarray, "item"], right: Bool[np.ndarray, "item"]) -> float:
    """U from ranks: (Σ ranks of right − r(r + 1)/2)/(r w)."""
    hits = int(right.sum())
    ranks = rankdata(confidence)[right].sum()
    return float((ranks - hits * (hits + 1) / 2) / (hits * (right.size - hits)))
