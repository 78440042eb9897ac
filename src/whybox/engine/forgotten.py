"""Weight that an edit gives to keys which a sliding window has let go: no way of running drops it silently.

A whole run can give weight to any key. Behind a cache a windowed layer holds the last W positions alone: a run that
needs an earlier one begins from nothing, and where that cannot be (a token that is being written) the edit is refused.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from whybox.engine.edit import Add, Edit, Set, selected
from whybox.engine.trace import Cache
from whybox.errors import SiteError
from whybox.spec import Spec

Array = np.ndarray


class Gone(NamedTuple):
    """A query, and a key outside its window that an edit gives weight to."""

    layer: int
    query: int
    key: int


def outside_window(edits: Iterable[Edit], queries: range, spec: Spec) -> Gone | None:
    """The first key that lies before the window of one of these queries, and is given weight there."""
    for edit, rows, keys in _given(edits, queries, queries.stop):
        for layer in _layers(edit, spec):
            window = spec.layers[layer].attention.window
            if window is not None and keys[0] <= rows[-1] - window:
                return Gone(layer, int(rows[-1]), int(keys[0]))
    return None


def forgotten(edits: Iterable[Edit], fed: range, cache: Cache, spec: Spec) -> Gone | None:
    """The first key that is given weight in the rows fed behind a cache, and that the cache does not hold."""
    for edit, rows, keys in _given(edits, fed, cache.seen):
        for layer in _layers(edit, spec):
            gone = np.setdiff1d(keys, cache.layers[layer].positions)
            if gone.size:
                return Gone(layer, int(rows[0]), int(gone[0]))
    return None


def require_held(gone: Gone | None) -> None:
    """SiteError for a key that is not there any more."""
    if gone is not None:
        raise SiteError(
            f"pattern of layer {gone.layer}: key {gone.key} is outside the window of query {gone.query}: "
            "behind a cache it is gone, and can be given no weight",
            "run without a cache: model.variant(cache=False)",
        )


def _given(edits: Iterable[Edit], queries: range, stop: int) -> Iterator[tuple[Edit, Array, Array]]:
    """Edits that give weight, with the positions of their queries and of their keys before `stop`."""
    places, before = np.asarray(queries, np.int64), np.arange(stop)
    for edit in edits:
        if edit.site == "pattern" and isinstance(edit.action, Set | Add) and edit.action.value.any():
            chosen = dict(edit.at)
            rows, keys = places[selected(chosen.get("q"), places)], before[selected(chosen.get("k"), before)]
            if rows.size and keys.size:
                yield edit, rows, keys


def _layers(edit: Edit, spec: Spec) -> Iterable[int]:
    return range(len(spec.layers)) if edit.layers is None else edit.layers
