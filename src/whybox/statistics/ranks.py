"""Where an effect stands among the effects of matched irrelevant changes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy  # its parts are loaded where they are asked for: not at the start of every command

RESAMPLES = 999


@dataclass(frozen=True)
class NullBand:
    """Effects of matched draws: the band that holds 95 % of them, and the rank p of the effect among them.

    smallest_p: what p would be if no draw were as large; with few distinct draws it cannot fall below 1/(draws + 1).
    same_way: how many draws are as large in the effect's own direction; p counts the other one as well.
    """

    low: float
    high: float
    p: float
    draws: int
    same_way: int

    @property
    def smallest_p(self) -> float:
        return 1 / (self.draws + 1)


def rank_p(effect: float, draws: Sequence[float]) -> float:
    """p = (1 + #{|e_r| ≥ |e|})/(R + 1), never 0."""
    return (1 + sum(abs(draw) >= abs(effect) for draw in draws)) / (len(draws) + 1)


def share_p(hits: int, draws: int) -> float:
    """p of a flip, `hits` of `draws` shams flipping as well: (1 + hits)/(draws + 1)."""
    return (1 + hits) / (draws + 1)


def null_band(effect: float, draws: Sequence[float]) -> NullBand | None:
    """The 95 % band of the draws and the effect's p; None without draws."""
    if not draws:
        return None
    low, high = np.quantile(np.asarray(draws, np.float64), [0.025, 0.975])
    same_way = sum(draw * effect > 0 and abs(draw) >= abs(effect) for draw in draws)
    return NullBand(float(low), float(high), rank_p(effect, draws), len(draws), same_way)


@dataclass(frozen=True)
class Correlation:
    """Spearman's ρ or Kendall's τ, with its permutation p."""

    rho: float
    p: float
    n: int


def spearman(x: Sequence[float], y: Sequence[float], generator: np.random.Generator) -> Correlation | None:
    """Rank correlation of two columns; None where one of them is constant or fewer than three pairs exist.

    p: two-sided, over pairings drawn with the generator, (1 + #{|ρ_r| ≥ |ρ|})/(R + 1).
    """
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    left, right = scipy.stats.rankdata(x), scipy.stats.rankdata(y)
    pairings = np.stack([right, *(generator.permutation(right) for _ in range(RESAMPLES))])
    rho, *drawn = _correlated(left, pairings)
    return Correlation(rho, rank_p(rho, drawn), len(x))


def kendall(x: Sequence[float], y: Sequence[float], generator: np.random.Generator) -> Correlation | None:
    """Kendall's τ-b of two columns; None where one of them is constant or fewer than three pairs exist.

    p: two-sided, over pairings drawn with the generator, (1 + #{|τ_r| ≥ |τ|})/(R + 1). What the pairing cannot change
    (ties, number of pairs) scales all of them alike, so concordant minus discordant pairs stand for τ.
    """
    if len(x) < 3 or np.ptp(x) == 0 or np.ptp(y) == 0:
        return None
    left, right = (np.sign(np.subtract.outer(column, column)) for column in (np.asarray(x), np.asarray(y)))
    orders = [generator.permutation(len(x)) for _ in range(RESAMPLES)]
    drawn = [float((left * right[np.ix_(order, order)]).sum()) for order in orders]
    tau = float(scipy.stats.kendalltau(x, y).statistic)
    return Correlation(tau, rank_p(float((left * right).sum()), drawn), len(x))


def _correlated(x: np.ndarray, rows: np.ndarray) -> list[float]:
    """Pearson's r of x with each row; the rows are pairings of one column, so one spread is all of theirs.

    Rounded, so that pairings of equal rank sums count as equal.
    """
    x, rows = x - x.mean(), rows - rows[0].mean()
    scale = np.linalg.norm(x) * np.linalg.norm(rows[0])
    return [round(float(r), 12) for r in rows @ x / scale]


def sign_flip_p(differences: Sequence[float], generator: np.random.Generator) -> float | None:
    """Two-sided paired permutation p that the mean of item differences is 0; None without items.

    Signs are flipped within items, exactly while 2^n is small, else drawn.
    """
    values = np.asarray(differences, np.float64)
    if values.size == 0:
        return None
    test = scipy.stats.permutation_test(
        (values,), np.mean, permutation_type="samples", n_resamples=9999, rng=generator, alternative="two-sided"
    )
    return float(test.pvalue)
