"""Faults that only show behind a cache: what a pass takes the cache for."""

from dataclasses import replace

import numpy as np

from whybox.engine.trace import Cache
from whybox.parts.cache import LayerCache
from whybox.testing.faults.fault import Fault


def _last_overwritten(cache: Cache) -> Cache:
    last = np.asarray([cache.seen - 1])
    layers = tuple(layer.evict(last) if last[0] in layer.positions else layer for layer in cache.layers)
    return replace(cache, layers=layers)


def _counted_from_one(cache: Cache) -> Cache:
    return replace(cache, seen=cache.seen + 1) if cache.seen == len(cache.ids) else cache


def _by_index(cache: Cache) -> Cache:
    layers = (layer for layer in cache.layers if isinstance(layer, LayerCache))
    return replace(cache, layers=tuple(replace(layer, positions=np.arange(len(layer))) for layer in layers))


CACHE_SLOT = Fault(
    "cache-slot",
    "new keys and values overwrite the last slot",
    cached=_last_overwritten,
    why="The prompt is exact; each token fed behind it lacks the key just before it, in every layer.",
)
CACHE_POSITION = Fault(
    "cache-position",
    "what is fed behind a cache stands a position too far",
    cached=_counted_from_one,
    why="The prompt is exact; query and key of the first token behind it are turned by one position too many.",
)
MASK_BY_INDEX = Fault(
    "mask-by-index",
    "a slot's index in the cache taken for its position",
    cached=_by_index,
    why="Exact until a window has let tokens go; then index and position part, and the oldest keys in view are hidden.",
)
