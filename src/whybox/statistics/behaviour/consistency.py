"""The same model, served twice: what is drift, what is a tie, and how far the distributions are apart."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Integer
from scipy import stats

from whybox.statistics.effects import Effects, effect_interval
from whybox.statistics.intervals import Interval
from whybox.statistics.unknown import Unknown

TIE_QUANTILE = 0.999


def tie_width(gaps_moved: Float[np.ndarray, "..."]) -> float | Unknown:
    """δ: the 99.9 % quantile of |Δ(z₁ − z₂)| between repeats of one target, in nats.

    Locally, where repeats are bit-equal, twice the floor between engines stands in its place.
    """
    if gaps_moved.size == 0:
        return Unknown("no repeat was made")
    return float(np.quantile(np.abs(gaps_moved), TIE_QUANTILE))


@dataclass(frozen=True)
class Drift:
    """Positions of another most likely token, per 1,000. ties: changed where the two best lay within δ of each other.

    interval: over prompts, of the drift. effects: share of drift of every prompt.
    """

    drift: float
    ties: float
    interval: Interval
    positions: int
    effects: Effects


def drift(changed: Bool[np.ndarray, "item q"], gap: Float[np.ndarray, "item q"], width: float) -> Drift | Unknown:
    """changed: another largest logit at that position, both on the same ids. gap: z₁ − z₂ of the first target, nats.

    A change at a gap ≤ δ is a tie; every other one is drift, and only drift counts. The scale of the interval is the
    largest share seen: a prompt drifts at a few of its positions, and ±½ of all of them would drown that.
    """
    if changed.size == 0:
        return Unknown("no position was compared")
    tie = changed & (gap <= width)
    effects = (changed & ~tie).mean(axis=1)
    interval = effect_interval(effects, scale=float(effects.max()) or 1.0)
    assert interval is not None, "there is a prompt"
    low, high = (1000 * max(bound, 0.0) for bound in interval)
    return Drift(1000 * float(effects.mean()), 1000 * float(tie.mean()), (low, high), changed.size, effects)


@dataclass(frozen=True)
class Distances:
    """KL(A‖B) over positions, nats. It says how far the distributions are apart, not which one is worse."""

    mean: float
    median: float
    p999: float
    most: float


def distances(kl: Float[np.ndarray, "..."]) -> Distances | Unknown:
    if kl.size == 0:
        return Unknown("no position was compared")
    median, high = np.quantile(kl, [0.5, 0.999])
    return Distances(float(kl.mean()), float(median), float(high), float(kl.max()))


def first_break(changed: Bool[np.ndarray, "item q"]) -> Integer[np.ndarray, "some"]:
    """The first changed position of every prompt that has one: all alike at W speaks of a window."""
    return changed.argmax(axis=1)[changed.any(axis=1)]


def growth(error: Float[np.ndarray, "q"]) -> float | None:
    """Spearman's ρ of the error with its position; near 1 with none at position 0 speaks of positions.

    None where the error is the same everywhere.
    """
    if error.size < 3 or np.ptp(error) == 0:
        return None
    return float(stats.spearmanr(error, np.arange(error.size)).statistic)
