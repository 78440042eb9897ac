"""Statistics as the estimates of a finding, each with all that must stand beside it."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
from jaxtyping import Float, Integer

from whybox.probes.design import NO_REPEATS, Estimate, Seen2
from whybox.statistics.calls import LOST, Calls, rate, worst
from whybox.statistics.changes import Changes
from whybox.statistics.effects import effect_interval
from whybox.statistics.intervals import Rate, mean_interval, wilson
from whybox.statistics.permutation import Permuted
from whybox.statistics.ratios import Ratio
from whybox.statistics.unknown import Unknown

NOTHING_CAME = Unknown("no call came back")


def of_rate(statistic: str, seen: Rate, floor: float | Unknown = NO_REPEATS, primary: bool = False) -> Estimate:
    """A share with Wilson's interval."""
    value = NOTHING_CAME if seen.share is None else seen.share
    return Estimate(statistic, value, wilson(seen), seen.n, floor, primary=primary)


def of_changes(statistic: str, found: Changes | Unknown, items: int) -> Estimate:
    """Changed answers beyond asking again, with their null."""
    if isinstance(found, Unknown):
        return Estimate(statistic, found, None, items, found, found, unit="difference")
    null_95, p = of_null(found.null)
    return Estimate(
        statistic, found.effect, found.interval, found.items, found.floor, null_95, p, unit="difference", net=True
    )


def of_null(null: Permuted | Unknown) -> tuple[float | Unknown, float | None]:
    """What 95 % of drawn tables stay below, and p."""
    return (null.null_95, null.p) if isinstance(null, Permuted) else (null, None)


def of_ratio(statistic: str, found: Ratio | Unknown, items: int) -> Estimate:
    """A ratio, or why there is none."""
    if isinstance(found, Unknown):
        return Estimate(statistic, found, None, items, primary=False)
    return Estimate(statistic, found.value, found.interval, items, primary=False)


def of_effects(
    statistic: str, effects: Float[np.ndarray, "item"], unit: Literal["share", "difference"] = "difference"
) -> Estimate:
    """The mean of item effects in [−1, 1]."""
    if effects.size == 0:
        return Estimate(statistic, NOTHING_CAME, None, 0, unit=unit, primary=False)
    interval = effect_interval(effects)
    return Estimate(statistic, float(effects.mean()), interval, effects.size, unit=unit, primary=False)


def of_mean(statistic: str, values: Sequence[float], unit: Literal["share", "nats"]) -> Estimate:
    """The mean over items of what cannot be below 0: shares as effects are, with no interval of width 0; nats by t."""
    if not values:
        return Estimate(statistic, NOTHING_CAME, None, 0, unit=unit, primary=False)
    interval = effect_interval(np.array(values)) if unit == "share" else mean_interval(values)
    if interval is not None:
        interval = max(interval[0], 0.0), interval[1]
    return Estimate(statistic, float(np.mean(values)), interval, len(values), unit=unit, primary=False)


def of_means(statistic: str, marks: Integer[np.ndarray, "item arm"]) -> Estimate:
    """The mean over items of each item's share right; items with lost calls by those that came back."""
    rows = [row[row != LOST] for row in marks]
    means = [float((row == 1).mean()) for row in rows if row.size]
    if not means:
        return Estimate(statistic, NOTHING_CAME, None, 0, primary=False)
    interval = mean_interval(means)
    if interval is None and means[0] in (0.0, 1.0) and len(set(means)) == 1:
        interval = wilson(Rate(int(sum(means)), len(means)))
    return Estimate(statistic, float(np.mean(means)), interval, len(means), primary=False)


def rate_part(marks: Integer[np.ndarray, "item"]) -> Seen2:
    """What a gate on a rate reads: the calls that came back, and all with the lost ones counted as not right."""
    return Seen2(rate(marks), rate(worst(marks)))


def floor_of(codes: Calls) -> float | Unknown:
    """The share of pairs of calls of one arm whose answers differ, over all items and arms."""
    runs = codes.shape[2]
    if runs < 2:
        return Unknown("no repeats")
    one, other = np.triu_indices(runs, 1)
    came = (codes[..., one] != LOST) & (codes[..., other] != LOST)
    if not came.any():
        return NOTHING_CAME
    return float((codes[..., one] != codes[..., other])[came].mean())


def ranked(rows: Sequence[int], most: int = 100) -> list[int]:
    """The first of them: as many items as a report may show in full."""
    return list(rows)[:most]
