"""What the rows of a batch can look at: parts of keys and values, each with its positions.

A part without a batch axis of its own (1) is shared by all rows: computed once, stored once. A slot that holds nothing
has the position NOWHERE, later than every query, so that the one predicate on positions hides it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Int

from whybox.engine.fast.slots import Slots

NOWHERE = 2**60


@dataclass(frozen=True, eq=False)
class Part:
    """Keys and values with their positions; n is the batch, or 1 where all rows share them, and so is m."""

    key: Float[torch.Tensor, "n g k d"]
    value: Float[torch.Tensor, "n g k dv"]
    positions: Int[np.ndarray, "m k"]


@runtime_checkable
class LayerKeys(Protocol):
    """One layer's keys and values so far: takes those of new rows, and gives everything that they may look at."""

    def extend(
        self,
        key: Float[torch.Tensor, "b q g d"],
        value: Float[torch.Tensor, "b q g dv"],
        positions: Int[np.ndarray, "m q"],
        window: int | None,
    ) -> tuple[Sequence[Part], "LayerKeys"]: ...


@dataclass(frozen=True, eq=False)
class Alone:
    """One sequence with its cache."""

    slots: Slots

    def extend(
        self,
        key: Float[torch.Tensor, "b q g d"],
        value: Float[torch.Tensor, "b q g dv"],
        positions: Int[np.ndarray, "m q"],
        window: int | None,
    ) -> tuple[Sequence[Part], "Alone"]:
        grown = self.slots.append(key[0].transpose(0, 1), value[0].transpose(0, 1), positions[0])
        part = Part(grown.key[None], grown.value[None], grown.positions[None])
        return (part,), Alone(grown if window is None else grown.roll(window))


@dataclass(frozen=True, eq=False)
class Behind:
    """Rows that go on, each its own way, behind a shared prefix (or behind nothing)."""

    shared: Slots | None
    own: Part | None = None

    def extend(
        self,
        key: Float[torch.Tensor, "b q g d"],
        value: Float[torch.Tensor, "b q g dv"],
        positions: Int[np.ndarray, "m q"],
        window: int | None,
    ) -> tuple[Sequence[Part], "Behind"]:
        own = _joined(self.own, Part(key.transpose(1, 2), value.transpose(1, 2), positions))
        prefix = self.shared
        if prefix is None or len(prefix) == 0:
            return (own,), Behind(self.shared, own)
        before = Part(prefix.key[None], prefix.value[None], prefix.positions[None])
        return (before, own), Behind(self.shared, own)


def _joined(before: Part | None, after: Part) -> Part:
    if before is None:
        return after
    return Part(
        torch.cat([before.key, after.key], dim=2),
        torch.cat([before.value, after.value], dim=2),
        np.concatenate([before.positions, after.positions], axis=1),
    )
