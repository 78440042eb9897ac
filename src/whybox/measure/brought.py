"""Attention that another library computed: the same statistics, whatever model it came from.

out = model(**inputs, output_attentions=True)
whybox.attention(out.attentions, tokens).heads()
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from jaxtyping import Bool, Float

from whybox.errors import SiteError, UsageError
from whybox.measure.anchors import is_pause
from whybox.measure.arrays import patterns_of
from whybox.measure.budget import QueryRow
from whybox.measure.classes import classes_of
from whybox.measure.heads import Heads, secondary_sinks
from whybox.measure.looking import map_block
from whybox.statistics.head_table import HeadTable
from whybox.statistics.marks import Behind, Keys, Mark, of_text
from whybox.statistics.rows import AttentionRows, AttentionWish, rows_of
from whybox.statistics.rows import Segment as Share
from whybox.text.prompt import Segment, SegmentKind

Direction = Literal["causal", "both", "cross"]
Role = Literal["system", "evidence", "generated", "template"]
Named = Mapping[str, range | tuple[range, Role]]

ALONG_THE_TEXT = ("previous", "next", "self", "local", "distance", "induction", "duplicate", "stripe")
WHOLE, QUERIES, UNNAMED = "tokens", "queries", "unnamed "  # names that are given here


@dataclass(frozen=True, eq=False)
class Brought:
    """One pattern [h q k] per layer; `tokens` name the queries, `keys` the keys (the same but for cross-attention).

    segments: of the keys; each key is in one. query: the row that decides, None where none was named and queries look
    both ways.
    """

    patterns: tuple[Float[np.ndarray, "_ _ _"], ...]
    tokens: tuple[str, ...]
    keys: tuple[str, ...]
    direction: Direction
    segments: tuple[Segment, ...]
    evidence: tuple[str, ...]
    query: int | None

    def __getitem__(self, layer: int) -> Float[np.ndarray, "_ _ _"]:
        if not 0 <= layer < len(self.patterns):
            raise SiteError(f"no layer {layer}: these arrays have layers 0 … {len(self.patterns) - 1}")
        return self.patterns[layer]

    @property
    def causal(self) -> bool:
        return self.direction == "causal"

    @property
    def named(self) -> bool:
        """Whether parts of the text were named."""
        return any(segment.name != WHOLE for segment in self.segments)

    @cached_property
    def visible(self) -> Bool[np.ndarray, "_ _"]:
        """Which keys each query could see; none where a row is empty in every head."""
        seen = np.any([pattern.any(axis=(0, 2)) for pattern in self.patterns], axis=0)
        whole = np.broadcast_to(seen[:, None], (len(self.tokens), len(self.keys)))
        return np.tril(whole) if self.causal else whole

    @cached_property
    def attention(self) -> tuple[AttentionRows, ...]:
        """The record of each layer, as `Trace.attention` has it."""
        places = np.arange(len(self.tokens)), np.arange(len(self.keys))
        shares = tuple(Share(segment.name, segment.start, segment.end) for segment in self.segments)
        wish = AttentionWish(shares, top=1, block=map_block(max(map(len, places))), marks=self._marks)
        return tuple(rows_of(pattern, self.visible, wish, *places) for pattern in self.patterns)

    @property
    def decision(self) -> tuple[QueryRow, ...]:
        """The row that decides, layer by layer; the mean of the judged rows where none does."""
        if self.query is None:
            judged, places = self.attention[0].judged, np.arange(len(self.keys))
            rows = [pattern[:, judged].mean(axis=1) for pattern in self.patterns]
        else:
            places = np.flatnonzero(self.visible[self.query])
            rows = [pattern[:, self.query, places] for pattern in self.patterns]
        return tuple(QueryRow(row, places, np.zeros(len(row), row.dtype)) for row in rows)

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

    def looked(self) -> Heads:
        """Table, classes and secondary sinks."""
        secondary = tuple(found for rows in self.attention for found in secondary_sinks(rows))
        return Heads(self.heads(), self.classes(), secondary)


def attention(
    arrays: Iterable[object],
    tokens: Sequence[str],
    keys: Sequence[str] | None = None,
    batch: int | None = None,
    segments: Named | None = None,
    query: int | None = None,
    causal: bool | None = None,
) -> Brought:
    """Attention weights as models return them: a tuple over layers of (batch, heads, q, k) or (heads, q, k).

    tokens: labels of the queries. keys: labels of the keys, for cross-attention. batch: which sequence, where there are
    several. segments: name → range of keys, or (range, role); what none holds counts as template. query: the row that
    decides (default: the last one, unless queries look both ways). causal: whether no query may see a later key
    (default: as the weights are). Raises UsageError for what is no attention, and says what it looks like.
    """
    labels = tokens if keys is None else keys
    patterns = patterns_of(arrays, tokens, labels, batch)
    found, told = _direction(patterns, keys is not None, causal), [_told(*named) for named in (segments or {}).items()]
    return Brought(
        patterns,
        tuple(tokens),
        tuple(labels),
        found,
        tuple(_segments(told, len(labels))),
        tuple(each.name for each in told if each.role == "evidence"),
        _query(query, len(tokens), found),
    )


def _is_anchor(label: str) -> bool:
    """A pause, also as tokenizers of libraries spell it: [SEP], </s>, Ċ, ▁."""
    return re.fullmatch(r"\[[A-Z]+\]|<[^<>\s]+>|Ċ+", label) is not None or is_pause(label.strip("▁Ġ#"))


def _direction(patterns: Sequence[Float[np.ndarray, "_ _ _"]], named: bool, causal: bool | None) -> Direction:
    if named:
        return "cross"
    if causal is not None:
        return "causal" if causal else "both"
    return "causal" if all(not np.triu(pattern, 1).any() for pattern in patterns) else "both"


def _query(query: int | None, count: int, direction: Direction) -> int | None:
    if query is None:
        return None if direction == "both" else count - 1
    if not -count <= query < count:
        raise UsageError(f"no query {query}: there are {count}", f"query=0 … {count - 1}")
    return query % count


@dataclass(frozen=True)
class _Told:
    """A segment as it was named."""

    name: str
    held: range
    role: object


def _told(name: str, found: object) -> _Told:
    held, role = found if isinstance(found, tuple) and len(found) == 2 else (found, None)
    if name == QUERIES or name.startswith(UNNAMED):
        raise UsageError(f"segment {name!r}: that name is given to what no segment names", "choose another")
    if not isinstance(held, range):
        raise UsageError(f"segment {name!r}: expected a range of keys, found {found!r}", "for instance: range(3, 9)")
    return _Told(name, held, role)


def _segments(told: Sequence[_Told], count: int) -> Iterator[Segment]:
    """Those that were named in the order of the text, and what lies between them."""
    if not told:
        yield Segment(WHOLE, SegmentKind.PART, None, 0, count)
        return
    end = unnamed = 0
    for each in sorted(told, key=lambda each: each.held.start):
        _require_range(each, end, count)
        if each.held.start > end:
            yield Segment(f"{UNNAMED}{(unnamed := unnamed + 1)}", SegmentKind.TEMPLATE, None, end, each.held.start)
        role = "system" if each.role == "system" else "user"
        yield Segment(each.name, _kind(each.name, each.role), role, each.held.start, each.held.stop)
        end = each.held.stop
    if end < count:
        yield Segment(f"{UNNAMED}{unnamed + 1}", SegmentKind.TEMPLATE, None, end, count)


def _require_range(each: _Told, free: int, count: int) -> None:
    held = each.held
    if held.step != 1 or not 0 <= held.start < held.stop <= count:
        raise UsageError(
            f"segment {each.name!r}: expected keys within 0 … {count - 1}, found {held}",
            f"a range with at least one key: range(0, {count})",
        )
    if held.start < free:
        raise UsageError(f"segment {each.name!r} begins at key {held.start}, which another holds", "name each key once")


def _kind(name: str, role: object) -> SegmentKind:
    match role:
        case "generated":
            return SegmentKind.GENERATED
        case "template":
            return SegmentKind.TEMPLATE
        case None | "system" | "evidence":
            return SegmentKind.PART
        case _:
            raise UsageError(f"segment {name!r} has no role {role!r}", "roles: system, evidence, generated, template")
