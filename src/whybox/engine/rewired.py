"""The reference engine with other arithmetic at chosen sites: what no description and no weights can say.

A `Rewire` makes the value of a site anew, from it and from what the run computed before. Sites, edits and statistics
come after it, as if the engine had computed so itself.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Cache, Places, Tap, Trace
from whybox.parts.norm import layer_norm, rms_norm
from whybox.spec import Norm, NormKind, Spec
from whybox.weights import Weights

Array = np.ndarray
VISIBLE = "visible"
"""Beside the sites: which keys each query of the layer sees [q k], there once its scores are."""
NORMED = "normed"
"""Beside the sites: what a norm makes of a row before its gain."""
Taken = Callable[[Cache], Cache]
"""What a pass behind a cache takes it for."""


@dataclass(frozen=True)
class Rewire:
    """site: where; None is everywhere. make: (value, what the run had before, by site) → value.

    reads: the sites, this layer's or else the last layer's, that `make` wants. layers: None is all.
    """

    site: str | None
    make: Callable[[Array, Mapping[str, Array]], Array]
    reads: tuple[str, ...] = ()
    layers: frozenset[int] | None = None

    def touches(self, site: str, layer: int | None) -> bool:
        return self.site in (None, site) and (self.layers is None or layer is None or layer in self.layers)


class RewiredEngine(ReferenceEngine):
    """The reference engine, some of whose sites are computed otherwise, or which takes its cache for another."""

    def __init__(
        self, spec: Spec, weights: Weights, rewires: tuple[Rewire, ...] = (), cached: Taken | None = None
    ) -> None:
        super().__init__(spec, weights)
        self.rewires = rewires
        self.cached = cached
        self._norms = tuple(rewire for rewire in rewires if rewire.site == NORMED)

    def _pass(self, ids: Array, tap: Tap, cache: Cache, tail: int | None) -> Trace:
        rewiring = _RewiringTap(tap.spec, tap.see, tap.edits, tap.strict, tap.statistics, rewires=self.rewires)
        taken = cache if self.cached is None or not cache.seen else self.cached(cache)
        trace = super()._pass(ids, rewiring, taken, tail)
        tap.largest = rewiring.largest
        return trace

    def norm(self, x: Array, role: str, norm: Norm) -> Array:
        rewires = [rewire for rewire in self._norms if rewire.touches(NORMED, _layer(role))]
        if not rewires:
            return super().norm(x, role, norm)
        gain = self.weights[f"{role}.gain"]
        ones = np.ones_like(gain)
        bare = rms_norm(x, ones, norm.eps) if norm.kind is NormKind.RMS else layer_norm(x, ones, None, norm.eps)
        for rewire in rewires:
            bare = rewire.make(bare, {})
        return bare * gain + self.weights[f"{role}.bias"] if norm.bias else bare * gain


def _layer(role: str) -> int | None:
    kind, _, rest = role.partition(".")
    return int(rest.partition(".")[0]) if kind == "layers" else None


@dataclass
class _RewiringTap(Tap):
    """A tap behind which the value of a rewired site is another."""

    rewires: tuple[Rewire, ...] = ()
    before: dict[str, Array] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._read = {site for rewire in self.rewires for site in rewire.reads}

    def at(self, site: str, layer: int | None, value: Array, places: Places, visible: Array | None = None) -> Array:
        for rewire in self.rewires:
            if rewire.touches(site, layer):
                value = rewire.make(value, self.before)
        value = super().at(site, layer, value, places, visible)
        if site in self._read:
            self.before[site] = value
        if site == "embed":
            self.before["resid_post"] = value  # what leaves no block at all
        if visible is not None and VISIBLE in self._read:
            self.before[VISIBLE] = visible
        return value
