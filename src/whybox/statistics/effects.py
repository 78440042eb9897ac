"""The mean of item effects that may be rare: an interval that keeps its promise when most items show none.

Item effects d_i lie in [−1, 1]. Two pseudo-items at +½ and −½ are added, and Student's t with n + 1 degrees of freedom
is used. Where fewer than five items differ from 0 nothing can be said about a spread: the bounds are those of the
share of items below and above 0, which |mean| cannot exceed.
"""

import numpy as np
from jaxtyping import Float
from scipy import stats

from whybox.statistics.intervals import Interval, Rate, exact_upper

PSEUDO = np.array([0.5, -0.5])
FEWEST = 5  # items that differ from 0; with fewer the shares of items bound the mean

Effects = Float[np.ndarray, "item"]


def effect_interval(effects: Effects, alpha: float = 0.05, scale: float = 1.0) -> Interval | None:
    """Interval of the mean effect with confidence 1 − α, never of width zero; None without items.

    scale: how large the effect of one item can be, where that is far below 1; the pseudo-items stand at half of it.
    """
    if effects.size == 0:
        return None
    if _rare(effects):
        below, above = _signs(effects)
        return -exact_upper(below, alpha / 2), exact_upper(above, alpha / 2)
    centre, error, df = _moments(effects, scale)
    half = float(stats.t.ppf(1 - alpha / 2, df)) * error
    return max(centre - half, -1.0), min(centre + half, 1.0)


def p_mean_below(effects: Effects, limit: float) -> float:
    """p of "the mean effect is below the limit" (null: it is not).

    With fewer than five items that differ from 0 the larger of the t test's p and that of the share above 0.
    """
    by_t = _p_by_t(effects, limit)
    return max(by_t, _p_share_below(_signs(effects)[1], limit)) if _rare(effects) else by_t


def p_mean_above(effects: Effects, limit: float) -> float:
    """p of "the mean effect is above the limit"."""
    return p_mean_below(-effects, -limit)


def _p_by_t(effects: Effects, limit: float) -> float:
    centre, error, df = _moments(effects)
    return float(stats.t.cdf((centre - limit) / error, df))


def _p_share_below(above: Rate, limit: float) -> float:
    """The mean cannot exceed the share of items above 0; a limit that is not above 0 is never shown this way."""
    if limit <= 0 or above.n == 0:
        return 1.0
    return float(stats.binomtest(above.hits, above.n, min(limit, 1.0), "less").pvalue)


def _moments(effects: Effects, scale: float = 1.0) -> tuple[float, float, int]:
    """Mean, standard error and degrees of freedom with the pseudo-items."""
    values = np.append(effects, scale * PSEUDO)
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(values.size)), values.size - 1


def _rare(effects: Effects) -> bool:
    return int(np.count_nonzero(effects)) < FEWEST


def _signs(effects: Effects) -> tuple[Rate, Rate]:
    """Items below 0, items above 0."""
    assert np.all(np.abs(effects) <= 1 + 1e-12), "item effects lie in [−1, 1]"
    return Rate(int((effects < 0).sum()), effects.size), Rate(int((effects > 0).sum()), effects.size)
