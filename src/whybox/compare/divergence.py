"""The first place at which two runs of the same ids part."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.compare.observation import axes_of, in_order, looking_back
from whybox.engine.edit import row_axis
from whybox.engine.trace import Engine, Trace
from whybox.sites import sites_of

Array = np.ndarray

TOLERANCE = {"fp64": 1e-3, "fp32": 1e-3, "fp16": 2**-6, "bf16": 2**-4, "int8": 2**-3, "int4": 2**-1}
"""Of a site's root mean square: what rounding alone may differ by in that precision."""


@dataclass(frozen=True)
class Divergence:
    """site, layer (None outside layers), position; error: largest difference there over the site's rms."""

    site: str
    layer: int | None
    position: int
    error: float


def first_divergence(one: Engine, other: Engine, prompt: Sequence[int], written: Sequence[int]) -> Divergence | None:
    """Both engines read the prompt at once and what follows it one by one behind their caches, as when writing.

    In the order of computing: first piece, then layer, then site. Sites whose shapes differ are passed over: another
    layout is no difference yet. None where nothing exceeds the tolerance of the coarser precision.
    """
    limit = max(TOLERANCE[engine.precision] for engine in (one, other))
    pairs = zip(_pieces(one, prompt, written), _pieces(other, prompt, written), strict=True)
    return next((found for a, b in pairs if (found := _first(a, b, limit)) is not None), None)


def _pieces(engine: Engine, prompt: Sequence[int], written: Sequence[int]) -> Iterator[Trace]:
    sites = [site.name for site in sites_of(engine.spec)]
    cache = engine.fresh_cache(len(prompt) + len(written))
    for piece in (list(prompt), *([token] for token in written)):
        trace = engine.run(piece, sites, cache=cache)
        cache = trace.cache
        yield trace


def _first(one: Trace, other: Trace, limit: float) -> Divergence | None:
    for site, layer in in_order(one.spec):
        if (site, layer) not in other.sites:
            continue
        found = _compared(site, layer, one, other, limit)
        if found is not None:
            return found
    return None


def _compared(site: str, layer: int | None, one: Trace, other: Trace, limit: float) -> Divergence | None:
    a, b = one.sites[site, layer], other.sites[site, layer]
    if a.shape != b.shape:
        return None
    if site == "scores":
        seen = looking_back(a, b)
        a, b = np.where(seen, a, 0.0), np.where(seen, b, 0.0)
    size = float(np.sqrt(np.mean(np.square(b, dtype=np.float64)))) or 1.0
    error = np.abs(a.astype(np.float64) - b) / size
    if float(error.max(initial=0.0)) <= limit:
        return None
    axis = row_axis(axes_of((site, layer), one.spec))
    rows = error.max(axis=tuple(i for i in range(error.ndim) if i != axis))
    row = int(np.flatnonzero(rows > limit)[0])
    return Divergence(site, layer, one.end - len(rows) + row, float(rows[row]))
