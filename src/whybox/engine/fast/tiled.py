"""Attention over tiles of queries: no pattern is ever whole, and memory grows with the length of the text.

A tile is a few dozen queries and all the keys that any of them can see. Its scores are made by one matrix product, with
the query heads of a kv head as rows, turned into weights, mixed, shown to whoever watches, and forgotten. The numbers
are those of `whybox.parts.attention`; scores are counted in bits, because 2^x is cheaper than e^x.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from jaxtyping import Bool, Float, Int

from whybox.errors import UsageError
from whybox.spec import Attention, Spec

CHUNK = 64  # tiles see whole chunks of keys, so that a row can be read as a table of chunks
ROWS = 64  # queries of a tile: those of one block of the usual map
ELEMENTS = 6 << 18  # scores of a step: few enough to stay near the processor, enough to be worth the calls
HIDDEN = -1e30
LOWEST = -1e29  # a row whose peak is lower sees nothing
NOWHERE = np.iinfo(np.int32).max  # position of the keys that fill the last chunk
BITS = math.log2(math.e)  # of a nat


@dataclass(frozen=True, eq=False)
class Places:
    """Absolute positions of queries and keys, the same for every row of a batch; both ascend."""

    query: Int[np.ndarray, "q"]
    key: Int[np.ndarray, "k"]

    def __post_init__(self) -> None:
        for name, places in (("query", self.query), ("key", self.key)):
            if (np.diff(places) < 0).any():
                raise UsageError(f"expected ascending {name} positions, found {places[:8].tolist()} …")


@dataclass(frozen=True, eq=False)
class Tile:
    """Some queries, the chunks of keys that they can see, and what is hidden within them: only their two edges.

    Columns of `hidden` count from the first key of the tile; True is hidden.
    """

    rows: slice
    keys: slice
    hidden: tuple[tuple[slice, Bool[torch.Tensor, "m _"]], ...]

    @property
    def shape(self) -> tuple[int, int]:
        return self.rows.stop - self.rows.start, self.keys.stop - self.keys.start


@dataclass(frozen=True, eq=False)
class Step:
    """One tile of some heads, as a watcher sees it. `scores` is the watcher's to overwrite.

    scores: bits, from the row's `peak` down; weights = 2^scores, 0 where hidden; drained: the learned sink's weight, 0
    where there is none; total = Σ weights + drained. pattern = weights / total; a total of 0 is a row without weights.
    peaks: the largest score of each of its o chunks, not yet in bits; of the whole row where nobody watches.
    """

    tile: Tile
    heads: slice
    scores: Float[torch.Tensor, "h m n"]
    peak: Float[torch.Tensor, "h m 1"]
    weights: Float[torch.Tensor, "h m n"]
    drained: Float[torch.Tensor, "h m 1"]
    total: Float[torch.Tensor, "h m 1"]
    peaks: Float[torch.Tensor, "h m o"]


Watch = Callable[[Step], None]


def attend_tiled(
    query: Float[torch.Tensor, "b h q d"],
    key: Float[torch.Tensor, "b g k d"],
    value: Float[torch.Tensor, "b g k dv"],
    places: Places,
    spec: Attention,
    sinks: Float[torch.Tensor, "h"] | None = None,
    watch: Watch | None = None,
) -> Float[torch.Tensor, "b q h dv"]:
    """Σ_k pattern · value. Query and key come rotated; scale, cap, distance bias, window and sinks as the spec says.

    Products in the dtype of the query, everything between them in float32 at least. A row that sees nothing is 0. A
    watcher sees every tile of every head once, and one text at a time.
    """
    if watch is not None and len(query) != 1:
        raise UsageError(f"attention is watched one text at a time, found a batch of {len(query)}")
    groups = key.shape[1]
    out = query.new_empty(len(query), query.shape[2], query.shape[1], value.shape[-1])
    plan = _steps(places, spec, groups, query.device)
    bench = Workbench.of(plan, places, spec, sinks, query, watch is not None)
    for row in range(len(query)):
        queries, keys, values = query[row].unflatten(0, (groups, -1)), _filled(key[row]), _filled(value[row])
        for tile, some in plan:
            step, mixed = bench.attend(queries[some], keys[some], values[some], tile, some)
            out[row, tile.rows, step.heads] = mixed
            if watch is not None:
                watch(step)
    return out


def tiles(places: Places, window: int | None, device: torch.device) -> Iterator[Tile]:
    """Tiles from the first query to the last; a tile reaches from its first row's oldest key to its last row's own."""
    keys = whole_chunks(places.key)
    for start in range(0, len(places.query), ROWS):
        queries = places.query[start : start + ROWS]
        end, oldest = sight(queries, keys, window)
        first = min(int(oldest[0]), len(keys) - 1) // CHUNK * CHUNK
        last = max(first + CHUNK, -(-int(end[-1]) // CHUNK) * CHUNK)
        late = _edge(slice(max(int(end[0]), first), last), first, end, oldest, device)
        early = _edge(slice(first, int(oldest[-1])), first, end, oldest, device)
        yield Tile(slice(start, start + len(queries)), slice(first, last), (*late, *early))


def sight(
    query: Int[np.ndarray, "q"], key: Int[np.ndarray, "k"], window: int | None
) -> tuple[Int[np.ndarray, "q"], Int[np.ndarray, "q"]]:
    """Each query sees the keys from index `oldest` up to and without `end`: returns (end, oldest)."""
    end = np.searchsorted(key, query, side="right")
    return end, np.zeros_like(end) if window is None else np.searchsorted(key, query - window, side="right")


def whole_chunks(places: Int[np.ndarray, "k"]) -> Int[np.ndarray, "n"]:
    """Positions of the keys, filled up to whole chunks, one at least; no query can see the filling."""
    return np.concatenate([places, np.full(_missing(len(places)), NOWHERE)])


def _missing(keys: int) -> int:
    return -keys % CHUNK if keys else CHUNK


def _filled(x: Float[torch.Tensor, "g k d"]) -> Float[torch.Tensor, "g n d"]:
    return torch.nn.functional.pad(x, (0, 0, 0, _missing(x.shape[1]))).contiguous()


def _edge(
    keys: slice, first: int, end: Int[np.ndarray, "m"], oldest: Int[np.ndarray, "m"], device: torch.device
) -> list[tuple[slice, Bool[torch.Tensor, "m c"]]]:
    """What is hidden among some keys, as columns of a tile that begins at `first`; nothing where there are no keys."""
    index = np.arange(keys.start, keys.stop)
    hidden = (index >= end[:, None]) | (index < oldest[:, None])
    return [(slice(keys.start - first, keys.stop - first), torch.tensor(hidden, device=device))] if len(index) else []


def workbench(spec: Spec, keys: int) -> int:
    """Bytes in which tiles are made, at most: product, scores, weights, and as much again for whoever watches."""
    per_group = max(layer.attention.heads // layer.attention.kv_heads for layer in spec.layers)
    return 16 * max(ELEMENTS, ROWS * per_group * keys)


@lru_cache(maxsize=4)  # the layers of a run share one
def _steps(places: Places, spec: Attention, groups: int, device: torch.device) -> tuple[tuple[Tile, slice], ...]:
    """Tiles, each as often as its groups need: as many groups at once as ELEMENTS allows."""
    steps = []
    for tile in tiles(places, spec.window, device):
        rows, keys = tile.shape
        at_once = max(1, ELEMENTS // (spec.heads // groups * rows * keys))
        steps += [(tile, slice(first, min(first + at_once, groups))) for first in range(0, groups, at_once)]
    return tuple(steps)


@dataclass(frozen=True, eq=False)
class Workbench:
    """What the tiles of a layer share: how a product becomes a score, and the buffers, made once.

    From float32 on, `product` and `scores` are one buffer, as are `mixing` and `weights`; unwatched, all are one.
    """

    factor: float  # bits per unit of a score; the cap leaves a number in −1 … 1
    squeeze: float | None  # the cap is cap · tanh(squeeze · product)
    slopes: tuple[float, ...] | None
    sinks: Float[torch.Tensor, "h 1 1"] | None  # bits
    query_pos: Float[torch.Tensor, "q"]
    key_pos: Float[torch.Tensor, "n"]
    product: Float[torch.Tensor, "size"]
    scores: Float[torch.Tensor, "size"]
    weights: Float[torch.Tensor, "size"]
    mixing: Float[torch.Tensor, "size"]
    watched: bool

    @classmethod
    def of(
        cls,
        plan: Sequence[tuple[Tile, slice]],
        places: Places,
        spec: Attention,
        sinks: Float[torch.Tensor, "h"] | None,
        query: Float[torch.Tensor, "b h q d"],
        watched: bool,
    ) -> "Workbench":
        per_group = spec.heads // spec.kv_heads
        size = max(math.prod(tile.shape) * per_group * (some.stop - some.start) for tile, some in plan)
        dtype = torch.promote_types(query.dtype, torch.float32)
        scores = query.new_empty(size, dtype=dtype)
        narrow = scores if query.dtype == dtype else query.new_empty(size)
        weights = torch.empty_like(scores) if watched else scores
        factor = BITS * (spec.scale if spec.cap is None else spec.cap)
        return cls(
            factor=factor,
            squeeze=None if spec.cap is None else spec.scale / spec.cap,
            slopes=None if spec.alibi is None else tuple(slope * BITS / factor for slope in spec.alibi),
            sinks=None if sinks is None else (sinks.to(dtype) * BITS)[:, None, None],
            query_pos=_floats(places.query, scores),
            key_pos=_floats(whole_chunks(places.key), scores),
            product=narrow,
            scores=scores,
            weights=weights,
            mixing=weights if narrow is scores else narrow,
            watched=watched,
        )

    def attend(
        self,
        query: Float[torch.Tensor, "g r q d"],
        key: Float[torch.Tensor, "g n d"],
        value: Float[torch.Tensor, "g n dv"],
        tile: Tile,
        groups: slice,
    ) -> tuple[Step, Float[torch.Tensor, "m h dv"]]:
        """One tile of some groups; the r heads of a group are rows of one product."""
        per_group = query.shape[1]
        heads = slice(groups.start * per_group, groups.stop * per_group)
        rows, columns = tile.shape
        shape = (heads.stop - heads.start, rows, columns)
        by_group = (len(query), per_group * rows, columns)
        product = _view(self.product, by_group)
        # Group by group: a slice of a batch of keys would be copied before every product.
        for a, b, ab in zip(query[:, :, tile.rows].flatten(1, 2), key[:, tile.keys], product, strict=True):
            torch.mm(a, b.t(), out=ab)
        scores = _view(self.scores, shape)
        if self.product is not self.scores:
            scores.copy_(product.view(shape))
        self._shape(scores, tile, heads)
        step = self._weigh(scores, tile, heads)
        mixing = _view(self.mixing, by_group)
        if self.mixing is not self.weights:
            mixing.view(shape).copy_(step.weights)
        mixed = torch.stack([torch.mm(a, b) for a, b in zip(mixing, value[:, tile.keys], strict=True)])
        mixed = mixed.view(*shape[:2], -1)
        return step, (mixed / step.total.clamp(min=_SMALLEST)).transpose(0, 1)

    def _shape(self, scores: Float[torch.Tensor, "h m n"], tile: Tile, heads: slice) -> None:
        """Cap, distance bias and mask, in place and in this order."""
        if self.squeeze is not None:
            scores.mul_(self.squeeze).tanh_()
        if self.slopes is not None:
            ahead = self.key_pos[tile.keys] - self.query_pos[tile.rows, None]
            for head, slope in zip(scores, self.slopes[heads], strict=True):
                head.add_(ahead, alpha=slope)
        for columns, mask in tile.hidden:
            scores[..., columns].masked_fill_(mask, HIDDEN)

    def _weigh(self, scores: Float[torch.Tensor, "h m n"], tile: Tile, heads: slice) -> Step:
        peaks = scores.unflatten(-1, (-1, CHUNK if self.watched else scores.shape[-1])).amax(dim=-1)
        peak = peaks.amax(dim=-1, keepdim=True).clamp_(min=LOWEST).mul_(self.factor)
        if self.sinks is not None:
            torch.maximum(peak, self.sinks[heads], out=peak)
        torch.add(peak.neg(), scores, alpha=self.factor, out=scores)
        drained = torch.zeros_like(peak) if self.sinks is None else torch.exp2(self.sinks[heads] - peak)
        weights = torch.exp2(scores, out=_view(self.weights, scores.shape))
        total = drained + weights.sum(dim=-1, keepdim=True)
        return Step(tile, heads, scores, peak, weights, drained, total, peaks)


_SMALLEST = torch.finfo(torch.float32).tiny


def _floats(places: Int[np.ndarray, "k"], like: Float[torch.Tensor, "size"]) -> Float[torch.Tensor, "k"]:
    return torch.tensor(places, dtype=like.dtype, device=like.device)


def _view(buffer: Float[torch.Tensor, "size"], shape: Sequence[int]) -> Float[torch.Tensor, "_ _ _"]:
    return buffer[: math.prod(shape)].view(*shape)
