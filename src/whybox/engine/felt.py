"""Where a change is first felt: the law by which a counterfactual recomputes only what can change.

In a causal decoder a row reads itself and earlier rows, and a layer reads the layers below. So a change that is first
felt at layer L and position P leaves every value at layers below L, and every value at positions before P, exactly as
it was. For `scores` and `pattern`, a position is the query's, and the values are those of keys that it can see.

Two things break the causal order, and are told apart here: an edit that gives weight in `pattern` to a key that the
query cannot see, and RoPE whose frequencies depend on the length of the run.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import takewhile
from typing import Protocol, runtime_checkable

import numpy as np

from whybox.engine.edit import Add, Edit, Index, Set, selected
from whybox.engine.trace import Change
from whybox.parts.rope import frequencies
from whybox.sites import BY_NAME
from whybox.spec import Moe, Rope, Spec

Array = np.ndarray
Ids = tuple[int, ...]


@dataclass(frozen=True)
class Felt:
    """The earliest layer and position whose values may differ; `final` and `logits` count as layer len(layers)."""

    layer: int
    position: int

    def __or__(self, other: "Felt") -> "Felt":
        """Both changes at once: the earlier layer and the earlier position."""
        return Felt(min(self.layer, other.layer), min(self.position, other.position))


@runtime_checkable
class Base(Protocol):
    """What a counterfactual departs from; a Trace is one. `edits` hold in every counterfactual as well."""

    @property
    def spec(self) -> Spec: ...
    @property
    def ids(self) -> Ids: ...
    @property
    def edits(self) -> tuple[Edit, ...]: ...
    @property
    def rope_length(self) -> int: ...


def first_felt(change: Change, base: Base) -> Felt:
    """The earliest layer and position whose values the change can alter.

    Nothing can alter: Felt(len(layers) + 1, len(ids)). A text cut short is such a change: what is left of it stays.
    """
    ids = change.text(base.ids)
    ahead = list(foresights(base.edits, max(len(ids), len(base.ids))))
    lost = [Felt(0, row) for row in ahead] if len(ids) < len(base.ids) else []  # they read what is gone
    parts = [*_by_text(ids, base), *_by_length(ids, base), *_by_edits(change.edits, len(ids), base.spec), *lost]
    parts = [part for part in parts if part.position < len(ids)]
    if not parts:
        return nothing(base.spec, len(ids))
    felt = reduce(Felt.__or__, parts)
    return Felt(felt.layer, min([felt.position, *ahead]))


def untouched(edits: Sequence[Edit], length: int, spec: Spec) -> int:
    """How many leading positions of a text of that length keep their values under edits."""
    return min([felt.position for felt in _by_edits(edits, length, spec)], default=length)


def reaches(edit: Edit, felt: Felt, length: int, spec: Spec) -> bool:
    """Whether an edit acts on values that a change first felt there leaves as they were."""
    return any(own.layer < felt.layer or own.position < felt.position for own in _by_edits([edit], length, spec))


def nothing(spec: Spec, length: int) -> Felt:
    """Beyond the last layer and the last position: all values stay."""
    return Felt(len(spec.layers) + 1, length)


def rope_length(ids: Ids, base: Base) -> int:
    """Tokens for which a counterfactual's RoPE is chosen: the base run's reserve behind its text is kept."""
    return base.rope_length + len(ids) - len(base.ids)


def common(a: Sequence[int], b: Sequence[int]) -> int:
    """Length of the longest common prefix."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(a, b, strict=False)))


def _by_text(ids: Ids, base: Base) -> Iterator[Felt]:
    if ids != base.ids:
        yield Felt(0, common(ids, base.ids))


def _by_length(ids: Ids, base: Base) -> Iterator[Felt]:
    """Other frequencies turn every key anew, from the first layer that uses them."""
    before, after = base.rope_length, rope_length(ids, base)
    if before == after:
        return
    ropes = [layer.attention.rope for layer in base.spec.layers]
    turned = {rope for rope in set(ropes) if rope is not None and differ(rope, before, after)}
    yield from (Felt(layer, 0) for layer, rope in enumerate(ropes) if rope in turned)


def differ(rope: Rope, before: int, after: int) -> bool:
    """Whether runs of these two lengths turn otherwise."""
    return not np.array_equal(frequencies(rope, before), frequencies(rope, after))


def _by_edits(edits: Sequence[Edit], length: int, spec: Spec) -> Iterator[Felt]:
    for edit in edits:
        windows = {layer: _window(edit, layer, spec) for layer in _layers(edit, spec)}
        places = {window: _place(edit, length, window) for window in set(windows.values())}
        for layer, window in windows.items():
            place = places[window]
            if place is not None:
                yield Felt(layer, place)


def _layers(edit: Edit, spec: Spec) -> list[int]:
    """Layers that hold the edited site: 0 for what enters the first one, len(layers) for what follows the last."""
    site = BY_NAME[edit.site]
    if not site.per_layer:
        return [0 if site.name == "embed" else len(spec.layers)]
    named = range(len(spec.layers)) if edit.layers is None else sorted(edit.layers)
    return [layer for layer in named if edit.site != "router" or isinstance(spec.layers[layer].mlp, Moe)]


def _window(edit: Edit, layer: int, spec: Spec) -> int | None:
    return spec.layers[layer].attention.window if edit.site in ("scores", "pattern") else None


def _place(edit: Edit, length: int, window: int | None) -> int | None:
    """The first row that an edit alters in a layer with this window; None where it meets no value."""
    chosen, axes = dict(edit.at), BY_NAME[edit.site].axes.split()
    if any(_is_empty(index) for index in chosen.values()):
        return None
    queries, keys = (selected(chosen.get(axis), np.arange(length)) for axis in ("q", "k"))
    if queries.size == 0 or keys.size == 0:
        return None
    if "k" not in axes:
        return int(queries[0])
    if "q" not in axes:
        return int(keys[0])
    return int(queries[0]) if _unmasked(edit) else _first_edge(queries, keys, window)


def _first_edge(queries: Array, keys: Array, window: int | None) -> int | None:
    """The first query that sees one of the keys. Both rise."""
    below = np.searchsorted(keys, queries, side="right")
    seen = below > 0
    if window is not None:
        seen &= keys[np.maximum(below - 1, 0)] > queries - window
    return int(queries[seen][0]) if seen.any() else None


def _unmasked(edit: Edit) -> bool:
    """Whether an edit gives keys a weight that no mask takes back: a query may come to read a later position."""
    return edit.site == "pattern" and isinstance(edit.action, Set | Add)


def foresights(edits: Sequence[Edit], length: int) -> Iterator[int]:
    """The first row of each edit by which a row reads later ones: what changes in those is felt in it."""
    for edit in filter(_unmasked, edits):
        chosen = dict(edit.at)
        queries, keys = (selected(chosen.get(axis), np.arange(length)) for axis in ("q", "k"))
        if queries.size and keys.size and keys[-1] > queries[0]:
            yield int(queries[0])


def _is_empty(index: Index) -> bool:
    match index:
        case int():
            return False
        case slice():
            return index.stop is not None and (index.start or 0) >= index.stop
        case _:
            return len(index) == 0
