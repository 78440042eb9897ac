"""The watcher of a batch: wishes shared by all rows, edits of each row's own.

The same law as `whybox.engine.trace.Tap`, on tensors [b, *axes of the site].
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

import numpy as np
import torch
from torch import Tensor

from whybox.engine.edit import Action, Add, Boost, Cut, Edit, Scale, Set, Zero, check, row_axis, selected, site_axes
from whybox.engine.fast.keys import NOWHERE
from whybox.engine.trace import OVERFLOW, Key, Wish, wanted
from whybox.errors import NonFiniteError, SiteError
from whybox.spec import Spec
from whybox.statistics.rows import AttentionRows, AttentionWish

Array = np.ndarray
Index = tuple[slice | Tensor, ...]


@dataclass(frozen=True, eq=False)
class Places:
    """Absolute positions of the rows of the axes q and k, for each sequence of the batch: [b q], [b k] (or [1 …]).

    lengths: how many of the rows of q are no padding.
    """

    query: Array
    key: Array
    lengths: Sequence[int]

    def of(self, row: int) -> Mapping[str, Array]:
        return {"q": self._row(self.query, row)[: self.lengths[row]], "k": self._row(self.key, row)}

    def padding(self, row: int) -> int:
        """How many of the last keys are padding."""
        behind = self._row(self.key, row)[::-1] < NOWHERE
        return int(behind.argmax()) if behind.any() else len(behind)

    @staticmethod
    def _row(positions: Array, row: int) -> Array:
        shown: Array = positions[row if len(positions) > 1 else 0]
        return shown


@dataclass
class BatchTap:
    """`at` is called at every site; `watches` tells beforehand whether anybody is there to see or change it.

    records: layer → statistics of its attention, where they are asked for: of a batch of one. edited: by anybody.
    """

    spec: Spec
    see: Iterable[Wish]
    edits: Sequence[Sequence[Edit]]
    strict: bool = False
    statistics: AttentionWish | None = None
    records: dict[int, AttentionRows] = field(default_factory=dict)
    kept: list[dict[Key, Array]] = field(init=False)
    changed: list[list[bool]] = field(init=False)
    edited: bool = field(init=False)
    largest: str = "nothing"

    def __post_init__(self) -> None:
        for edit in {id(edit): edit for edits in self.edits for edit in edits}.values():
            check(edit, self.spec)
        self.kept = [{} for _ in self.edits]
        self.changed = [[False] * len(edits) for edits in self.edits]
        self.edited = any(self.edits)
        self._wanted = wanted(self.see, self.spec)
        self._edited = _by_site(self.edits, len(self.spec.layers))
        self._busy = {layer for _, layer in (*self._wanted, *self._edited)}
        self._indices: dict[tuple[int, int, int, str], tuple[Places, Index]] = {}

    def watches(self, site: str, layer: int | None) -> bool:
        return self.strict or (site, layer) in self._wanted or (site, layer) in self._edited

    def busy_in(self, layer: int) -> bool:
        """Whether any site of a layer is watched."""
        return self.strict or self.statistics is not None or layer in self._busy

    @property
    def keeps(self) -> bool:
        """Whether anything is kept of the layers."""
        return self.statistics is not None or bool(self._wanted)

    def edits_at(self, site: str, layer: int | None) -> bool:
        return (site, layer) in self._edited

    def at(self, site: str, layer: int | None, value: Tensor, places: Places, visible: Tensor | None = None) -> Tensor:
        """The value [b, *axes] that goes on from here; `visible` [n q k] for scores."""
        if (site, layer) in self._edited:
            value = self._edit(site, layer, value, places, visible)
        if self.strict:
            self._require_finite(site, layer, value, places)
        if (site, layer) in self._wanted:
            self.keep(site, layer, value, places)
        return value

    def _edit(self, site: str, layer: int | None, value: Tensor, places: Places, visible: Tensor | None) -> Tensor:
        value = value.clone()
        axes = site_axes(site, None if layer is None else self.spec.layers[layer].mlp)
        for row, number in self._edited[site, layer]:
            if row >= len(value):  # joins in a later layer
                continue
            edit = self.edits[row][number]
            index = self._index(row, number, axes, value.shape[1:], places)
            if index is None:
                continue
            seen = None if visible is None else visible[row if len(visible) > 1 else 0]
            known = self.changed[row][number]
            self.changed[row][number] |= _act(edit.action, value[row], index, seen, known)
        return value

    def _index(
        self, row: int, number: int, axes: tuple[str, ...], shape: Sequence[int], places: Places
    ) -> Index | None:
        key = (row, number, id(places), axes[0])
        if key not in self._indices:
            self._indices[key] = places, _located(self.edits[row][number], axes, shape, places.of(row))
        found = self._indices[key][1]
        return found or None

    def keep(self, site: str, layer: int | None, value: Tensor, places: Places) -> None:
        """Each row without its padding, as NumPy. What is kept otherwise is kept by another tap."""
        axes = site_axes(site, None if layer is None else self.spec.layers[layer].mlp)
        for row, kept in enumerate(self.kept[: len(value)]):
            length = places.lengths[row]
            cut = value[row].narrow(axes.index("q"), 0, length) if "q" in axes else value[row][:length]
            if "q" in axes and "k" in axes:
                cut = cut.narrow(axes.index("k"), 0, cut.shape[axes.index("k")] - places.padding(row))
            kept[site, layer] = as_numpy(cut)

    def _require_finite(self, site: str, layer: int | None, value: Tensor, places: Places) -> None:
        finite = torch.isfinite(value)
        bad = ~finite & ~torch.isneginf(value) if site == "scores" else ~finite
        if bool(bad.any()):
            axes = site_axes(site, None if layer is None else self.spec.layers[layer].mlp)
            axis = row_axis(axes)
            row = int(torch.nonzero(bad)[0, 0])
            offsets = torch.nonzero(bad[row].movedim(axis, 0).flatten(1).any(dim=1))
            position = int(places.of(row)[axes[axis]][int(offsets[0])])
            raise NonFiniteError(site, layer, position, self.largest, OVERFLOW)
        shown = value[finite].abs().max() if value.numel() else torch.zeros(())
        self.largest = f"largest |{site}| was {float(shown):.6g}"


def _by_site(edits: Sequence[Sequence[Edit]], layers: int) -> dict[Key, list[tuple[int, int]]]:
    """(site, layer) → the (row, number) of each edit that acts there, in order."""
    found: dict[Key, list[tuple[int, int]]] = {}
    for row, many in enumerate(edits):
        for number, edit in enumerate(many):
            for key in _keys_of(edit, layers):
                found.setdefault(key, []).append((row, number))
    return found


def _keys_of(edit: Edit, layers: int) -> list[Key]:
    if edit.site in ("embed", "final", "logits"):
        return [(edit.site, None)]
    return [(edit.site, layer) for layer in (range(layers) if edit.layers is None else edit.layers)]


def _located(edit: Edit, axes: tuple[str, ...], shape: Sequence[int], places: Mapping[str, Array]) -> Index:
    """The selection as slices where it is contiguous, else as tensors that broadcast; () when it selects nothing."""
    chosen = dict(edit.at)
    rows = [places.get(letter, np.arange(size)) for letter, size in zip(axes, shape, strict=True)]
    parts = [selected(chosen.get(letter), row) for letter, row in zip(axes, rows, strict=True)]
    parts = [part[row[part] < NOWHERE] for part, row in zip(parts, rows, strict=True)]
    if any(part.size == 0 for part in parts):
        return ()
    if all(_contiguous(part) for part in parts):
        return tuple(slice(int(part[0]), int(part[-1]) + 1) for part in parts)
    return tuple(map(torch.from_numpy, np.ix_(*parts)))


def _contiguous(offsets: Array) -> bool:
    return bool(offsets[-1] - offsets[0] + 1 == len(offsets))


def _act(action: Action, value: Tensor, where: Index, visible: Tensor | None, known: bool) -> bool:
    """Writes the edited selection into value [*axes]; whether any element changed (not asked again once known)."""
    before = value[where].clone()
    after = _acted(action, value, before, where, visible)
    value[where] = after
    return known or _differs(before, after, where, visible)


def _acted(action: Action, value: Tensor, before: Tensor, where: Index, visible: Tensor | None) -> Tensor:
    match action:
        case Zero():
            return torch.zeros_like(before)
        case Scale(factor):
            return before * factor
        case Set(given):
            return _fitted(given, before)
        case Add(given):
            return before + _fitted(given, before)
        case Cut():
            return torch.full_like(before, -torch.inf)
        case Boost():
            return before + _lift(value, where, visible)
        case _:
            assert_never(action)


def _fitted(given: Array, before: Tensor) -> Tensor:
    try:
        fitted = np.broadcast_to(given, before.shape)
    except ValueError:
        raise SiteError(f"a value of shape {given.shape} does not fit the selected {tuple(before.shape)}") from None
    return torch.from_numpy(np.array(fitted, order="C")).to(before)


def _lift(scores: Tensor, where: Index, visible: Tensor | None) -> Tensor:
    """β ≥ 0 per head and row [h q 1]: strongest visible key minus strongest visible named key."""
    seen = scores if visible is None else scores.masked_fill(~visible, -torch.inf)
    named = seen[where].amax(dim=-1, keepdim=True)
    heads, queries, _ = where
    everything: Index = (heads, queries, slice(None))
    if isinstance(heads, Tensor) and isinstance(queries, Tensor):
        everything = (heads[..., 0], queries[..., 0])
    strongest = seen[everything].amax(dim=-1, keepdim=True)
    return torch.where(torch.isfinite(named), strongest - named, 0).to(scores.dtype)


def _differs(before: Tensor, after: Tensor, where: Index, visible: Tensor | None) -> bool:
    """Whether any element changed; of scores, any that its query can see."""
    differs = (before != after) & ~(torch.isnan(before) & torch.isnan(after))
    if visible is not None:
        _, queries, keys = where
        seen = visible[queries, keys] if isinstance(queries, slice) else visible[queries[0], keys[0]]  # type: ignore[index]
        differs = differs & seen
    return bool(differs.any())


def as_numpy(tensor: Tensor) -> Array:
    """A read-only copy on the host: float64 stays, all else is float32."""
    kept = tensor.dtype if tensor.dtype is torch.float64 else torch.float32
    array: Array = tensor.to("cpu", kept, copy=True).numpy()
    array.flags.writeable = False
    return array
