"""Engines whose arithmetic is wrong in one known way."""

from dataclasses import dataclass, field, replace

import numpy as np

from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Cache, Places, Tap, Trace
from whybox.parts.softmax import softmax

Array = np.ndarray


class MaskAfterSoftmax(ReferenceEngine):
    """The softmax sees the future, then the future's weights are zeroed: pattern = softmax(s) ⊙ visible."""

    def _pass(self, ids: Array, tap: Tap, cache: Cache, tail: int | None) -> Trace:
        return super()._pass(ids, _MaskingTap(tap.spec, tap.see, tap.edits, tap.strict, tap.statistics), cache, tail)


@dataclass
class _MaskingTap(Tap):
    """Replaces the pattern that the sound engine computed by the one of the faulty order."""

    seen: dict[int | None, tuple[Array, Array]] = field(default_factory=dict)

    def at(self, site: str, layer: int | None, value: Array, places: Places, visible: Array | None = None) -> Array:
        if site == "pattern":
            scores, shown = self.seen.pop(layer)
            value = softmax(scores) * shown
        value = super().at(site, layer, value, places, visible)
        if site == "scores" and visible is not None:
            self.seen[layer] = (value, visible)
        return value


class CacheSlotOffByOne(ReferenceEngine):
    """Whatever is fed behind a cache is written one slot too early: the last token kept there is gone."""

    def _pass(self, ids: Array, tap: Tap, cache: Cache, tail: int | None) -> Trace:
        last = np.asarray([cache.seen - 1])
        overwritten = tuple(layer.evict(last) if last[0] in layer.positions else layer for layer in cache.layers)
        return super()._pass(ids, tap, replace(cache, layers=overwritten), tail)
