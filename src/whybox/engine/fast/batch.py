"""Many texts gone on with at once: prefixes that several share are computed once, the rest goes through in batches.

A batch is filled with its texts, right-padded, some at a time so that activations stay few; then all its rows go on
together, one token each a step. Padding stands NOWHERE, so that no row sees it. Rows that are finished leave: the
buffers are made smaller once a quarter of the rows has gone, until then their places run idle.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from whybox.engine.edit import Edit, portion
from whybox.engine.fast.engine import FastEngine, as_numpy, chunks, own
from whybox.engine.fast.keys import NOWHERE, Buffered, Columns, Part, padded
from whybox.engine.fast.slots import Slots
from whybox.engine.fast.tap import BatchTap, Places
from whybox.engine.memory import cache_bytes_per_token
from whybox.engine.prefixes import Fill, schedule
from whybox.engine.trace import Cache, Choose, Draft
from whybox.errors import NonFiniteError
from whybox.parts.rope import frequencies
from whybox.spec import Spec

Array = np.ndarray

HELD = 2**30  # bytes of keys and values in a batch: some hundred texts of a small model, a dozen of a large one
IDLE = 1 / 4  # share of places that may run idle: at most so much work is lost, and few buffers are copied


def write(engine: FastEngine, drafts: Sequence[Draft], choose: Choose) -> None:
    """Goes on with every draft until `choose` ends it. NonFiniteError as in a run of its own."""
    with torch.inference_mode():
        for alike in same_angles(drafts, engine.spec):
            length = max(len(drafts[index].ids) + drafts[index].count for index in alike)
            _Writer(engine, drafts, choose, length).run(alike)


def same_angles(drafts: Sequence[Draft], spec: Spec) -> list[list[int]]:
    """Indices of drafts whose positions turn alike: where RoPE depends on the length, each length may be a batch."""
    ropes = {layer.attention.rope for layer in spec.layers if layer.attention.rope is not None}
    found: dict[tuple[bytes, ...], list[int]] = {}
    for index, draft in enumerate(drafts):
        length = len(draft.ids) + draft.count
        found.setdefault(tuple(frequencies(rope, length).tobytes() for rope in ropes), []).append(index)
    return list(found.values())


def room(engine: FastEngine) -> int:
    """Slots that a batch may hold: HELD over the bytes of one, in all layers."""
    return max(HELD // cache_bytes_per_token(engine.spec, engine.packed.precision.compute.itemsize), 1)


@dataclass(frozen=True, eq=False)
class _Writer:
    """Drafts that may stand in one batch. length: that of the whole run for which RoPE is chosen."""

    engine: FastEngine
    drafts: Sequence[Draft]
    choose: Choose
    length: int

    def run(self, indices: Sequence[int]) -> None:
        """What is edited shares no prefix: an edit may name positions that only its own text has."""
        empty = self.engine.fresh_cache(self.length)
        self._together([index for index in indices if self.drafts[index].edits], empty)
        self._behind_prefixes([index for index in indices if not self.drafts[index].edits], empty)

    def _behind_prefixes(self, indices: Sequence[int], empty: Cache) -> None:
        caches = [empty]
        for step in schedule([self.drafts[index].ids for index in indices], room(self.engine)):
            cache = caches[step.depth]
            if isinstance(step, Fill):
                caches[step.depth + 1 :] = [self._filled(step.ids, cache)]
                continue
            self._together([indices[same[0]] for same in step.prompts if len(same) == 1], cache)
            for same in step.prompts:
                if len(same) > 1:
                    self._copies([indices[prompt] for prompt in same], cache)

    def _copies(self, indices: Sequence[int], cache: Cache) -> None:
        """Equal texts, to be gone on with in different ways: all but the last token is a prefix of them all."""
        rest = self.drafts[indices[0]].ids[cache.seen : -1]
        self._together(indices, self._filled(rest, cache) if rest else cache)

    def _filled(self, ids: Sequence[int], cache: Cache) -> Cache:
        return self.engine.run(ids, cache=cache, tail=1).cache

    def _together(self, indices: Sequence[int], cache: Cache) -> None:
        """Longest first, as many at a time as there is room for."""
        ahead = iter(sorted(indices, key=lambda index: -len(self.drafts[index].ids)))
        for first in ahead:
            slots = len(self.drafts[first].ids) - cache.seen + max(self.drafts[index].count for index in indices)
            members = [first, *islice(ahead, max(room(self.engine) // slots - 1, 0))]
            _Batch.of(self, members, cache).run()

    def passed(
        self, ids: Array, positions: Array, edits: Sequence[tuple[Edit, ...]], layers: Sequence[Buffered]
    ) -> Tensor:
        """One pass of ids [b q] at positions [b q]: logits [b v] behind the last of each row that is no padding."""
        engine, each = self.engine, np.arange(len(ids))
        lengths = np.maximum((positions < NOWHERE).sum(axis=1), 1)
        tap = BatchTap(engine.spec, (), edits)
        batch = engine.batch(positions, lengths.tolist(), tap, self.length)
        layers[0].columns.fill(positions)
        needed = ids.shape[1] - int(lengths.min()) + 1
        x, _ = engine.through(engine.embed(torch.from_numpy(ids), batch), batch, layers, needed=needed)
        ends = lengths - 1
        last = x[torch.from_numpy(each), torch.from_numpy(ends - ids.shape[1] + x.shape[1])][:, None]
        places = positions[each, ends][:, None]
        return engine.head(last, tap, Places(places, places, [1] * len(ids)))[:, 0]


@dataclass
class _Row:
    """The place of one draft in a batch. ids: its text so far."""

    index: int
    ids: list[int]
    edits: tuple[Edit, ...]
    idle: bool = False

    @property
    def last(self) -> range:
        """The position of the last id."""
        return range(len(self.ids) - 1, len(self.ids))

    def edited(self, part: range, whole: range, spec: Spec) -> tuple[Edit, ...]:
        """Its edits for a part of the positions that a run feeds; nobody edits an idle row."""
        return () if self.idle else tuple(portion(edit, whole, part, spec) for edit in self.edits)


@dataclass(eq=False)
class _Batch:
    """Rows that stand together, longest text first, behind the first `seen` ids, which they share."""

    writer: _Writer
    seen: int
    rows: list[_Row]
    layers: Sequence[Buffered]
    columns: Columns

    @classmethod
    def of(cls, writer: _Writer, indices: Sequence[int], cache: Cache) -> "_Batch":
        drafts = [writer.drafts[index] for index in indices]
        width = max(len(draft.ids) for draft in drafts) - cache.seen + max(draft.count for draft in drafts) - 1
        columns = Columns(np.full((len(drafts), width), NOWHERE))
        layers = [_buffers(own(slots), columns) for slots in cache.layers]
        rows = [_Row(index, list(draft.ids), draft.edits) for index, draft in zip(indices, drafts, strict=True)]
        return cls(writer, cache.seen, rows, layers, columns)

    def run(self) -> None:
        logits = self._filled()
        while going := self._chosen(logits):
            if len(going) <= (1 - IDLE) * len(self.rows):
                self._keep(going)
            logits = self._step()

    def _filled(self) -> Tensor:
        """Logits [b v] behind every text: so many texts at a time as fit into a chunk."""
        found, first = [], 0
        while first < len(self.rows):
            width = len(self.rows[first].ids) - self.seen
            chosen = slice(first, first + max(self.writer.engine.chunk // width, 1))
            found.append(self._filled_with(chosen, width))
            first = chosen.stop
        self.columns.filled = len(self.rows[0].ids) - self.seen
        return torch.cat(found)

    def _filled_with(self, chosen: slice, width: int) -> Tensor:
        """A single text may be longer than a chunk: it goes through in several."""
        rows, columns = self.rows[chosen], Columns(self.columns.positions[chosen])
        layers = [layer.rows(chosen, columns) for layer in self.layers]
        ids, positions = padded([row.ids[self.seen :] for row in rows], self.seen)
        for part in chunks(range(width), self.writer.engine.chunk):
            edits = [self._edits(row, part) for row in rows]
            piece = slice(part.start, part.stop)
            logits = self.writer.passed(ids[:, piece], positions[:, piece], edits, layers)
        return logits

    def _edits(self, row: _Row, part: range) -> tuple[Edit, ...]:
        end = len(row.ids)
        whole, part = range(self.seen, end), range(self.seen + part.start, min(self.seen + part.stop, end))
        return row.edited(part, whole, self.writer.engine.spec)

    def _chosen(self, logits: Tensor) -> list[int]:
        """The places that go on, each with one id more; the others are idle from now on."""
        places = [place for place, row in enumerate(self.rows) if not row.idle]
        shown = as_numpy(logits if len(places) == len(self.rows) else logits[places])
        self._require_finite(shown, places)
        ids = self.writer.choose([self.rows[place].index for place in places], shown)
        for place, chosen in zip(places, ids, strict=True):
            self.rows[place].idle = chosen is None
            self.rows[place].ids += [] if chosen is None else [chosen]
        return [place for place in places if not self.rows[place].idle]

    def _keep(self, places: list[int]) -> None:
        self.rows = [self.rows[place] for place in places]
        self.columns = Columns(self.columns.positions[places], self.columns.filled)
        self.layers = [layer.rows(torch.tensor(places), self.columns) for layer in self.layers]

    def _step(self) -> Tensor:
        """Every row's last id through the layers."""
        ids = np.array([[row.ids[-1]] for row in self.rows])
        positions = np.array([[NOWHERE if row.idle else len(row.ids) - 1] for row in self.rows])
        edits = [row.edited(row.last, row.last, self.writer.engine.spec) for row in self.rows]
        return self.writer.passed(ids, positions, edits, self.layers)

    def _require_finite(self, logits: Array, places: Sequence[int]) -> None:
        """A run of its own finds where a row's first bad value appeared."""
        finite = np.isfinite(logits.min(axis=1)) & np.isfinite(logits.max(axis=1))
        for row in (self.rows[place] for place, good in zip(places, finite, strict=True) if not good):
            engine = self.writer.engine
            engine.run(row.ids, (), row.edits, engine.fresh_cache(self.writer.length), tail=1)
            raise NonFiniteError("logits", None, len(row.ids) - 1, "finite when the text ran alone")


def _buffers(prefix: Slots, columns: Columns) -> Buffered:
    """Behind a prefix of one layer: room for all columns."""
    batch, width = columns.positions.shape
    key, value = (x.new_zeros(batch, x.shape[0], width, x.shape[-1]) for x in (prefix.key, prefix.value))
    shared = Part.of(prefix) if len(prefix) else None
    return Buffered(shared, key, value, columns)
