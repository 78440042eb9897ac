"""Two runs over the same text, place by place: where the first choice differs, and how far the distributions are apart.

Of each place the most probable tokens are known; the rest is one bin.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float

from whybox.statistics.divergence import jensen_shannon_lower_bound, kl_lower_bound

Place = Mapping[str, float]
"""Token → probability, of the most probable ones."""


@dataclass(frozen=True)
class Trajectory:
    """At every place t: whether the other run's first choice is another one; KL_t and JSD_t in nats, at least."""

    other: Bool[np.ndarray, "t"]
    kl: Float[np.ndarray, "t"]
    jsd: Float[np.ndarray, "t"]

    @property
    def other_choice(self) -> float:
        """SDT: the share of places with another first choice."""
        return float(self.other.mean())

    @property
    def late_decision(self) -> float | None:
        """argmax_t KL_t / T, 0 … 1: how late the runs differ most; None where they do not differ."""
        return float(self.kl.argmax() / self.kl.size) if self.kl.any() else None


def trajectory(one: Sequence[Place], other: Sequence[Place]) -> Trajectory:
    """Of as many places on both sides, one at least."""
    pairs = list(zip(one, other, strict=True))
    return Trajectory(
        np.array([max(p, key=p.__getitem__) != max(q, key=q.__getitem__) for p, q in pairs]),
        np.array([kl_lower_bound(p, q) for p, q in pairs]),
        np.array([jensen_shannon_lower_bound(p, q) for p, q in pairs]),
    )
