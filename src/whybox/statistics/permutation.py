"""Permutation within items: what a statistic looks like when the arms mean nothing."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Shaped
from scipy.stats import permutation_test

from whybox.statistics.unknown import Unknown

RESAMPLES = 9999
ALPHA = 0.05
_CELLS = 1 << 22  # numbers held at once

Alternative = Literal["greater", "two-sided"]
Statistic = Callable[[np.ndarray], np.ndarray]
"""[slot … item] → [ … ]: slots come first, items last, drawn tables between."""


@dataclass(frozen=True)
class Permuted:
    """A statistic beside its null. null_95: what 95 % of the drawn tables stay below (in size, when two-sided)."""

    observed: float
    null_mean: float
    null_95: float
    p: float


def within_items(
    slots: Shaped[np.ndarray, "item slot"],
    statistic: Statistic,
    generator: np.random.Generator,
    alternative: Alternative = "greater",
    resamples: int = RESAMPLES,
) -> Permuted | Unknown:
    """The calls of every item are dealt anew to its slots: p = (1 + #{as large})/(1 + R), never 0.

    All tables are enumerated where there are no more than R. Unknown for fewer than two items, and for a statistic
    that no dealing can change.
    """
    if len(slots) < 2:
        return Unknown("fewer than two items")
    if np.all(slots == slots[:, :1]):
        return Unknown("no item differed")
    found = permutation_test(
        tuple(slots.T),
        lambda *dealt, axis: statistic(np.stack(dealt)),
        permutation_type="samples",
        alternative=alternative,
        vectorized=True,
        axis=-1,
        n_resamples=resamples,
        batch=max(1, _CELLS // slots.size),
        rng=generator,
    )
    null = np.asarray(found.null_distribution)
    sizes = null if alternative == "greater" else np.abs(null)
    return Permuted(
        float(found.statistic), float(null.mean()), float(np.quantile(sizes, 1 - ALPHA)), float(found.pvalue)
    )


def spread(arms: Shaped[np.ndarray, "arm *draws item"]) -> Shaped[np.ndarray, "*draws"]:
    """Best arm's mean minus the worst's. Without any effect it is far above 0: shown only beside its null."""
    return np.asarray(np.ptp(arms.mean(axis=-1), axis=0))


def contrast(weights: Shaped[np.ndarray, "arm"]) -> Statistic:
    """The mean over items of Σ w_a x_a."""

    def statistic(arms: np.ndarray) -> np.ndarray:
        return np.tensordot(weights, arms.mean(axis=-1), axes=(0, 0))

    return statistic
