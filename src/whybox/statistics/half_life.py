"""At which depth the rule is obeyed in half of the cases: a logistic curve on log₂ depth, clustered by item."""

import math
import warnings
from dataclasses import dataclass
from typing import Literal

import numpy as np
import statsmodels.api as sm
from jaxtyping import Float, Integer
from scipy import stats

from whybox.statistics.calls import LOST
from whybox.statistics.intervals import Interval
from whybox.statistics.unknown import Unknown


@dataclass(frozen=True)
class HalfLife:
    """turns: where the fitted curve crosses ½, None beyond the depths that were tested.

    beyond: on which side, when it does. interval: bounds of the crossing, cut at nothing; None beyond.
    """

    turns: float | None
    interval: Interval | None
    beyond: Literal["after", "before"] | None
    deepest: float


def half_life(marks: Integer[np.ndarray, "item depth"], depths: Float[np.ndarray, "depth"]) -> HalfLife | Unknown:
    """2^(−β₀/β₁) of logit P(t) = β₀ + β₁ log₂ t, GEE with exchangeable correlation within items.

    Its interval is by the delta method on log₂ t. Unknown where the marks separate perfectly (then rates per depth are
    all that can be said) and where compliance does not fall with depth.
    """
    item, depth = np.nonzero(marks != LOST)
    y = marks[item, depth]
    if y.all() or not y.any():
        return HalfLife(None, None, "after" if y.all() else "before", float(depths.max()))
    if _separates(depths[depth], y):
        return Unknown("perfect separation: rates per depth only")
    fitted = _fit(np.log2(depths[depth]), y, item)
    if fitted is None:
        return Unknown("the curve could not be fitted")
    return _crossing(*fitted, depths)


def _separates(depth: Float[np.ndarray, "call"], y: Integer[np.ndarray, "call"]) -> bool:
    """Whether one depth parts all that obey from all that do not."""
    kept, broken = depth[y == 1], depth[y == 0]
    return bool(kept.max() <= broken.min() or broken.max() <= kept.min())


def _fit(
    x: Float[np.ndarray, "call"], y: Integer[np.ndarray, "call"], item: Integer[np.ndarray, "call"]
) -> tuple[Float[np.ndarray, "2"], Float[np.ndarray, "2 2"]] | None:
    """Coefficients and their robust covariance."""
    design = np.column_stack([np.ones_like(x), x])
    model = sm.GEE(y, design, groups=item, family=sm.families.Binomial(), cov_struct=sm.cov_struct.Exchangeable())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what did not converge is told apart by its numbers
        found = model.fit()
    beta, covariance = np.asarray(found.params), np.asarray(found.cov_params())
    return (beta, covariance) if np.isfinite(beta).all() and np.isfinite(covariance).all() else None


def _crossing(
    beta: Float[np.ndarray, "2"], covariance: Float[np.ndarray, "2 2"], depths: Float[np.ndarray, "depth"]
) -> HalfLife | Unknown:
    if beta[1] >= 0:
        return Unknown("compliance does not fall with depth")
    where = -beta[0] / beta[1]
    gradient = np.array([-1 / beta[1], beta[0] / beta[1] ** 2])
    half = float(stats.norm.ppf(0.975)) * math.sqrt(float(gradient @ covariance @ gradient))
    deepest = float(depths.max())
    if where > math.log2(deepest):
        return HalfLife(None, None, "after", deepest)
    if where < math.log2(float(depths.min())):
        return HalfLife(None, None, "before", deepest)
    bounds = np.exp2(np.clip([where - half, where + half], -60, 60))
    return HalfLife(float(2**where), (float(bounds[0]), float(bounds[1])), None, deepest)
