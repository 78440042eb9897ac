"""Attention in tiles of keys: the same numbers as the plain path, in memory linear in the context.

Scores of one tile at a time are made, folded into a running softmax together with their values, and forgotten. What
changes is the order of summation, so results agree to rounding and not to the bit. Source: arXiv 2205.14135.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from whybox.errors import UsageError
from whybox.parts.attention import shaped_scores
from whybox.parts.mask import visible
from whybox.parts.softmax import Running, nothing_seen
from whybox.spec import Attention


@dataclass(frozen=True, eq=False)
class Tile:
    """Some slots of the key side, wherever they lie."""

    key: Float[np.ndarray, "k g d"]
    value: Float[np.ndarray, "k g dv"]
    positions: Int[np.ndarray, "k"]


def tiles(
    key: Float[np.ndarray, "k g d"],
    value: Float[np.ndarray, "k g dv"],
    positions: Int[np.ndarray, "k"],
    size: int,
) -> Iterator[Tile]:
    """Views of `size` slots each; the last may hold fewer."""
    if size < 1:
        raise UsageError(f"expected a tile of at least 1 slot, found {size}")
    for start in range(0, len(positions), size):
        part = slice(start, start + size)
        yield Tile(key[part], value[part], positions[part])


def flash_attention(
    query: Float[np.ndarray, "q h d"],
    query_pos: Int[np.ndarray, "q"],
    parts: Iterable[Tile],
    spec: Attention,
    sinks: Float[np.ndarray, "h"] | None = None,
) -> Float[np.ndarray, "q h dv"]:
    """Σ_k pattern · value over tiles in any order. Every setting of the plain path is obeyed: same functions.

    Raises UsageError where there is no tile: then the values' width is unknown.
    """
    rows, heads, _ = query.shape
    running: Running | None = None
    for tile in parts:
        if running is None:
            running = _beginning(query, tile, sinks)
        running = running.absorb(_grouped(_masked_scores(query, query_pos, tile, spec), tile), _by_group(tile))
    if running is None:
        raise UsageError("expected at least one tile of keys, found none")
    return running.finish().reshape(heads, rows, -1).transpose(1, 0, 2)


def _masked_scores(
    query: Float[np.ndarray, "q h d"], query_pos: Int[np.ndarray, "q"], tile: Tile, spec: Attention
) -> Float[np.ndarray, "h q k"]:
    s = shaped_scores(query, tile.key, query_pos, tile.positions, spec)
    np.copyto(s, -np.inf, where=~visible(query_pos, tile.positions, spec.window))
    return s


def _grouped(s: Float[np.ndarray, "h q k"], tile: Tile) -> Float[np.ndarray, "g rq k"]:
    """The query heads of a kv head as rows of one matrix."""
    return s.reshape(tile.key.shape[1], -1, s.shape[-1])


def _by_group(tile: Tile) -> Float[np.ndarray, "g k dv"]:
    return tile.value.transpose(1, 0, 2)


def _beginning(query: Float[np.ndarray, "q h d"], tile: Tile, sinks: Float[np.ndarray, "h"] | None) -> Running:
    """Nothing seen yet; a learned sink is a key that was seen first and brought no value."""
    rows, heads, _ = query.shape
    groups, width = tile.value.shape[1:]
    start = nothing_seen((groups, heads // groups * rows), width, query.dtype)
    if sinks is None:
        return start
    peak = np.repeat(sinks.astype(query.dtype, copy=False), rows).reshape(start.peak.shape)
    return Running(peak, np.ones_like(peak), start.mixed)
