"""Edits: one change of a run, as data. An edit names a site, layers, a selection by axis letter, and an action.

zero("head_out", 3, h=4)                       head 4 of layer 3 writes nothing
cut(q=slice(56, None), k=range(20, 30))        no later query sees these keys, in any layer
boost(q=56, k=range(30, 40), layers=(18, 20))  the strongest named key is lifted to the strongest key
set_to("resid_mid", 7, value, q=12)            a patched activation
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, SupportsIndex, assert_never

import numpy as np

from whybox.engine.wishes import number, real, whole_numbers
from whybox.errors import SiteError, UsageError
from whybox.sites import BY_NAME, require_has, require_site
from whybox.spec import Mlp, Moe, Spec

Index = int | slice | range | tuple[int, ...]
Numbers = SupportsIndex | Iterable[SupportsIndex]  # NumPy's whole numbers and arrays of them too
Array = np.ndarray


@dataclass(frozen=True)
class Zero:
    """value := 0 (at `pattern`: the mixed value is dropped, without renormalisation)."""


@dataclass(frozen=True)
class Scale:
    """value := factor · value"""

    factor: float


@dataclass(frozen=True, eq=False)
class Set:
    """value := given, broadcast over the selection."""

    value: Array


@dataclass(frozen=True, eq=False)
class Add:
    """value := value + given, broadcast over the selection."""

    value: Array


@dataclass(frozen=True)
class Cut:
    """score := −∞ before the softmax, so that the row renormalises."""


@dataclass(frozen=True)
class Boost:
    """score + β, β ≥ 0 per row and head, so that the strongest named key equals the strongest visible key."""


Action = Zero | Scale | Set | Add | Cut | Boost


@dataclass(frozen=True)
class Edit:
    """One change. `layers` None means every layer; `at` selects by axis letter, axes left out are whole."""

    site: str
    layers: tuple[int, ...] | None
    at: tuple[tuple[str, Index], ...]
    action: Action

    def touches(self, site: str, layer: int | None) -> bool:
        return self.site == site and (layer is None or self.layers is None or layer in self.layers)


def zero(site: str, layers: Numbers | None = None, **at: Numbers | slice) -> Edit:
    """The selection := 0. Off the distribution that the model knows: read it beside a mean or resample."""
    return _edit(site, layers, at, Zero())


def scale(site: str, factor: float, layers: Numbers | None = None, **at: Numbers | slice) -> Edit:
    """The selection multiplied by a factor."""
    return _edit(site, layers, at, Scale(number(f"factor of {site}", factor)))


def set_to(site: str, value: Array | float, layers: Numbers | None = None, **at: Numbers | slice) -> Edit:
    """The selection := a value, broadcast over it: a patch when the value comes from another trace."""
    return _edit(site, layers, at, Set(real(f"value of {site}", value)))


def add(site: str, value: Array | float, layers: Numbers | None = None, **at: Numbers | slice) -> Edit:
    """A value, broadcast over the selection, added to it."""
    return _edit(site, layers, at, Add(real(f"value of {site}", value)))


def cut(layers: Numbers | None = None, **at: Numbers | slice) -> Edit:
    """Attention edges removed before the softmax: select by h (heads), q (queries), k (keys)."""
    return _edit("scores", layers, at, Cut())


def boost(layers: Numbers | None = None, **at: Numbers | slice) -> Edit:
    """Attention edges lifted to the strongest key of their row: select by h, q, k."""
    return _edit("scores", layers, at, Boost())


def edits_of(given: object) -> tuple[Edit, ...]:
    """Edits in a row. UsageError for what is none."""
    found: tuple[object, ...] = tuple(given) if isinstance(given, Iterable) else (None,)
    edits = tuple(each for each in found if isinstance(each, Edit))
    if len(edits) < len(found):
        raise UsageError(f"edits: expected a list of edits, found {given!r}", "see docs/python.md#edits")
    return edits


def portion(edit: Edit, whole: range, part: range, spec: Spec) -> Edit:
    """The edit for a part of a run's positions: a value given row by row keeps those of that part."""
    if not isinstance(edit.action, Set | Add):
        return edit
    given = edit.action.value
    axes = site_axes(edit.site, spec.layers[edit.layers[0] if edit.layers else 0].mlp)
    letter, axis = axes[row_axis(axes)], row_axis(axes) - len(axes)  # from the right, as shapes are broadcast
    if given.ndim < -axis or given.shape[axis] == 1:
        return edit
    rows = np.asarray(whole)[selected(dict(edit.at).get(letter), np.asarray(whole))]
    if rows.size == 0:
        return edit
    if len(rows) != given.shape[axis]:
        raise SiteError(f"{edit.site}: a value of {given.shape[axis]} rows does not fit the {len(rows)} selected")
    kept = np.flatnonzero((rows >= part.start) & (rows < part.stop))
    return replace(edit, action=type(edit.action)(given.take(kept, axis)))


