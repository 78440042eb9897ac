"""Statistics of attention, gathered from its tiles while it runs: the record of `whybox.statistics.rows`, exactly.

A tile is read while it is at hand, and as few times as possible: sums by chunk give the shares of segments, maxima by
chunk lead to the heaviest keys, one product with a row of numbers gives the distance, another what keys received.
"""

import math
from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from torch.nn import functional

from whybox.engine.fast.tiled import CHUNK, NOWHERE, Places, Step, Tile, sight, whole_chunks
from whybox.errors import UsageError
from whybox.statistics.marks import Keys, chosen, marked
from whybox.statistics.rows import STRIPE_AFTER, STRIPE_WEIGHT, WINDOWS, AttentionRows, AttentionWish, loud_from

LOUDEST = int(1 / STRIPE_WEIGHT)  # no more keys of a row can weigh enough for a stripe: they are among the heaviest
NATS = math.log(2)  # of a bit


@dataclass(frozen=True, eq=False)
class Survey:
    """What is asked, laid out along the columns of the tiles; one serves all layers with the same positions and window.

    Axes: n keys in whole chunks of c · o chunks · s segments · p chunks that the edge of a segment cuts.
    """

    places: Places
    window: int | None
    wish: AttentionWish
    columns: Int[np.ndarray, "n"]
    key_pos: Float[torch.Tensor, "n"]
    query_pos: Float[torch.Tensor, "q"]
    column_pos: Int[torch.Tensor, "n"]
    row_pos: Int[torch.Tensor, "q"]
    loud: Float[torch.Tensor, "q"]
    inside: Float[torch.Tensor, "o s"]
    cut: Int[np.ndarray, "p"]
    belongs: Float[torch.Tensor, "p c s"]
    pool: int  # neighbouring columns that always share a block of the map: a chunk, or a single one
    block: Int[torch.Tensor, "_"]
    dtype: torch.dtype  # of the weights
    near: dict[tuple[bytes, bytes], Float[torch.Tensor, "m c w"]] = field(default_factory=dict)
    near_in: dict[Tile, tuple[int, Float[torch.Tensor, "m c w"]]] = field(default_factory=dict)
    blocks_in: dict[Tile, tuple[slice, Float[torch.Tensor, "B m"]]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        places: Places,
        window: int | None,
        wish: AttentionWish,
        device: torch.device,
        dtype: torch.dtype = torch.float32,
    ) -> "Survey":
        """Raises UsageError where more of the heaviest keys are asked than a chunk holds."""
        if wish.top > CHUNK:
            raise UsageError(f"expected at most {CHUNK} of the heaviest keys, found {wish.top}")
        columns = whole_chunks(places.key)
        member = np.stack([columns < 0, *((columns >= s.start) & (columns < s.end) for s in wish.segments)], axis=-1)
        real = (member & (columns < NOWHERE)[:, None])[:, 1:]
        by_chunk = real.reshape(len(columns) // CHUNK, CHUNK, len(wish.segments))
        whole = np.asarray(by_chunk.all(axis=1))
        cut = np.flatnonzero((by_chunk.any(axis=1) & ~whole).any(axis=-1))
        pool, block = _blocks(places.key, len(columns), wish.block)
        return cls(
            places=places,
            window=window,
            wish=wish,
            columns=columns,
            key_pos=_floats(columns, device, dtype),
            query_pos=_floats(places.query, device, dtype),
            column_pos=torch.tensor(columns, device=device),
            row_pos=torch.tensor(places.query, device=device),
            loud=_floats(loud_from(_seen(places, window)), device, dtype),
            inside=_floats(whole, device, dtype),
            cut=cut,
            belongs=_floats(by_chunk[cut] & ~whole[cut][:, None], device, dtype),
            pool=pool,
            block=torch.tensor(block, device=device),
            dtype=dtype,
        )

    def near_masks(self, tile: Tile) -> tuple[int, Float[torch.Tensor, "m c w"]]:
        """First column of the tile from which a key is near, and masks: itself, the previous, within each window."""
        if tile not in self.near_in:
            self.near_in[tile] = self._near_masks(tile)
        return self.near_in[tile]

    def _near_masks(self, tile: Tile) -> tuple[int, Float[torch.Tensor, "m c w"]]:
        """Tiles whose pairs lie alike share their masks."""
        query, key = self.places.query[tile.rows], self.columns[tile.keys]
        first = int(np.searchsorted(key, query[0] - max(WINDOWS)))
        pair = (query - query[0]).tobytes(), (key[first:] - query[0]).tobytes()
        if pair not in self.near:
            back = query[:, None] - key[None, first:]
            masks = [back == 0, back == 1, *((back >= 0) & (back <= within) for within in WINDOWS)]
            self.near[pair] = _floats(np.stack(masks, axis=-1), self.key_pos.device, self.dtype)
        return first, self.near[pair]

    def blocks(self, tile: Tile) -> tuple[slice, Float[torch.Tensor, "B m"]]:
        """Blocks of the map that a tile's rows touch, counted from the first query's, and 1 where a row is in one."""
        if tile not in self.blocks_in:
            places = self.places.query[[0, *range(tile.rows.start, tile.rows.stop)]] // self.wish.block
            touched = np.arange(places[1], places[-1] + 1)
            member = _floats(touched[:, None] == places[None, 1:], self.key_pos.device, self.dtype)
            self.blocks_in[tile] = slice(int(touched[0] - places[0]), int(touched[-1] - places[0]) + 1), member
        return self.blocks_in[tile]


class Collector:
    """Watches the tiles of one layer. `rows()` is the record, once attention has run."""

    def __init__(self, survey: Survey, heads: int) -> None:
        self._survey = survey
        rows, columns = len(survey.places.query), len(survey.columns)
        side = int(survey.places.query[-1] // survey.wish.block - survey.places.query[0] // survey.wish.block) + 1
        zeros = survey.key_pos.new_zeros
        self._by_row = zeros(4, heads, rows)  # entropy, sink, sink mass, distance
        self._near = zeros(heads, rows, 2 + len(WINDOWS))
        self._shares = zeros(heads, rows, len(survey.wish.segments))
        self._count = max(survey.wish.top, 1)
        self._marked = zeros(heads, rows, len(survey.wish.marks))
        self._scores = zeros(heads, rows, 3 if survey.wish.scores else 0)  # their sum, that of their squares, the peak
        self._top_weights = zeros(heads, rows, max(self._count, LOUDEST))
        self._top_columns = zeros(heads, rows, max(self._count, LOUDEST), dtype=torch.int64)
        self._received = zeros(heads, columns)
        self._map = zeros(heads, side, int(survey.block.max()) + 1)

    def __call__(self, step: Step) -> None:
        scale = step.total.clamp(min=_SMALLEST).reciprocal_()
        self._sums(step, scale)
        self._shares_of(step, scale)
        self._marks(step, scale)
        self._near_sums(step, scale)
        self._heaviest(step, scale)
        self._columns(step, scale)
        self._score_sums(step)
        self._entropy(step, scale)

    def rows(self) -> AttentionRows:
        """The record."""
        survey, keys = self._survey, len(self._survey.places.key)
        entropy, sink, sink_mass, distance = self._by_row.cpu().numpy()
        near = self._near.cpu().numpy()
        top_keys, stripes = self._top()
        return AttentionRows(
            wish=survey.wish,
            query_pos=survey.places.query,
            key_pos=survey.places.key,
            seen=_seen(survey.places, survey.window),
            askers=_askers(survey.places, survey.window),
            entropy=entropy,
            sink=sink,
            sink_mass=sink_mass,
            shares=self._shares.cpu().numpy(),
            marked=self._marked.cpu().numpy(),
            scores=self._in_nats(),
            own=near[..., 0],
            previous=near[..., 1],
            local=near[..., 2:],
            distance=distance,
            top_keys=top_keys,
            top_weights=self._top_weights[..., : survey.wish.top].contiguous().cpu().numpy(),
            received=self._received[:, :keys].cpu().numpy(),
            stripes=stripes[:, :keys],
            map_total=self._map.cpu().numpy(),
        )

    def _top(self) -> tuple[Int[np.ndarray, "h q t"], Int[np.ndarray, "h n"]]:
        """Positions of the heaviest keys; and how often each key is one that makes a stripe."""
        survey, heads = self._survey, len(self._received)
        places = survey.column_pos[self._top_columns]
        later = survey.row_pos[:, None] - places >= STRIPE_AFTER
        head, row, rank = torch.nonzero(later & (self._top_weights >= survey.loud[:, None]), as_tuple=True)
        width = self._received.shape[1]
        stripes = torch.bincount(head * width + self._top_columns[head, row, rank], minlength=heads * width)
        keys = torch.where(self._top_weights > 0, places, -1)[..., : survey.wish.top]
        return keys.int().cpu().numpy(), stripes.view(heads, width).int().cpu().numpy()

    def _sums(self, step: Step, scale: Float[torch.Tensor, "h m 1"]) -> None:
        """Sink, sink mass, and Σ a (q − k), counted from the tile's first query so that small distances stay exact."""
        tile, (_, sink, sink_mass, distance) = step.tile, self._by_row
        start = int(self._survey.places.query[tile.rows.start])
        if self._survey.columns[tile.keys.start] == 0:
            sink[step.heads, tile.rows] = step.weights[..., 0] * scale[..., 0]
        sink_mass[step.heads, tile.rows] = (step.drained * scale)[..., 0]
        moment = torch.mv(step.weights.flatten(0, 1), self._survey.key_pos[tile.keys] - start).view(scale.shape)
        here = (self._survey.query_pos[tile.rows, None] - start) * (step.total - step.drained)
        distance[step.heads, tile.rows] = ((here - moment) * scale)[..., 0]

    def _shares_of(self, step: Step, scale: Float[torch.Tensor, "h m 1"]) -> None:
        if not self._survey.wish.segments:
            return
        first, last = step.tile.keys.start // CHUNK, step.tile.keys.stop // CHUNK
        by_chunk = step.weights.view(-1, last - first, CHUNK)
        shares = by_chunk.sum(dim=-1) @ self._survey.inside[first:last]
        here = slice(*np.searchsorted(self._survey.cut, (first, last)))
        if here.start < here.stop:
            cut = torch.from_numpy(self._survey.cut[here] - first).to(scale.device)
            shares += by_chunk.index_select(1, cut).flatten(1) @ self._survey.belongs[here].flatten(0, 1)
        self._shares[step.heads, step.tile.rows] = shares.view(*scale.shape[:2], -1) * scale

    def _marks(self, step: Step, scale: Float[torch.Tensor, "h m 1"]) -> None:
        """Few pairs of a tile are marked: their weights are picked out, and added to their rows."""
        query, key = self._survey.places.query[step.tile.rows], self._survey.columns[step.tile.keys]
        flat = step.weights.flatten(1)
        for number, (_, mark) in enumerate(self._survey.wish.marks):
            if isinstance(mark, Keys):
                column = _floats(chosen(mark.positions, key), scale.device, scale.dtype)
                found = torch.mv(step.weights.flatten(0, 1), column).view(scale.shape[:2])
            else:
                row, place = np.nonzero(marked(mark, query, key, NOWHERE))
                rows, places = (torch.from_numpy(x).to(scale.device) for x in (row, row * len(key) + place))
                picked = flat.index_select(1, places)
                found = picked.new_zeros(scale.shape[:2]).index_add_(1, rows, picked)
            self._marked[step.heads, step.tile.rows, number] = found * scale[..., 0]

    def _score_sums(self, step: Step) -> None:
        """Σ s, Σ s² from the peak down, and the peak: bits. What is hidden weighs nothing, so that it may become 0."""
        if not self._survey.wish.scores:
            return
        for columns, mask in step.tile.hidden:
            step.scores[..., columns].masked_fill_(mask, 0)
        sums = step.scores.sum(dim=-1), torch.linalg.vector_norm(step.scores, dim=-1).square_(), step.peak[..., 0]
        self._scores[step.heads, step.tile.rows] = torch.stack(sums, dim=-1)

    def _in_nats(self) -> Float[np.ndarray, "h q n"]:
        """Σ s and Σ s² of the scores themselves: s = (bits + peak) · ln 2. Rows that see nothing have none."""
        if not self._survey.wish.scores:
            return self._scores.cpu().numpy()
        below, square, peak = np.moveaxis(self._scores.cpu().numpy().astype(np.float64), -1, 0)
        seen = _seen(self._survey.places, self._survey.window)
        whole = square + 2 * peak * below + seen * peak**2
        found = np.stack([(below + seen * peak) * NATS, whole * NATS**2], axis=-1)
        return np.where((seen > 0)[:, None], found, 0)

    def _near_sums(self, step: Step, scale: Float[torch.Tensor, "h m 1"]) -> None:
        first, masks = self._survey.near_masks(step.tile)
        near = torch.bmm(step.weights[..., first:].transpose(0, 1), masks).transpose(0, 1)
        self._near[step.heads, step.tile.rows] = near * scale

    def _heaviest(self, step: Step, scale: Float[torch.Tensor, "h m 1"]) -> None:
        """The heaviest keys of each row: as many as are asked for, and where the last is loud, all that can be."""
        weights, peaks = step.weights.flatten(0, 1), step.peaks.flatten(0, 1)
        values, columns = heaviest(weights, peaks, self._count)
        bar = self._survey.loud[step.tile.rows, None] * step.total
        more = torch.nonzero(values[:, -1] >= bar.flatten())[:, 0] if self._count < LOUDEST else columns[:0]
        if len(more):
            values, columns = (functional.pad(each, (0, LOUDEST - self._count)) for each in (values, columns))
            values[more], columns[more] = heaviest(weights[more], peaks[more], LOUDEST)
        place = step.heads, step.tile.rows, slice(values.shape[1])
        self._top_weights[place] = values.view(*scale.shape[:2], -1) * scale
        self._top_columns[place] = columns.view(*scale.shape[:2], -1) + step.tile.keys.start

    def _columns(self, step: Step, scale: Float[torch.Tensor, "h m 1"]) -> None:
        """What the keys received from the rows of each block of the map that the tile touches."""
        blocks, rows = self._survey.blocks(step.tile)
        received = torch.bmm(rows * scale.transpose(1, 2), step.weights)
        self._received[step.heads, step.tile.keys] += received.sum(dim=1)
        pool, pooled = self._survey.pool, slice(step.tile.keys.start, step.tile.keys.stop, self._survey.pool)
        sums = received.unflatten(-1, (-1, pool)).sum(dim=-1)
        self._map[step.heads, blocks].index_add_(2, self._survey.block[pooled], sums)

    def _entropy(self, step: Step, scale: Float[torch.Tensor, "h m 1"]) -> None:
        """−Σ a ln a = ln 2 · (Σ a · log2 total − Σ a · score), since log2 a = score − log2 total."""
        mass = (step.total - step.drained) * scale
        bits = mass * step.total.clamp(min=_SMALLEST).log2_()
        bits -= step.scores.mul_(step.weights).sum(dim=-1, keepdim=True) * scale
        self._by_row[0, step.heads, step.tile.rows] = bits.clamp_(min=0)[..., 0] * NATS


_SMALLEST = torch.finfo(torch.float32).tiny


def heaviest(
    weights: Float[torch.Tensor, "m n"], peaks: Float[torch.Tensor, "m o"], count: int
) -> tuple[Float[torch.Tensor, "m {count}"], Int[torch.Tensor, "m {count}"]]:
    """The `count` (at most CHUNK) largest weights of each row and their columns, largest first.

    peaks: o chunks of each row, in the order of their largest weights: the `count` highest hold all that is looked for.
    """
    rows, chunks = peaks.shape
    if chunks <= count:
        values, columns = weights.topk(count)
        return values, columns
    by_chunk = weights.view(-1, CHUNK)
    chosen = peaks.topk(count, sorted=False).indices
    first = torch.arange(0, rows * chunks, chunks, device=weights.device)
    pieces = by_chunk.index_select(0, (chosen + first[:, None]).flatten()).view(rows, -1)
    values, places = pieces.topk(count)
    return values, chosen.gather(1, places // CHUNK) * CHUNK + places % CHUNK


def _blocks(places: Int[np.ndarray, "k"], columns: int, block: int) -> tuple[int, Int[np.ndarray, "n"]]:
    """Width in columns within which all share a block of the map, and the block of each such piece."""
    by_column = np.zeros(columns, np.int64)
    by_column[: len(places)] = places // block
    by_column[len(places) :] = by_column[max(len(places) - 1, 0)]
    by_chunk = by_column.reshape(-1, CHUNK)
    pool = CHUNK if (by_chunk == by_chunk[:, :1]).all() else 1
    return pool, by_column


def _seen(places: Places, window: int | None) -> Int[np.ndarray, "q"]:
    end, oldest = sight(places.query, places.key, window)
    return end - oldest


def _askers(places: Places, window: int | None) -> Int[np.ndarray, "k"]:
    """How many queries see each key: those whose sight has begun and not ended."""
    end, oldest = sight(places.query, places.key, window)
    edges = np.zeros(len(places.key) + 1, np.int64)
    np.add.at(edges, oldest, 1)
    np.subtract.at(edges, end, 1)
    return np.cumsum(edges)[:-1]


def _floats(values: np.ndarray, device: torch.device, dtype: torch.dtype) -> Float[torch.Tensor, "..."]:
    return torch.tensor(values, dtype=dtype, device=device)
