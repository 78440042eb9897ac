"""What the rows of a batch can look at: parts of keys and values, each with its positions.

A part without a batch axis of its own (1) is shared by all rows: computed once, stored once. A slot that holds nothing
has the position NOWHERE, later than every query, so that the one predicate on positions hides it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Int

from whybox.engine.fast.slots import Slots

NOWHERE = 2**60


def padded(texts: Sequence[Sequence[int]], start: int) -> tuple[Int[np.ndarray, "b q"], Int[np.ndarray, "b q"]]:
    """Ids and positions [b q] of texts that begin at `start`; padding repeats the last id, and stands nowhere."""
    width = max(map(len, texts))
    ids = np.array([[*text, *list(text[-1:]) * (width - len(text))] for text in texts], np.int64)
    column, lengths = np.arange(width)[None], np.array([[len(text)] for text in texts])
    return ids, np.where(column < lengths, start + column, NOWHERE + column - lengths)


@dataclass(frozen=True, eq=False)
class Part:
    """Keys and values with their positions; n is the batch, or 1 where all rows share them, and so is m."""

    key: Float[torch.Tensor, "n g k d"]
    value: Float[torch.Tensor, "n g k dv"]
    positions: Int[np.ndarray, "m k"]

    @classmethod
    def of(cls, slots: Slots) -> "Part":
        """The slots of one sequence, for all rows."""
        return cls(slots.key.unsqueeze(0), slots.value.unsqueeze(0), slots.positions[None])


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
        grown = self.slots.append(key.squeeze(0).transpose(0, 1), value.squeeze(0).transpose(0, 1), positions[0])
        return (Part.of(grown),), Alone(grown if window is None else grown.roll(window))


@dataclass(frozen=True, eq=False)
class Behind:
    """Rows that look at a shared prefix (or at nothing) before them, and at their own keys, which become `own`."""

    shared: Part | None
    own: Part | None = None

    def extend(
        self,
        key: Float[torch.Tensor, "b q g d"],
        value: Float[torch.Tensor, "b q g dv"],
        positions: Int[np.ndarray, "m q"],
        window: int | None,
    ) -> tuple[Sequence[Part], "Behind"]:
        own = Part(key.transpose(1, 2), value.transpose(1, 2), positions)
        if self.shared is None or self.shared.positions.size == 0:
            return (own,), Behind(self.shared, own)
        return (self.shared, own), Behind(self.shared, own)


@dataclass(frozen=True, eq=False)
class Passing:
    """Rows that look at a shared prefix before them and at their own keys, which nobody keeps."""

    shared: Part

    def extend(
        self,
        key: Float[torch.Tensor, "b q g d"],
        value: Float[torch.Tensor, "b q g dv"],
        positions: Int[np.ndarray, "m q"],
        window: int | None,
    ) -> tuple[Sequence[Part], "Passing"]:
        parts, _ = Behind(self.shared).extend(key, value, positions, window)
        return parts, self


@dataclass(frozen=True, eq=False)
class Beside:
    """One sequence with its cache, and neighbours behind the same cache, whose keys nobody keeps."""

    slots: Slots

    def extend(
        self,
        key: Float[torch.Tensor, "b q g d"],
        value: Float[torch.Tensor, "b q g dv"],
        positions: Int[np.ndarray, "m q"],
        window: int | None,
    ) -> tuple[Sequence[Part], Alone]:
        parts, _ = Behind(Part.of(self.slots)).extend(key, value, positions, window)
        own = int((positions[0] < NOWHERE).sum())  # padding stands behind it, and is nobody's key
        _, grown = Alone(self.slots).extend(key[:1, :own], value[:1, :own], positions[:1, :own], window)
        return parts, grown


@dataclass(eq=False)
class Columns:
    """The columns of a batch's buffers, the same in every layer: the position that each slot holds.

    filled: columns taken so far. open: those that the pass at hand fills. shown: the positions up to there, one array
    for all layers.
    """

    positions: Int[np.ndarray, "b room"]
    filled: int = 0
    open: slice = field(init=False)
    shown: Int[np.ndarray, "b k"] = field(init=False)

    def fill(self, positions: Int[np.ndarray, "b q"]) -> None:
        """The next columns are for these rows."""
        self.open = slice(self.filled, self.filled + positions.shape[1])
        self.filled = self.open.stop
        self.positions[:, self.open] = positions
        self.shown = self.positions[:, : self.filled]


@dataclass(frozen=True, eq=False)
class Buffered:
    """Rows that go on, each its own way, behind a shared prefix (or behind nothing): buffers, written in place.

    Memory is taken once for the whole of a batch. What no row holds yet is 0: a slot that nobody sees still has to be
    finite.
    """

    shared: Part | None
    key: Float[torch.Tensor, "b g room d"]
    value: Float[torch.Tensor, "b g room dv"]
    columns: Columns

    def extend(
        self,
        key: Float[torch.Tensor, "b q g d"],
        value: Float[torch.Tensor, "b q g dv"],
        positions: Int[np.ndarray, "m q"],
        window: int | None,
    ) -> tuple[Sequence[Part], "Buffered"]:
        place, end = self.columns.open, self.columns.filled
        self.key[:, :, place] = key.transpose(1, 2)
        self.value[:, :, place] = value.transpose(1, 2)
        own = Part(self.key[:, :, :end], self.value[:, :, :end], self.columns.shown)
        return (own,) if self.shared is None else (self.shared, own), self

    def rows(self, chosen: slice | Int[torch.Tensor, "n"], columns: Columns) -> "Buffered":
        """Some of the rows: a slice shares the buffers, a list of rows has buffers of its own."""
        return Buffered(self.shared, self.key[chosen], self.value[chosen], columns)


def joined(batches: Sequence[Buffered], columns: Columns) -> Buffered:
    """The rows of all, behind nothing: what they shared stands in front of the keys of each."""
    width = columns.positions.shape[1]
    keys = [_behind(each.shared and each.shared.key, each.key, each.columns.filled, width) for each in batches]
    values = [_behind(each.shared and each.shared.value, each.value, each.columns.filled, width) for each in batches]
    return Buffered(None, torch.cat(keys), torch.cat(values), columns)


def _behind(
    shared: Float[torch.Tensor, "1 g k d"] | None, own: Float[torch.Tensor, "b g room d"], filled: int, width: int
) -> Float[torch.Tensor, "b g width d"]:
    """The filled slots of every row behind those that all share, and room up to the width."""
    before = own[:, :, :0] if shared is None else shared.expand(len(own), -1, -1, -1)
    after = own.new_zeros(len(own), own.shape[1], width - before.shape[2] - filled, own.shape[3])
    return torch.cat([before, own[:, :, :filled], after], dim=2)
