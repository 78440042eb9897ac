"""The attention budget: how much of a query's attention each named segment gets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from whybox.text.prompt import Segment

SINK_LIMIT = 0.3  # a head whose first key gets more than this share of the row is left out of a mean lift


@dataclass(frozen=True, eq=False)
class QueryRow:
    """One query in one layer: weights on the keys that it sees, their positions, and what a learned sink takes."""

    pattern: Float[np.ndarray, "h k"]
    places: Int[np.ndarray, "k"]
    sink_mass: Float[np.ndarray, "h"]


@dataclass(frozen=True, eq=False)
class Budget:
    """Shares [h s] of one query's attention, for each layer. Every key belongs to one segment, so the shares of a
    head sum to 1 (to 1 − sink mass with learned sinks).

    first: weight on key 0 [h], for each layer; opening: the segment that holds it. drained: what the sink takes [h]
    (key 0 and sink mass), for each layer. visible: number of keys, for each layer.
    """

    names: tuple[str, ...]
    shares: tuple[Float[np.ndarray, "_ s"], ...]
    first: tuple[Float[np.ndarray, "_"], ...]
    opening: str | None
    drained: tuple[Float[np.ndarray, "_"], ...]
    lengths: tuple[int, ...]
    visible: tuple[int, ...]

    def mean(self) -> dict[str, float]:
        """Share of each segment, mean over all heads."""
        return dict(zip(self.names, map(float, np.concatenate(self.shares).mean(axis=0)), strict=True))

    def by_layer(self, name: str) -> list[float]:
        """Share of a segment, mean over the heads of each layer."""
        return [float(shares.mean()) for shares in self.per_head(name)]

    def per_head(self, name: str) -> tuple[Float[np.ndarray, "_"], ...]:
        """Share of a segment [h], for each layer."""
        return tuple(shares[:, self.names.index(name)] for shares in self.shares)

    def lift(self, name: str) -> tuple[Float[np.ndarray, "_"], ...]:
        """(B / (1 − sink)) ÷ (len(s) / (n_q − 1)) [h], for each layer: 1 is what a segment's length would give it.

        sink: first key + sink mass. The first key counts in no segment here, neither its weight nor its length, so
        that lifts average to 1 over a row. Where the sink takes all, the lift is 0; so it is for a segment without
        other tokens.
        """
        length = self.behind_first(name)
        if not length:
            return tuple(np.zeros(len(shares)) for shares in self.shares)
        opens = name == self.opening
        shares = (
            share - first if opens else share for share, first in zip(self.per_head(name), self.first, strict=True)
        )
        layers = zip(shares, self.drained, self.visible, strict=True)
        return tuple(_lift(share, drained, length / max(seen - 1, 1)) for share, drained, seen in layers)

    def mean_lift(self, name: str) -> float | None:
        """Mean lift over the heads whose sink share in this row is at most .3.

        None when there is no such head, and for a segment without tokens behind the first key.
        """
        if not self.behind_first(name):
            return None
        reading = np.concatenate(self.drained) <= SINK_LIMIT
        return float(np.concatenate(self.lift(name))[reading].mean()) if reading.any() else None

    def lift_by_layer(self, name: str) -> list[float | None]:
        """The same for the heads of each layer."""
        empty = not self.behind_first(name)
        read = [drained <= SINK_LIMIT for drained in self.drained]
        layers = zip(self.lift(name), read, strict=True)
        return [None if empty or not kept.any() else float(lift[kept].mean()) for lift, kept in layers]

    def behind_first(self, name: str) -> int:
        """Tokens of a segment behind the first key."""
        return self.lengths[self.names.index(name)] - (name == self.opening)


def budget(
    rows: Sequence[Float[np.ndarray, "_ _"]],
    segments: Mapping[str, Sequence[int]],
    key_positions: Sequence[Int[np.ndarray, "_"]],
    sink_masses: Sequence[Float[np.ndarray, "_"]] | None = None,
) -> Budget:
    """The budget of one query from its pattern row [h k] in every layer.

    segments: name → positions. key_positions: for each layer the positions of the row's keys (a window keeps the last).
    """
    layers = list(zip(rows, key_positions, strict=True))
    first = tuple(row[:, places == 0].sum(axis=1) for row, places in layers)
    masses = sink_masses if sink_masses is not None else [np.zeros(len(row)) for row in rows]
    return Budget(
        names=tuple(segments),
        shares=tuple(_shares(row, places, segments) for row, places in layers),
        first=first,
        opening=next((name for name, held in segments.items() if 0 in held), None),
        drained=tuple(taken + mass for taken, mass in zip(first, masses, strict=True)),
        lengths=tuple(len(positions) for positions in segments.values()),
        visible=tuple(len(places) for places in key_positions),
    )


def budget_of(rows: Sequence[QueryRow], segments: Sequence[Segment]) -> Budget:
    """The same by the segments of a prompt."""
    return budget(
        [row.pattern for row in rows],
        {segment.name: range(segment.start, segment.end) for segment in segments},
        [row.places for row in rows],
        [row.sink_mass for row in rows],
    )


def _shares(
    row: Float[np.ndarray, "h k"], places: Int[np.ndarray, "k"], segments: Mapping[str, Sequence[int]]
) -> Float[np.ndarray, "h s"]:
    columns = [row[:, np.isin(places, np.asarray(held))].sum(axis=1) for held in segments.values()]
    return np.stack(columns, axis=1)


def _lift(share: Float[np.ndarray, "h"], drained: Float[np.ndarray, "h"], expected: float) -> Float[np.ndarray, "h"]:
    left = 1 - drained
    return np.divide(share, left, out=np.zeros_like(left), where=left > 0) / expected
