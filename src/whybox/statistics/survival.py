"""How long items hold: Kaplan–Meier with bounds that are never missing, its median, and two arms compared."""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float
from scipy.stats import CensoredData, ecdf
from statsmodels.duration.survfunc import survdiff

from whybox.statistics.intervals import Interval, Rate, wilson
from whybox.statistics.unknown import Unknown

_NO_EARLIER = Unknown("no item failed earlier in one arm than in another")


@dataclass(frozen=True)
class Step:
    """S just behind `time`: the share without an event so far. at_risk: items watched up to then."""

    time: float
    at_risk: int
    events: int
    share: float
    interval: Interval


def survival(times: Float[np.ndarray, "item"], failed: Bool[np.ndarray, "item"]) -> list[Step]:
    """Kaplan–Meier steps at every time that occurs. failed: the event was seen; else the item was watched until then.

    Bounds: exponential Greenwood (log-log); where that is undefined (S = 1, S = 0, no events) Wilson on those at risk.
    """
    if times.size == 0:
        return []
    curve = ecdf(CensoredData(uncensored=times[failed], right=times[~failed])).sf
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # undefined bounds are replaced below
        bounds: Any = curve.confidence_interval(method="log-log")  # two curves; the stubs say two numbers
        ends = bounds.low.probabilities, bounds.high.probabilities
    return list(_steps(times, failed, np.column_stack([curve.quantiles, curve.probabilities, *ends])))


def median(steps: list[Step]) -> float | None:
    """The first time at which half have failed; None while more than half still hold at the last one."""
    return next((step.time for step in steps if step.share <= 0.5), None)


def stratified_p(times: Float[np.ndarray, "item arm"], failed: Bool[np.ndarray, "item arm"]) -> float | Unknown:
    """p that the arms hold equally long, every item its own stratum (paired log-rank)."""
    items, arms = times.shape
    if not failed.any():
        return Unknown("no item failed in any arm")
    try:
        _, p = survdiff(
            times.ravel(),
            failed.ravel().astype(int),
            np.tile(np.arange(arms), items),
            strata=np.repeat(np.arange(items), arms),
        )
    except np.linalg.LinAlgError:
        return _NO_EARLIER
    return float(p) if np.isfinite(p) else _NO_EARLIER


def _steps(
    times: Float[np.ndarray, "item"], failed: Bool[np.ndarray, "item"], rows: Float[np.ndarray, "step 4"]
) -> Iterator[Step]:
    for time, share, low, high in rows:
        at_risk, events = int((times >= time).sum()), int((failed & (times == time)).sum())
        known = np.isfinite([low, high]).all() and 0 < share < 1
        interval = (float(low), float(high)) if known else wilson(Rate(round(share * at_risk), at_risk))
        assert interval is not None, "someone is at risk at every time that occurs"
        yield Step(float(time), at_risk, events, float(share), interval)
