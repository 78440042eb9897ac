"""The attention budget: how much of a query's attention each named segment gets (METHODS D1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

SINK_LIMIT = 0.3  # a head whose first key gets more than this share of the row is left out of a mean lift


@dataclass(frozen=True, eq=False)
class Budget:
    """Shares [l h s] of one query's attention. Every key belongs to exactly one segment, so they sum to 1 (to
    1 − sink mass with learned sinks). first: the share of key 0 [l h]; visible: number of keys [l].
    """

    names: tuple[str, ...]
    shares: Float[np.ndarray, "l h s"]
    first: Float[np.ndarray, "l h"]
    sink_mass: Float[np.ndarray, "l h"]
    lengths: tuple[int, ...]
    visible: tuple[int, ...]

    def mean(self) -> dict[str, float]:
        """Share of each segment, mean over layers and heads."""
        return dict(zip(self.names, map(float, self.shares.mean(axis=(0, 1))), strict=True))

    def by_layer(self, name: str) -> list[float]:
        """Share of a segment, mean over the heads of each layer."""
        return [float(share) for share in self.shares[:, :, self.names.index(name)].mean(axis=1)]

    def per_head(self, name: str) -> Float[np.ndarray, "l h"]:
        return self.shares[:, :, self.names.index(name)]

    def lift(self, name: str) -> Float[np.ndarray, "l h"]:
        """(B / (1 − sink)) ÷ (len(s) / (n_q − 1)): 1 where a segment gets what its length would give it.

        sink: first key + sink mass. Where the sink takes all, the lift is 0.
        """
        left = 1 - self.first - self.sink_mass
        share = np.divide(self.per_head(name), left, out=np.zeros_like(left), where=left > 0)
        expected = self.lengths[self.names.index(name)] / np.maximum(np.asarray(self.visible) - 1, 1)
        return share / expected[:, None]

    def mean_lift(self, name: str) -> float | None:
        """Mean lift over the heads whose sink share in this row is at most .3; None when there is none."""
        reading = self.first + self.sink_mass <= SINK_LIMIT
        return float(self.lift(name)[reading].mean()) if reading.any() else None


def budget(
    rows: Sequence[Float[np.ndarray, "h k"]],
    segments: Mapping[str, Sequence[int]],
    key_positions: Sequence[np.ndarray],
    sink_masses: Sequence[Float[np.ndarray, "h"]] | None = None,
) -> Budget:
    """The budget of one query from its pattern row in every layer.

    segments: name → positions. key_positions: for each layer the positions of the row's keys (a window keeps the last).
    """
    names = tuple(segments)
    shares = np.stack([_shares(row, places, segments) for row, places in zip(rows, key_positions, strict=True)])
    first = np.stack([row[:, places == 0].sum(axis=1) for row, places in zip(rows, key_positions, strict=True)])
    masses = np.stack(sink_masses) if sink_masses is not None else np.zeros_like(first)
    lengths = tuple(len(positions) for positions in segments.values())
    return Budget(names, shares, first, masses, lengths, tuple(len(places) for places in key_positions))


def _shares(
    row: Float[np.ndarray, "h k"], places: np.ndarray, segments: Mapping[str, Sequence[int]]
) -> Float[np.ndarray, "h s"]:
    columns = [row[:, np.isin(places, np.asarray(held))].sum(axis=1) for held in segments.values()]
    return np.stack(columns, axis=1)
