"""What was seen of one run, ours or another program's, and how far two such runs are apart at every site and position.

Everything is told by position: the pattern over positions names a fault where a text or a likelihood cannot.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from whybox.engine.edit import row_axis, site_axes
from whybox.engine.trace import Key, Trace
from whybox.sites import exists_in, sites_of
from whybox.spec import Spec

Array = np.ndarray
Errors = Mapping[Key, Array]
"""For each (site, layer) the error of every position [q]; NaN where it was not kept."""


@dataclass(frozen=True, eq=False)
class Observation:
    """ids; sites: (site, layer) → value, axes as in the site table, from position 0 on; `logits` is one of them.

    precision: of the arithmetic that made it, None where nobody said. broken: the first site, layer and position with
    NaN or Inf, where that ended the run.
    """

    ids: tuple[int, ...]
    sites: Mapping[Key, Array]
    precision: str | None = None
    broken: tuple[str, int | None, int] | None = None

    @property
    def logits(self) -> Array | None:
        return self.sites.get(("logits", None))


def observation(trace: Trace) -> Observation:
    """All that a trace kept, with its logits."""
    return Observation(trace.ids, {**trace.sites, ("logits", None): trace.logits}, trace.precision)


def in_order(spec: Spec) -> Iterator[Key]:
    """(site, layer) as they are computed: `embed`, then layer by layer, then `final` and `logits`."""
    sites = sites_of(spec)
    yield "embed", None
    for index, layer in enumerate(spec.layers):
        yield from ((site.name, index) for site in sites if site.per_layer and exists_in(site.name, layer))
    yield "final", None
    yield "logits", None


def errors(one: Observation, other: Observation, spec: Spec) -> dict[Key, Array]:
    """Of every site that both have in the same shape, in order: each position's ‖one − other‖₂ / ‖one‖₂.

    Scores count where a query can look back and both are finite. NaN or Inf on one side alone is infinitely far.
    """
    shared = (key for key in in_order(spec) if key in one.sites and key in other.sites)
    pairs = ((key, *_aligned(key, one.sites[key], other.sites[key])) for key in shared)
    return {key: _whole(_rows(key, a, b, spec), len(one.ids)) for key, a, b in pairs if a.shape == b.shape}


def _aligned(key: Key, one: Array, other: Array) -> tuple[Array, Array]:
    """`final` and `logits` may have been kept for the last rows alone."""
    if key[1] is not None or key[0] == "embed":
        return one, other
    rows = min(len(one), len(other))
    return one[len(one) - rows :], other[len(other) - rows :]


def _whole(rows: Array, length: int) -> Array:
    """Errors of all positions, NaN where a site was not kept."""
    return np.concatenate([np.full(length - len(rows), np.nan), rows])


def _rows(key: Key, one: Array, other: Array, spec: Spec) -> Array:
    a, b = one.astype(np.float64), other.astype(np.float64)
    if key[0] == "scores":
        seen = looking_back(a, b)
        a, b = np.where(seen, a, 0.0), np.where(seen, b, 0.0)
    axis = row_axis(axes_of(key, spec))
    rest = tuple(i for i in range(a.ndim) if i != axis)
    with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
        apart = np.sqrt(np.square(a - b).sum(axis=rest))
        size = np.sqrt(np.square(a).sum(axis=rest))
        found = np.where(apart == 0, 0.0, apart / np.where(size == 0, 1.0, size))
    alike = (~np.isfinite(a) & ~np.isfinite(b)).any(axis=rest)
    return np.asarray(np.where(np.isnan(found), np.where(alike, 0.0, np.inf), found))


def looking_back(a: Array, b: Array) -> Array:
    """Scores [h q k] of keys ahead mean nothing: some engines never compute them, others hide them with −∞."""
    back = np.tril(np.ones(a.shape[1:], bool), a.shape[2] - a.shape[1])
    return np.asarray(back & np.isfinite(a) & np.isfinite(b))


def axes_of(key: Key, spec: Spec) -> tuple[str, ...]:
    """Axis letters of a site."""
    site, layer = key
    return site_axes(site, None if layer is None else spec.layers[layer].mlp)
