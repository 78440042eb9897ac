"""The difference of two rates on the same items: Tango's score interval, its p, and McNemar's exact test.

Tango, Statistics in Medicine 17 (1998) 891–908. Neither scipy nor statsmodels has it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Shaped
from scipy import stats
from scipy.optimize import brentq
from statsmodels.stats.contingency_tables import mcnemar

from whybox.statistics.intervals import Interval

FEW_PAIRS = 10  # pairs that differ; with fewer the score test alone is too bold at a ceiling
_EDGE = 1e-12


@dataclass(frozen=True)
class Pairs:
    """n items seen in two arms. worse, better: how many are right in one arm only, the first or the second."""

    worse: int
    better: int
    n: int

    @property
    def harm(self) -> float | None:
        """(worse − better)/n, what the second arm loses; None without items."""
        return (self.worse - self.better) / self.n if self.n else None

    @property
    def differing(self) -> int:
        return self.worse + self.better

    @property
    def turned(self) -> "Pairs":
        """The same with the arms exchanged."""
        return Pairs(self.better, self.worse, self.n)


def tango_z(
    worse: Shaped[np.ndarray, "..."], better: Shaped[np.ndarray, "..."], n: float, harm: Shaped[np.ndarray, "..."]
) -> Float[np.ndarray, "..."]:
    """Score statistic of "the harm is Δ": z = (b − c − nΔ)/√(n(2q + Δ(1 − Δ))), decreasing in Δ.

    q, the share of `better` pairs that Δ makes most likely: A = 2n, B = −b − c + (2n − b + c)Δ, C = −cΔ(1 − Δ),
    q = (√(B² − 4AC) − B)/2A. Where nothing can vary, 0 if Δ is what was seen, else ±∞.
    """
    a, b = 2 * n, -worse - better + (2 * n - worse + better) * harm
    c = -better * harm * (1 - harm)
    q = (np.sqrt(np.maximum(b**2 - 4 * a * c, 0)) - b) / (2 * a)
    variance = n * (2 * q + harm * (1 - harm))
    distance = np.asarray(worse - better - n * harm, np.float64)
    certain = variance <= _EDGE
    with np.errstate(divide="ignore", invalid="ignore"):
        z = distance / np.sqrt(np.where(certain, np.nan, variance))
    still = np.where(np.abs(distance) < 1e-9, 0.0, np.copysign(np.inf, distance))
    return np.where(certain, still, z)


def paired_difference(pairs: Pairs, alpha: float = 0.05) -> Interval | None:
    """Interval of the harm with confidence 1 − α: where z(Δ) = ±z_{α/2}. None without items."""
    if pairs.harm is None:
        return None
    critical = float(stats.norm.ppf(1 - alpha / 2))
    low = _root(lambda harm: _z(pairs, harm) - critical, -1.0, pairs.harm)
    high = _root(lambda harm: _z(pairs, harm) + critical, pairs.harm, 1.0)
    return low, high


def p_harm_below(pairs: Pairs, most: float) -> float:
    """p of "the harm is below `most`": Φ(z(most)).

    Where fewer than ten pairs differ, the larger of it and the exact p that the share of worse pairs is below `most`.
    """
    by_score = float(stats.norm.cdf(_z(pairs, most)))
    if pairs.differing >= FEW_PAIRS or most <= 0:
        return by_score
    return max(by_score, float(stats.binomtest(pairs.worse, pairs.n, most, "less").pvalue))


def p_harm_above(pairs: Pairs, most: float) -> float:
    """p of "the harm is above `most`": 1 − Φ(z(most))."""
    return float(stats.norm.sf(_z(pairs, most)))


def mcnemar_exact(pairs: Pairs) -> float:
    """Two-sided exact p that both arms are right equally often; 1 where no pair differs."""
    if pairs.differing == 0:
        return 1.0
    return float(min(mcnemar([[0, pairs.worse], [pairs.better, 0]], exact=True).pvalue, 1.0))


def _z(pairs: Pairs, harm: float) -> float:
    worse, better = np.float64(pairs.worse), np.float64(pairs.better)
    return float(tango_z(np.asarray(worse), np.asarray(better), pairs.n, np.asarray(harm)))


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a decreasing function crosses 0 in [low, high]; the outer end where it does not."""
    low, high = max(low, -1 + _EDGE), min(high, 1 - _EDGE)
    if function(low) <= 0:
        return max(-1.0, round(low, 9))
    if function(high) >= 0:
        return min(1.0, round(high, 9))
    return float(brentq(function, low, high, xtol=1e-12))
