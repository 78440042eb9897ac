"""Faults that only show behind a cache."""

from dataclasses import replace

import numpy as np

from whybox.engine.reference import ReferenceEngine
from whybox.engine.trace import Cache, Tap, Trace
from whybox.testing.faults.fault import Fault

Array = np.ndarray


class CacheSlotOffByOne(ReferenceEngine):
    """Whatever is fed behind a cache is written one slot too early: the last token kept there is gone."""

    def _pass(self, ids: Array, tap: Tap, cache: Cache, tail: int | None) -> Trace:
        last = np.asarray([cache.seen - 1])
        overwritten = tuple(layer.evict(last) if last[0] in layer.positions else layer for layer in cache.layers)
        return super()._pass(ids, tap, replace(cache, layers=overwritten), tail)


class CachePositionOffByOne(ReferenceEngine):
    """Whatever is fed behind a cache stands one position too far, as where slots are counted from one."""

    def _pass(self, ids: Array, tap: Tap, cache: Cache, tail: int | None) -> Trace:
        started = replace(cache, seen=cache.seen + 1) if cache.seen and cache.seen == len(cache.ids) else cache
        return super()._pass(ids, tap, started, tail)


CACHE_SLOT = Fault("cache-slot", "new keys and values overwrite the last slot", engine=CacheSlotOffByOne)
CACHE_POSITION = Fault(
    "cache-position", "what is fed behind a cache stands a position too far", engine=CachePositionOffByOne
)
