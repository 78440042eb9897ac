"""p-values of several questions asked at once."""

from collections.abc import Sequence

import numpy as np
from scipy.stats import false_discovery_control
from statsmodels.stats.multitest import multipletests


def holm(p: Sequence[float]) -> list[float]:
    """Holm's adjustment (1979): p ≤ α bounds the chance of any false claim among them by α."""
    if not p:
        return []
    return [float(adjusted) for adjusted in multipletests(np.asarray(p, np.float64), method="holm")[1]]


def benjamini_hochberg(p: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjustment (1995): p ≤ α bounds the share of false claims by α."""
    if not p:
        return []
    return [float(adjusted) for adjusted in false_discovery_control(np.asarray(p, np.float64), method="bh")]
