"""Attention that another library computed: the same statistics, whatever model it came from.

out = model(**inputs, output_attentions=True)
whybox.attention(out.attentions, tokens).heads()
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from whybox.errors import SiteError, UsageError
from whybox.measure.anchors import is_pause
from whybox.measure.classes import classes_of
from whybox.measure.looking import map_block
from whybox.statistics.head_table import HeadTable
from whybox.statistics.marks import Behind, Keys, Mark, of_text
from whybox.statistics.rows import AttentionRows, AttentionWish, rows_of

Direction = Literal["causal", "both", "cross"]

ROW_BOUND = 1e-2  # a row of half-precision weights may miss 1 by this much
ALONG_THE_TEXT = ("previous", "next", "self", "local", "distance", "induction", "duplicate", "stripe")


@dataclass(frozen=True, eq=False)
class Brought:
    """One pattern [h q k] per layer; `tokens` name the queries, `keys` the keys (the same but for cross-attention).

    causal: no query has weight on a later key, in any layer; then later keys count as invisible.
    """

    patterns: tuple[Float[np.ndarray, "_ _ _"], ...]
    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    direction: Direction

    def __getitem__(self, layer: int) -> Float[np.ndarray, "_ _ _"]:
        if not 0 <= layer < len(self.patterns):
            raise SiteError(f"no layer {layer}: these arrays have layers 0 … {len(self.patterns) - 1}")
        return self.patterns[layer]

    @property
    def causal(self) -> bool:
        return self.direction == "causal"

    @property
    def visible(self) -> Bool[np.ndarray, "_ _"]:
        """Which keys each query could see."""
        whole = np.ones((len(self.tokens), len(self.keys)), bool)
        return np.tril(whole) if self.causal else whole

    @cached_property
    def attention(self) -> tuple[AttentionRows, ...]:
        """The record of each layer, as `Trace.attention` has it."""
        places = np.arange(len(self.tokens)), np.arange(len(self.keys))
        wish = AttentionWish(top=1, block=map_block(max(map(len, places))), marks=self._marks)
        return tuple(rows_of(pattern, self.visible, wish, *places) for pattern in self.patterns)

    @property
    def _marks(self) -> tuple[tuple[str, Mark], ...]:
        """Labels that are alike count as one token."""
        numbers = {label: number for number, label in enumerate(dict.fromkeys(self.keys))}
        text = () if self.direction == "cross" else of_text([numbers[label] for label in self.keys])
        return *text, ("next", Behind(-1)), ("anchor", Keys(self.anchors))

    @property
    def anchors(self) -> frozenset[int]:
        """Keys that are delimiters, line ends or special tokens, the first one left out."""
        return frozenset(place for place, label in enumerate(self.keys) if place and _is_anchor(label))

    def heads(self) -> HeadTable:
        """One row per head, layer by layer: the columns of `Trace.heads`, and `next`, `anchor`, `anchor_tokens`.

        Between two texts there are no distances: what rests on them is None. So is `next` where no query looks ahead.
        """
        table = HeadTable.of(enumerate(self.attention))
        rows = len(table["layer"])
        gone = {name for name in table if self.direction == "cross" and name.startswith(ALONG_THE_TEXT)}
        gone |= set() if self.direction == "both" else {"next"}
        empty: dict[str, Sequence[float | None]] = dict.fromkeys(gone, [None] * rows)
        return HeadTable({**table, **empty, "anchor_tokens": [len(self.anchors) / len(self.keys)] * rows})

    def classes(self) -> tuple[tuple[str, ...], ...]:
        """Classes of each row of the table; the probe's two are not to be had from arrays."""
        return tuple(classes_of(row) for row in self.heads().rows())


def attention(
    arrays: Iterable[object], tokens: Sequence[str], keys: Sequence[str] | None = None, batch: int | None = None
) -> Brought:
    """Attention weights as models return them: a tuple over layers of (batch, heads, q, k) or (heads, q, k).

    tokens: labels of the queries. keys: labels of the keys, for cross-attention. batch: which sequence, where there are
    several. Raises UsageError for an empty tuple (a kernel that keeps no weights), a batch that is not chosen from,
    another length, and rows that are no distribution.
    """
    given = tuple(arrays)
    if not given:
        raise UsageError(
            "the tuple of attentions is empty: the model ran with a kernel that keeps no weights",
            'load it with attn_implementation="eager" and ask for output_attentions=True',
        )
    labels = tuple(tokens if keys is None else keys)
    shape = (len(tokens), len(labels))
    patterns = tuple(_pattern(array, layer, shape, batch) for layer, array in enumerate(given))
    return Brought(patterns, tuple(tokens), labels, _direction(patterns, keys is not None, shape))


def _is_anchor(label: str) -> bool:
    """A pause, also as tokenizers of libraries spell it: [SEP], </s>, Ċ, ▁."""
    return re.fullmatch(r"\[[A-Z]+\]|<[^<>\s]+>|Ċ+", label) is not None or is_pause(label.strip("▁Ġ#"))


def _direction(patterns: Sequence[Float[np.ndarray, "_ _ _"]], named: bool, shape: tuple[int, int]) -> Direction:
    if named or shape[0] != shape[1]:
        return "cross"
    return "causal" if all(not np.triu(pattern, 1).any() for pattern in patterns) else "both"


def _pattern(array: object, layer: int, shape: tuple[int, int], batch: int | None) -> Float[np.ndarray, "h q k"]:
    pattern = _of_batch(_numbers(array, layer), layer, batch)
    if pattern.ndim != 3 or pattern.shape[1:] != shape:
        wanted = f"(batch, heads, {shape[0]}, {shape[1]}) or (heads, {shape[0]}, {shape[1]})"
        raise UsageError(
            f"layer {layer}: expected {wanted}, found {pattern.shape}",
            "give a label for each token of one sequence, without its padding: array[:, :, :n, :n]",
        )
    sums = pattern.sum(axis=-1)
    if not np.isfinite(pattern).all() or pattern.min() < 0 or np.abs(sums - 1).max() > ROW_BOUND:
        raise UsageError(
            f"layer {layer}: rows must be non-negative and sum to 1; sums lie in {sums.min():.4g} … {sums.max():.4g}",
            "give weights after the softmax; weights masked behind it are a fault of the model's code",
        )
    pattern.flags.writeable = False
    return pattern


def _numbers(array: object, layer: int) -> np.ndarray:
    try:
        return np.array(np.asarray(array), dtype=np.float32)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"layer {layer}: not an array of numbers ({error})", "give NumPy arrays, detached") from None


def _of_batch(pattern: np.ndarray, layer: int, batch: int | None) -> np.ndarray:
    """One sequence [h q k] of (batch, heads, q, k)."""
    if pattern.ndim != 4:
        return pattern
    count = len(pattern)
    if batch is None and count != 1:
        raise UsageError(f"layer {layer}: the batch holds {count} sequences", f"choose one: batch=0 … {count - 1}")
    if not 0 <= (batch or 0) < count:
        raise UsageError(f"layer {layer}: no sequence {batch}, the batch holds {count}", f"batch=0 … {count - 1}")
    return np.ascontiguousarray(pattern[batch or 0])
