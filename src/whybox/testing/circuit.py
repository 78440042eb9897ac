"""Circuits as data: heads and MLP units by what they match and what they write, before they become weights."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from whybox.testing.stream import Rows

Place = tuple[int, int]  # layer, head


@dataclass(frozen=True, eq=False)
class Term:
    """A share of the score: weight · Σ_i (query_i · x_q)(key_i · x_k)."""

    weight: float
    query: Rows
    key: Rows


@dataclass(frozen=True, eq=False)
class Write:
    """What attended keys write: weight · Σ_i into_i (reads_i · x_k)."""

    weight: float
    reads: Rows
    into: Rows


@dataclass(frozen=True, eq=False)
class Head:
    """Scores are the sum of the terms; the output is the sum of the writes."""

    terms: tuple[Term, ...]
    writes: tuple[Write, ...]

    @property
    def width(self) -> int:
        """Head dimensions that it needs."""
        return max(sum(len(term.key) for term in self.terms), sum(len(write.reads) for write in self.writes), 1)


@dataclass(frozen=True, eq=False)
class Units:
    """MLP units: Σ_i into_i · max(0, reads_i · x − threshold_i)."""

    reads: Rows
    into: Rows
    threshold: Float[np.ndarray, "n"]


@dataclass(frozen=True, eq=False)
class Circuit:
    """A whole model: heads by place, units by layer, and what else differs between layers.

    groups: query heads that share one key/value head, by layer (1 where not named).
    windows: sliding windows by layer.
    """

    layers: int
    heads: Mapping[Place, Head]
    units: Mapping[int, tuple[Units, ...]] = field(default_factory=dict)
    groups: Mapping[int, int] = field(default_factory=dict)
    windows: Mapping[int, int] = field(default_factory=dict)
