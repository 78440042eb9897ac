"""Do k arms on the same items differ at all? Cochran's Q for right or not right."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from jaxtyping import Integer
from statsmodels.stats.contingency_tables import cochrans_q

from whybox.statistics.permutation import within_items
from whybox.statistics.unknown import Unknown

FEWEST_ITEMS = 30
FEWEST_CELLS = 24  # items that differ, times arms: below it χ² is no longer the distribution of Q (Cochran 1954)


@dataclass(frozen=True)
class Omnibus:
    """Q and its p; by: where the p comes from."""

    q: float
    p: float
    by: Literal["chi2", "permutation"]


def cochran(marks: Integer[np.ndarray, "item arm"], generator: np.random.Generator) -> Omnibus | Unknown:
    """Q over complete items (1 right, 0 not). Small or sparse tables: p by permutation within items."""
    varying = marks[np.any(marks != marks[:, :1], axis=1)]
    if len(varying) == 0:
        return Unknown("no item differed")
    found = cochrans_q(marks)
    if len(marks) >= FEWEST_ITEMS and varying.size >= FEWEST_CELLS:
        return Omnibus(float(found.statistic), float(found.pvalue), "chi2")
    permuted = within_items(varying, _squares, generator)
    if isinstance(permuted, Unknown):
        return Unknown("one item differed")
    return Omnibus(float(found.statistic), permuted.p, "permutation")


def _squares(arms: np.ndarray) -> np.ndarray:
    """Σ over arms of (right items)²: Q grows with it, and nothing else in Q changes by permutation within items."""
    return np.asarray(np.square(arms.sum(axis=-1)).sum(axis=0))