def check(edit: Edit, spec: Spec) -> None:
    """SiteError when the edit names a site, layer or axis that this model lacks, or an index out of range."""
    site = require_site(edit.site, spec)
    if edit.layers is not None:
        if not site.per_layer:
            raise SiteError(f"{site.name} is not inside a layer, so it takes no layer")
        for layer in edit.layers:
            require_has(edit.site, layer, spec)
    if isinstance(edit.action, Cut | Boost) and edit.site != "scores":
        raise SiteError(f"{type(edit.action).__name__.lower()} acts on scores, not on {edit.site}")
    axes = {letter for layer in spec.layers for letter in site_axes(edit.site, layer.mlp)}
    for letter, index in edit.at:
        if letter not in axes:
            raise SiteError(f"{edit.site} has no axis {letter!r}", f"its axes: {' '.join(sorted(axes))}")
        _require_in_range(edit, letter, index, spec)


def require_places(edits: Sequence[Edit], length: int) -> None:
    """SiteError where an edit names a position (q or k) at or beyond the end of a text of that length."""
    for edit in edits:
        for letter, index in edit.at:
            beyond = _named_place(index)
            if letter in ("q", "k") and beyond is not None and beyond >= length:
                raise SiteError(
                    f"{edit.site}: position {beyond} on axis {letter!r} is beyond the {length} tokens",
                    f"positions are 0 … {length - 1}; an open slice names all that come later",
                )


def _named_place(index: Index) -> int | None:
    """A position that must be there: the last of those named, of a slice with an end its first; of an open one none."""
    if isinstance(index, slice):
        return None if index.stop is None else index.start or 0
    return _extremes(index)[1]


def site_axes(site: str, layer_mlp: Mlp | Moe | None = None) -> tuple[str, ...]:
    """Axis letters of a site; in a mixture of experts `mlp_hidden` has the axis e as well."""
    if site == "mlp_hidden" and isinstance(layer_mlp, Moe):
        return ("q", "e", "f")
    return tuple(BY_NAME[site].axes.split())


def row_axis(axes: Sequence[str]) -> int:
    """Which axis of a site counts positions of the run: q, or k where there is no q."""
    return next(i for i, letter in enumerate(axes) if letter in ("q", "k"))


def first_bad_row(site: str, value: Array, axes: Sequence[str]) -> int | None:
    """The first row with NaN or Inf, None where all is finite. Scores may be −∞: a hidden key."""
    bad = np.isnan(value) | np.isposinf(value) if site == "scores" else ~np.isfinite(value)
    if not bad.any():
        return None
    axis = row_axis(axes)
    return int(np.flatnonzero(bad.any(axis=tuple(i for i in range(value.ndim) if i != axis)))[0])


def apply(
    edit: Edit, value: Array, axes: tuple[str, ...], places: Mapping[str, Array], visible: Array | None
) -> tuple[Array, bool]:
    """The edited copy of a site's value, and whether any element changed.

    axes: the letters of `value`'s axes. places: absolute positions of the rows of q and k. visible: [q k], for boosts.
    """
    chosen = dict(edit.at)
    parts = [selected(chosen.get(a), places.get(a, np.arange(n))) for a, n in zip(axes, value.shape, strict=True)]
    if any(part.size == 0 for part in parts):
        return value, False
    where = np.ix_(*parts)
    before = value[where]
    after = _acted(edit.action, value, where, visible)
    if not _differs(before, after, where, visible):
        return value, False
    edited = value.copy()
    edited[where] = after
    return edited, True


def _differs(before: Array, after: Array, where: tuple[Array, ...], visible: Array | None) -> bool:
    """Whether any element changed; of scores, any that its query can see."""
    same = (before == after) | ((before != before) & (after != after))
    if visible is None:
        return not same.all()
    _, queries, keys = where
    return bool((~same & visible[queries[0], keys[0]]).any())


def _acted(action: Action, value: Array, where: tuple[Array, ...], visible: Array | None) -> Array:
    before = value[where]
    match action:
        case Zero():
            return np.zeros_like(before)
        case Scale(factor):
            return before * value.dtype.type(factor)
        case Set(given):
            return _fitted(given, before)
        case Add(given):
            return before + _fitted(given, before)
        case Cut():
            return np.full_like(before, -np.inf)
        case Boost():
            return before + _lift(value, where, visible)
        case _:
            assert_never(action)


