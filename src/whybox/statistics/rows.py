"""What is kept of one layer's attention when its pattern is not: numbers per head and row, per key, and a small map.

Everything here grows with the length of the text, never with its square. `from_pattern` makes the record from a full
pattern in the slow and obvious way; an engine that never holds a pattern makes the same record while it runs.
Definitions are those of `whybox.statistics.attention`; positions are absolute, so that a run may begin anywhere.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from numpy.ma import MaskedArray

from whybox.errors import UsageError
from whybox.statistics.attention import JUDGED_FROM, SHORT
from whybox.statistics.marks import Mark, marked

WINDOWS = (4, 16, 64)  # local mass: how far back, in tokens
STRIPE_WEIGHT = 0.1  # a key that later queries give this much …
STRIPE_LIFT = 5  # … and this many times an even share …
STRIPE_AFTER = 8  # … from this many tokens later on
ROWS_AT_ONCE = 64
MAP_SIDE = 128  # a map has at most this many blocks a side


class Segment(NamedTuple):
    """Keys at positions start … end − 1."""

    name: str
    start: int
    end: int


@dataclass(frozen=True)
class AttentionWish:
    """What to keep: shares of these segments, this many heaviest keys a row, a map in blocks of this many tokens.

    marks: named sets of pairs whose weight is added up. scores: whether the size of the visible scores is kept.
    """

    segments: tuple[Segment, ...] = ()
    top: int = 8
    block: int = 64
    marks: tuple[tuple[str, Mark], ...] = ()
    scores: bool = False

    def __post_init__(self) -> None:
        if self.top < 0 or self.block < 1:
            raise UsageError(f"expected top ≥ 0 and block ≥ 1, found {self.top} and {self.block}")

    @classmethod
    def of_length(cls, tokens: int, segments: Sequence[Segment] = (), top: int = 8) -> "AttentionWish":
        """Blocks of 64 tokens, or as many times 64 as keep the map at MAP_SIDE blocks a side."""
        side = max(1, -(-tokens // (64 * MAP_SIDE)))
        return cls(tuple(segments), top, 64 * side)

    def numbers(self, tokens: int) -> int:
        """How many are kept for every head and query: sums, windows, heaviest keys, shares, columns, the map."""
        sums = 6 + len(WINDOWS) + len(self.segments) + len(self.marks) + 2 * self.scores
        return sums + 2 * self.top + 2 + -(-tokens // self.block**2)


@dataclass(frozen=True, eq=False)
class AttentionRows:
    """One layer. Rows that see nothing are undefined: `seen` is 0 there, and so is everything else.

    Axes beside the alphabet's: s segment · m mark · n sum of scores · w window of WINDOWS · t rank · Q, K blocks of the
    map, where block i holds positions i · block … and Q begins at the block of the first query. Weights are
    probabilities, entropy is in nats.
    """

    wish: AttentionWish
    query_pos: Int[np.ndarray, "q"]
    key_pos: Int[np.ndarray, "k"]
    seen: Int[np.ndarray, "q"]  # keys that the row can see
    askers: Int[np.ndarray, "k"]  # rows that can see the key
    entropy: Float[np.ndarray, "h q"]
    sink: Float[np.ndarray, "h q"]  # weight on position 0
    sink_mass: Float[np.ndarray, "h q"]  # weight on the learned sink, which is no key; 0 where there is none
    shares: Float[np.ndarray, "h q s"]
    marked: Float[np.ndarray, "h q m"]
    scores: Float[np.ndarray, "h q n"]  # Σ score and Σ score² over visible keys, where they were asked for
    previous: Float[np.ndarray, "h q"]
    own: Float[np.ndarray, "h q"]
    local: Float[np.ndarray, "h q w"]
    distance: Float[np.ndarray, "h q"]
    top_keys: Int[np.ndarray, "h q t"]  # positions, heaviest first; −1 where no weight is left
    top_weights: Float[np.ndarray, "h q t"]
    received: Float[np.ndarray, "h k"]  # Σ_q A
    stripes: Int[np.ndarray, "h k"]  # rows from 8 tokens later on that give ≥ max(.1, 5 / seen)
    map_total: Float[np.ndarray, "h Q K"]  # Σ A over the pairs of a block

    def __post_init__(self) -> None:
        for kept in vars(self).values():
            if isinstance(kept, np.ndarray):
                kept.flags.writeable = False

    @property
    def defined(self) -> Bool[np.ndarray, "q"]:
        """Rows that see anything."""
        return np.asarray(self.seen > 0)

    @property
    def judged(self) -> Bool[np.ndarray, "q"]:
        """Rows over which a head is judged: from the 9th on (short texts: from the 2nd on), and seeing something."""
        first = JUDGED_FROM if len(self.query_pos) >= SHORT else 1
        return self.defined & (self.query_pos >= first)

    @property
    def entropy_norm(self) -> Shaped[MaskedArray, "h q"]:
        """H / ln seen; undefined where fewer than two keys are visible."""
        return _kept(self.entropy / np.log(np.maximum(self.seen, 2)), self.seen >= 2)

    @property
    def effective_keys(self) -> Shaped[MaskedArray, "h q"]:
        """e^H."""
        return _kept(np.exp(self.entropy), self.defined)

    @property
    def column_mean(self) -> Shaped[MaskedArray, "h k"]:
        """Mean weight of a key over the rows that can see it; undefined for a key that no row sees."""
        return _kept(self.received / np.maximum(self.askers, 1), self.askers > 0)

    @property
    def stripe_share(self) -> Shaped[MaskedArray, "h k"]:
        """Share of the defined rows from STRIPE_AFTER tokens later on that make the key a stripe."""
        places = self.query_pos[self.defined]
        later = len(places) - np.searchsorted(places, self.key_pos + STRIPE_AFTER)
        return _kept(self.stripes / np.maximum(later, 1), later > 0)

    @property
    def score_sd(self) -> Float[np.ndarray, "h"] | None:
        """Standard deviation of all visible scores of a head; None where they were not asked for."""
        if not self.scores.shape[-1] or not self.seen.sum():
            return None
        mean, square = np.moveaxis(self.scores.sum(axis=1) / self.seen.sum(), -1, 0)
        return np.sqrt(np.maximum(square - mean**2, 0))

    @property
    def map(self) -> Float[np.ndarray, "h Q K"]:
        """Mean weight that the defined rows of a query block give to a key block; rows sum to 1 − sink mass."""
        places = self.query_pos[self.defined] // self.wish.block - self.query_pos[0] // self.wish.block
        rows = np.bincount(places, minlength=self.map_total.shape[1])
        return np.asarray(self.map_total / np.maximum(rows, 1)[:, None])


def from_pattern(
    pattern: Float[np.ndarray, "h q k"],
    visible: Bool[np.ndarray, "q k"],
    wish: AttentionWish,
    query_pos: Int[np.ndarray, "q"] | None = None,
    key_pos: Int[np.ndarray, "k"] | None = None,
    sink_mass: Float[np.ndarray, "h q"] | None = None,
    scores: Float[np.ndarray, "h q k"] | None = None,
) -> AttentionRows:
    """The record of a full pattern, in float64. Queries and keys stand at 0, 1, … unless told; queries ascend.

    scores: what the pattern was made of, where the wish asks for their size; scores that were cut count as hidden.
    """
    queries = np.arange(len(visible)) if query_pos is None else query_pos
    keys = np.arange(visible.shape[1]) if key_pos is None else key_pos
    a = np.where(visible, pattern, 0).astype(np.float64)
    back = queries[:, None] - keys[None, :]
    seen = visible.sum(axis=-1)
    top_keys, top_weights = _heaviest(a, keys, wish.top)
    return AttentionRows(
        wish=wish,
        query_pos=queries,
        key_pos=keys,
        seen=seen,
        askers=visible.sum(axis=0),
        entropy=_entropy(a),
        sink=_mass(a, keys == 0),
        sink_mass=np.zeros(a.shape[:2]) if sink_mass is None else sink_mass.astype(np.float64),
        shares=_stacked([_mass(a, (keys >= s.start) & (keys < s.end)) for s in wish.segments], a),
        marked=_stacked([_mass(a, marked(mark, queries, keys)) for _, mark in wish.marks], a),
        scores=_stacked(_score_sums(scores, visible) if wish.scores and scores is not None else [], a),
        previous=_mass(a, back == 1),
        own=_mass(a, back == 0),
        local=_stacked([_mass(a, (back >= 0) & (back <= window)) for window in WINDOWS], a),
        distance=(a * np.abs(back)).sum(axis=-1),
        top_keys=top_keys,
        top_weights=top_weights,
        received=a.sum(axis=1),
        stripes=(_loud(a, seen) & (back >= STRIPE_AFTER)).sum(axis=1),
        map_total=_pooled(a, queries, keys, wish.block),
    )


def rows_of(
    pattern: Float[np.ndarray, "h q k"],
    visible: Bool[np.ndarray, "q k"],
    wish: AttentionWish,
    query_pos: Int[np.ndarray, "q"],
    key_pos: Int[np.ndarray, "k"],
    sink_mass: Float[np.ndarray, "h q"] | None = None,
    scores: Float[np.ndarray, "h q k"] | None = None,
) -> AttentionRows:
    """`from_pattern`, a few rows at a time: what it reckons in float64 stays small beside the pattern."""
    parts = [slice(start, start + ROWS_AT_ONCE) for start in range(0, len(query_pos), ROWS_AT_ONCE)]
    beside = [[None if x is None else x[:, part] for x in (sink_mass, scores)] for part in parts]
    return joined(
        [
            from_pattern(pattern[:, part], visible[part], wish, query_pos[part], key_pos, *more)
            for part, more in zip(parts, beside, strict=True)
        ]
    )


def joined(parts: Sequence[AttentionRows]) -> AttentionRows:
    """The record of one run that was made in chunks: rows one after another, what keys received added up.

    Positions ascend from part to part. A later part may no longer hold keys of an earlier one (a window that moved on).
    """
    joining = Joining(sum(len(part.query_pos) for part in parts))
    for part in parts:
        joining.add(part)
    return joining.whole()


class Joining:
    """`joined` for parts that come one at a time: all that is kept of a row has its place from the beginning."""

    def __init__(self, rows: int) -> None:
        self._rows, self._filled = rows, 0
        self._wish: AttentionWish | None = None
        self._each: dict[str, Shaped[np.ndarray, "..."]] = {}
        self._keys = np.zeros(0, np.int64)
        self._by_key: dict[str, Shaped[np.ndarray, "..."]] = {}
        self._maps: list[tuple[int, Float[np.ndarray, "h Q K"]]] = []

    def add(self, part: AttentionRows) -> None:
        """The next part."""
        self._wish = part.wish
        values, place = vars(part), slice(self._filled, self._filled + len(part.query_pos))
        for name in BY_ROW:
            self._room(name, values[name], 0)[place] = values[name]
        for name in BY_HEAD_AND_ROW:
            self._room(name, values[name], 1)[:, place] = values[name]
        keys = np.unique(np.concatenate([self._keys, part.key_pos]))
        for name in BY_KEY:
            known = self._by_key.get(name, values[name][..., :0])
            self._by_key[name] = _added([(self._keys, known), (part.key_pos, values[name])], keys)
        self._maps.append((int(part.query_pos[0] // part.wish.block), part.map_total))
        self._filled, self._keys = place.stop, keys

    def whole(self) -> AttentionRows:
        """The record, once all parts are there."""
        assert self._wish is not None
        assert self._filled == self._rows
        return AttentionRows(
            wish=self._wish, key_pos=self._keys, map_total=_one_map(self._maps), **self._each, **self._by_key
        )

    def _room(self, name: str, like: Shaped[np.ndarray, "..."], axis: int) -> Shaped[np.ndarray, "..."]:
        if name not in self._each:
            shape = (*like.shape[:axis], self._rows, *like.shape[axis + 1 :])
            self._each[name] = np.empty(shape, like.dtype)
        return self._each[name]


BY_ROW = ("query_pos", "seen")
BY_HEAD_AND_ROW = (
    "entropy", "sink", "sink_mass", "shares", "marked", "scores", "previous", "own", "local", "distance", "top_keys",
    "top_weights",
)  # fmt: skip
BY_KEY = ("askers", "received", "stripes")


def _entropy(a: Float[np.ndarray, "h q k"]) -> Float[np.ndarray, "h q"]:
    logs = np.log(a, out=np.zeros_like(a), where=a > 0)
    return np.asarray(-(a * logs).sum(axis=-1) + 0.0)


def _mass(a: Float[np.ndarray, "h q k"], chosen: Bool[np.ndarray, "*q k"]) -> Float[np.ndarray, "h q"]:
    return np.asarray(np.where(chosen, a, 0).sum(axis=-1))


def _score_sums(scores: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"]) -> list[Float[np.ndarray, "h q"]]:
    s = np.where(visible & np.isfinite(scores), scores, 0).astype(np.float64)
    return [s.sum(axis=-1), np.square(s).sum(axis=-1)]


def _stacked(columns: Sequence[Float[np.ndarray, "h q"]], a: Float[np.ndarray, "h q k"]) -> Float[np.ndarray, "h q s"]:
    return np.stack(columns, axis=-1) if columns else np.zeros((*a.shape[:2], 0))


def _heaviest(
    a: Float[np.ndarray, "h q k"], keys: Int[np.ndarray, "k"], count: int
) -> tuple[Int[np.ndarray, "h q t"], Float[np.ndarray, "h q t"]]:
    """Positions and weights of the heaviest keys, the earlier first among equals; filled up with −1 and 0."""
    order = np.argsort(-a, axis=-1, kind="stable")[..., :count]
    weights = np.take_along_axis(a, order, axis=-1)
    missing = ((0, 0), (0, 0), (0, count - order.shape[-1]))
    places = np.where(weights > 0, keys[order], -1)
    return np.pad(places, missing, constant_values=-1), np.pad(weights, missing)


def _loud(a: Float[np.ndarray, "h q k"], seen: Int[np.ndarray, "q"]) -> Bool[np.ndarray, "h q k"]:
    return np.asarray(a >= loud_from(seen)[:, None])


def loud_from(seen: Int[np.ndarray, "q"]) -> Float[np.ndarray, "q"]:
    """The weight from which a key counts towards a stripe: max(.1, 5 / seen)."""
    return np.maximum(STRIPE_WEIGHT, STRIPE_LIFT / np.maximum(seen, 1))


def _pooled(
    a: Float[np.ndarray, "h q k"], queries: Int[np.ndarray, "q"], keys: Int[np.ndarray, "k"], block: int
) -> Float[np.ndarray, "h Q K"]:
    rows = _members(queries // block - queries[0] // block)
    columns = _members(keys // block)
    return np.asarray(rows.T @ a @ columns)


def _members(block: Int[np.ndarray, "n"]) -> Float[np.ndarray, "n B"]:
    """1 where an element belongs to a block."""
    return (block[:, None] == np.arange(block.max(initial=0) + 1)).astype(np.float64)


def _added(
    parts: Sequence[tuple[Int[np.ndarray, "_"], Shaped[np.ndarray, "..."]]], keys: Int[np.ndarray, "k"]
) -> Shaped[np.ndarray, "*h k"]:
    total = np.zeros((*parts[0][1].shape[:-1], len(keys)), parts[0][1].dtype)
    for places, values in parts:
        total[..., np.searchsorted(keys, places)] += values
    return total


def _one_map(parts: Sequence[tuple[int, Float[np.ndarray, "h _Q _K"]]]) -> Float[np.ndarray, "h Q K"]:
    """Each with the block where it begins."""
    first, maps = parts[0][0], [found for _, found in parts]
    rows = max(start - first + found.shape[1] for start, found in parts)
    total = np.zeros((len(maps[0]), rows, max(found.shape[2] for found in maps)), maps[0].dtype)
    for start, found in parts:
        total[:, start - first :, : found.shape[2]][:, : found.shape[1]] += found
    return total


def _kept(values: Float[np.ndarray, "h n"], kept: Bool[np.ndarray, "n"]) -> Shaped[MaskedArray, "h n"]:
    return np.ma.masked_array(values, np.broadcast_to(~kept, values.shape))