def _lift(scores: Array, where: tuple[Array, ...], visible: Array | None) -> Array:
    """β ≥ 0 per head and row [h q 1]: strongest visible key minus strongest visible named key."""
    heads, queries, _ = where
    seen = scores if visible is None else np.where(visible, scores, -np.inf)
    strongest = seen[heads[..., 0], queries[..., 0]].max(axis=-1, keepdims=True)
    named = seen[where].max(axis=-1, keepdims=True)
    return np.where(np.isfinite(named), strongest - named, 0).astype(scores.dtype)


def _fitted(given: Array, before: Array) -> Array:
    try:
        return np.broadcast_to(given, before.shape).astype(before.dtype)
    except ValueError:
        raise SiteError(f"a value of shape {given.shape} does not fit the selected {before.shape}") from None


def selected(index: Index | None, places: Array) -> Array:
    """Offsets on an axis whose absolute index is selected (all of them when nothing is)."""
    match index:
        case None:
            return np.arange(len(places))
        case int():
            return np.flatnonzero(places == index)
        case slice():
            stop = np.inf if index.stop is None else index.stop
            inside = (places >= (index.start or 0)) & (places < stop)
            return np.flatnonzero(inside & ((places - (index.start or 0)) % (index.step or 1) == 0))
        case _:
            return np.flatnonzero(np.isin(places, np.asarray(index)))


def _edit(site: str, layers: Numbers | None, at: Mapping[str, Numbers | slice], action: Action) -> Edit:
    chosen = None if layers is None else whole_numbers("layers", layers, SiteError)
    selection = tuple((axis, _index(axis, at[axis])) for axis in sorted(at))
    for name, index in (("layers", chosen), *((f"axis {axis!r}", index) for axis, index in selection)):
        if _is_empty(index):
            raise SiteError(f"{name} of {site}: nothing is selected", "name at least one, or leave it out for all")
    return Edit(site, chosen, selection, action)


def _is_empty(index: Index | None) -> bool:
    match index:
        case None | int():
            return False
        case slice():
            return index.stop is not None and (index.start or 0) >= index.stop
        case _:
            return len(index) == 0


def _index(axis: str, given: Numbers | slice) -> Index:
    if isinstance(given, slice):
        return _rising(axis, given)
    if isinstance(given, range):
        return given
    numbers = whole_numbers(f"axis {axis!r}", given, SiteError)
    return numbers if isinstance(given, Iterable) else numbers[0]


def _rising(axis: str, given: slice) -> slice:
    ends = tuple(None if end is None else whole_numbers(f"axis {axis!r}", [end], SiteError)[0] for end in _ends(given))
    if ends[2] is not None and ends[2] < 1:
        raise SiteError(f"axis {axis!r}: expected a step of at least 1, found {given}")
    return slice(*ends)


def _ends(given: slice) -> tuple[Any, Any, Any]:
    return given.start, given.stop, given.step


def _require_in_range(edit: Edit, letter: str, index: Index, spec: Spec) -> None:
    lowest, highest = _extremes(index)
    if lowest < 0:
        raise SiteError(f"axis {letter!r} of {edit.site} counts from 0; {lowest} is not an index")
    layers = edit.layers if edit.layers is not None else range(len(spec.layers))
    sizes = [_axis_size(letter, spec, layer) for layer in layers] or [None]
    size = min((s for s in sizes if s is not None), default=None)
    if size is not None and highest >= size:
        raise SiteError(f"axis {letter!r} of {edit.site} has {size} entries, 0 … {size - 1}; {highest} is beyond")


def _extremes(index: Index) -> tuple[int, int]:
    match index:
        case int():
            return index, index
        case slice():
            ends = [end for end in (index.start, index.stop) if end is not None]
            return min(ends, default=0), (index.stop - 1 if index.stop is not None else index.start or 0)
        case _:
            return min(index, default=0), max(index, default=0)


def _axis_size(letter: str, spec: Spec, layer: int) -> int | None:
    """Entries on an axis that the Spec fixes; None for q and k, whose length is the prompt's."""
    attention, mlp = spec.layers[layer].attention, spec.layers[layer].mlp
    sizes = {
        "h": attention.heads,
        "g": attention.kv_heads,
        "d": attention.head_width,
        "c": spec.width,
        "f": mlp.width,
        "v": spec.vocab,
    }
    if isinstance(mlp, Moe):
        sizes["e"] = mlp.experts
    return sizes.get(letter)
