"""Many texts gone on with at once: prefixes that several share are computed once, the rest goes through in batches.

A batch is filled with its texts, right-padded, some at a time so that activations stay few; then all its rows go on
together, one token each a step. A step reads all weights, however few its rows: batches behind different prefixes are
therefore joined before they go on, each row with its prefix in front, where that reads less. Padding stands NOWHERE,
so that no row sees it. Rows that are finished leave: the buffers are made smaller once a quarter of the rows has gone,
until then their places run idle.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import assert_never

import numpy as np
import torch
from torch import Tensor

from whybox.engine.edit import Edit, portion
from whybox.engine.fast.engine import FastEngine
from whybox.engine.fast.keys import NOWHERE, Buffered, Columns, Part, joined, padded
from whybox.engine.fast.pieces import Watch, chunks, needs_one_piece
from whybox.engine.fast.slots import Slots, own
from whybox.engine.fast.tap import BatchTap, Places, as_numpy
from whybox.engine.memory import Run, cache_bytes_per_token
from whybox.engine.needs import need_of_batch
from whybox.engine.prefixes import Fill, schedule
from whybox.engine.trace import Cache, Choose, Draft
from whybox.engine.writing import sharing
from whybox.errors import CapacityError, NonFiniteError
from whybox.parts.rope import frequencies
from whybox.spec import Spec
from whybox.weights import parameters

Array = np.ndarray

HELD = 2**30  # bytes of keys and values in a batch: some hundred texts of a small model, a dozen of a large one
IDLE = 1 / 4  # share of places that may run idle: at most so much work is lost, and few buffers are copied


def write(engine: FastEngine, drafts: Sequence[Draft], choose: Choose) -> list[tuple[bool, ...]]:
    """Goes on with every draft until `choose` ends it; what each of its edits changed. NonFiniteError as in a run.

    CapacityError before anything runs, where a batch would not fit in memory.
    """
    lengths = [len(draft.ids) + draft.count for draft in drafts]
    alike = same_angles(lengths, engine.spec)
    changed = [[False] * len(draft.edits) for draft in drafts]
    writers = [_Writer(engine, drafts, choose, max(lengths[index] for index in indices), changed) for indices in alike]
    plans = [writer.plan(indices) for writer, indices in zip(writers, alike, strict=True)]
    for writer, plan in zip(writers, plans, strict=True):
        writer.require_room(plan)
    with torch.inference_mode():
        for writer, plan in zip(writers, plans, strict=True):
            writer.run(plan)
    return [*map(tuple, changed)]


def same_angles(lengths: Sequence[int], spec: Spec) -> list[list[int]]:
    """Indices of texts whose positions turn alike: where RoPE depends on the length, each length may be a batch."""
    ropes = {layer.attention.rope for layer in spec.layers if layer.attention.rope is not None}
    found: dict[tuple[bytes, ...], list[int]] = {}
    for index, length in enumerate(lengths):
        found.setdefault(tuple(frequencies(rope, length).tobytes() for rope in ropes), []).append(index)
    return list(found.values())


def room(engine: FastEngine) -> int:
    """Slots that a batch may hold: HELD over the bytes of one, in all layers."""
    return max(HELD // cache_bytes_per_token(engine.spec, engine.packed.precision.compute.itemsize), 1)


@dataclass(frozen=True)
class Stand:
    """Drafts that stand together, longest text first, behind the first `start` ids: those of the cache at `depth`."""

    depth: int
    start: int
    indices: tuple[int, ...]


@dataclass(frozen=True)
class GoOn:
    """All drafts that stand by now are gone on with, together."""


Step = Fill | Stand | GoOn
_Held = tuple[int, tuple[Edit, ...]]  # a draft, and its edits for the rows at hand


@dataclass(frozen=True, eq=False)
class _Writer:
    """Drafts that may stand in one batch. length: that of the whole run for which RoPE is chosen.

    changed: of all drafts, whether each edit changed anything so far.
    """

    engine: FastEngine
    drafts: Sequence[Draft]
    choose: Choose
    length: int
    changed: list[list[bool]]

    def plan(self, indices: Sequence[int]) -> list[Step]:
        edited = [index for index in indices if self.drafts[index].edits]
        plain = [index for index in indices if not self.drafts[index].edits]
        return list(self._in_time([*self._edited(edited), *self._behind_prefixes(plain)]))

    def _in_time(self, steps: Sequence[Step]) -> Iterator[Step]:
        """Stands wait for those behind them, as long as they may be joined."""
        waiting: list[Stand] = []
        for step in steps:
            if isinstance(step, Stand):
                if waiting and not self._may_join([*waiting, step]):
                    yield GoOn()
                    waiting = []
                waiting.append(step)
            yield step
        if waiting:
            yield GoOn()

    def _may_join(self, stands: Sequence[Stand]) -> bool:
        """Where all of it fits, and every row that gets its prefix for itself reads less of it than a step of weights.

        Edits speak of runs as they were planned; a window may have let go of a part of the prefix.
        """
        spec, rows = self.engine.spec, sum(len(stand.indices) for stand in stands)
        width = max(stand.start + self.slots(stand) for stand in stands)
        copied = max(len(stand.indices) * stand.start for stand in stands) * cache_bytes_per_token(spec, 1)
        kept = min((each.attention.window or width for each in spec.layers), default=width)
        if rows * width > room(self.engine) or copied > sum(map(math.prod, parameters(spec).values())):
            return False
        if any(self.drafts[index].edits for stand in stands for index in stand.indices):
            return False
        return max(stand.start for stand in stands) <= kept and self._holds(Run(width, batch=2 * rows, chunk=1, tail=1))

    def _holds(self, run: Run) -> bool:
        """Whether the memory is there, the batches themselves and the one that they become."""
        try:
            self.engine.require_room(run, need_of_batch)
        except CapacityError:
            return False
        return True

    def _edited(self, indices: Sequence[int]) -> Iterator[Step]:
        """The same text under other edits shares the ids that none of them reaches."""
        for prefix, members in sharing([self.drafts[index] for index in indices], self.engine.spec):
            if prefix:
                yield Fill(0, 0, prefix)
            yield from self._together([indices[member] for member in members], int(bool(prefix)), len(prefix))

    def _behind_prefixes(self, indices: Sequence[int]) -> Iterator[Step]:
        """Equal texts, to be gone on with in different ways, have all but their last token as a prefix."""
        for step in schedule([self.drafts[index].ids for index in indices], room(self.engine)):
            if isinstance(step, Fill):
                yield step
                continue
            yield from self._together(
                [indices[same[0]] for same in step.prompts if len(same) == 1], step.depth, step.start
            )
            for text, same in zip(step.texts, step.prompts, strict=True):
                if len(same) == 1:
                    continue
                rest, depth = text[:-1], step.depth
                if rest:
                    yield Fill(depth, step.start, rest)
                yield from self._together([indices[i] for i in same], depth + bool(rest), step.start + len(rest))

    def _together(self, indices: Sequence[int], depth: int, start: int) -> Iterator[Stand]:
        """Longest first, as many at a time as there is room for."""
        ahead = iter(sorted(indices, key=lambda index: -len(self.drafts[index].ids)))
        for first in ahead:
            slots = len(self.drafts[first].ids) - start + max(self.drafts[index].count for index in indices)
            yield Stand(depth, start, (first, *islice(ahead, max(room(self.engine) // slots - 1, 0))))

    def slots(self, stand: Stand) -> int:
        """What each row needs: the longest text behind the prefix and all that is written but the last."""
        drafts = [self.drafts[index] for index in stand.indices]
        return max(len(draft.ids) for draft in drafts) - stand.start + max(draft.count for draft in drafts) - 1

    def require_room(self, plan: Sequence[Step]) -> None:
        """CapacityError where one of the batches would not fit in memory."""
        for stand in (step for step in plan if isinstance(step, Stand)):
            rows, edits = len(stand.indices), [edit for index in stand.indices for edit in self.drafts[index].edits]
            longest = max(len(self.drafts[index].ids) for index in stand.indices) - stand.start
            at_once = min(max(self.engine.chunk // rows, 1), longest)
            run = Run(self.slots(stand), past=stand.start, batch=rows, chunk=at_once, tail=1)
            self.engine.require_room(run, need_of_batch, edits)

    def run(self, plan: Sequence[Step]) -> None:
        """A stack of caches, one for each prefix on the way, and the batches that stand."""
        caches, standing = [self.engine.fresh_cache(self.length)], list[_Batch]()
        for step in plan:
            match step:
                case Fill():
                    caches[step.depth + 1 :] = [self.engine.run(step.ids, cache=caches[step.depth], tail=1).cache]
                case Stand():
                    standing.append(_Batch.of(self, step, caches[step.depth]))
                    standing[-1].fill()
                case GoOn():
                    _Batch.joined(standing).go_on()
                    standing = []
                case _:
                    assert_never(step)

    def passed(self, ids: Array, positions: Array, held: Sequence[_Held], layers: Sequence[Buffered]) -> Tensor:
        """The last residual stream [b 1 c] of one pass of ids [b q] at positions [b q], padding left out."""
        engine, lengths = self.engine, _lengths(positions)
        tap = BatchTap(engine.spec, (), [edits for _, edits in held])
        batch = engine.batch(positions, lengths.tolist(), tap, self.length)
        layers[0].columns.fill(positions)
        needed = ids.shape[1] - int(lengths.min()) + 1
        x, _ = engine.through(engine.embed(torch.from_numpy(ids), batch), batch, layers, needed=needed)
        self._note(held, tap)
        ends = torch.from_numpy(lengths - 1 - ids.shape[1] + x.shape[1])
        return x[torch.arange(len(ids)), ends][:, None]

    def logits(self, x: Tensor, positions: Array, held: Sequence[_Held]) -> Tensor:
        """Logits [b v] of what `passed` gives."""
        places = positions[np.arange(len(x)), _lengths(positions) - 1][:, None]
        tap = BatchTap(self.engine.spec, (), [edits for _, edits in held])
        logits = self.engine.head(x, tap, Places(places, places, [1] * len(x)))[:, 0]
        self._note(held, tap)
        return logits

    def _note(self, held: Sequence[_Held], tap: BatchTap) -> None:
        """What edits changed in one pass."""
        for (index, edits), flags in zip(held, tap.changed, strict=True):
            if edits:
                self.changed[index] = [*map(any, zip(self.changed[index], flags, strict=True))]


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
    layers: list[Buffered]
    columns: Columns
    logits: Tensor = field(default_factory=lambda: torch.empty(0))

    @classmethod
    def of(cls, writer: _Writer, stand: Stand, cache: Cache) -> "_Batch":
        rows = [_Row(index, list(writer.drafts[index].ids), writer.drafts[index].edits) for index in stand.indices]
        columns = Columns(np.full((len(rows), writer.slots(stand)), NOWHERE))
        layers = [_buffers(own(slots), columns) for slots in cache.layers]
        return cls(writer, stand.start, rows, layers, columns)

    @classmethod
    def joined(cls, batches: Sequence["_Batch"]) -> "_Batch":
        """The rows of all, each with its prefix in front of its own keys."""
        if len(batches) == 1:
            return batches[0]
        writer, rows = batches[0].writer, [row for each in batches for row in each.rows]
        filled = max(each.seen + each.columns.filled for each in batches)
        steps = max(writer.drafts[row.index].count for row in rows) - 1
        columns = Columns(np.full((len(rows), filled + steps), NOWHERE), filled)
        first = 0
        for each in batches:
            own = columns.positions[first : first + len(each.rows)]
            own[:, : each.seen] = np.arange(each.seen)
            own[:, each.seen : each.seen + each.columns.filled] = each.columns.positions[:, : each.columns.filled]
            first += len(each.rows)
        layers = [joined(stacked, columns) for stacked in zip(*(each.layers for each in batches), strict=True)]
        return cls(writer, 0, rows, layers, columns, torch.cat([each.logits for each in batches]))

    def go_on(self) -> None:
        """All rows to their ends."""
        while going := self._chosen(self.logits):
            if len(going) <= (1 - IDLE) * len(self.rows):
                self._keep(going)
            self.logits = self._step()

    def fill(self) -> None:
        """Logits [b v] behind every text: so many texts at a time as fit into a chunk."""
        found, first = [], 0
        while first < len(self.rows):
            width = len(self.rows[first].ids) - self.seen
            chosen = slice(first, first + max(self.writer.engine.chunk // width, 1))
            found.append(self._filled_with(chosen, width))
            first = chosen.stop
        self.columns.filled = len(self.rows[0].ids) - self.seen
        self.logits = torch.cat(found)

    def _filled_with(self, chosen: slice, width: int) -> Tensor:
        """A single text may be longer than a chunk: it goes through in several."""
        rows, columns = self.rows[chosen], Columns(self.columns.positions[chosen])
        layers = [layer.rows(chosen, columns) for layer in self.layers]
        ids, positions = padded([row.ids[self.seen :] for row in rows], self.seen)
        engine = self.writer.engine
        whole = any(needs_one_piece(Watch(edits=row.edits), Cache((), 0, 0), engine.spec) for row in rows)
        for part in chunks(range(width), width if whole else engine.chunk):
            held = [(row.index, self._edits(row, part)) for row in rows]
            piece = slice(part.start, part.stop)
            x = self.writer.passed(ids[:, piece], positions[:, piece], held, layers)
        return self.writer.logits(x, positions[:, piece], held)

    def _edits(self, row: _Row, part: range) -> tuple[Edit, ...]:
        end = len(row.ids)
        whole, part = range(end), range(self.seen + part.start, min(self.seen + part.stop, end))
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
        chosen = torch.tensor(places)
        for index, layer in enumerate(self.layers):  # one after the other, so that no two copies of all are held
            self.layers[index] = layer.rows(chosen, self.columns)

    def _step(self) -> Tensor:
        """Every row's last id through the layers."""
        ids = np.array([[row.ids[-1]] for row in self.rows])
        positions = np.array([[NOWHERE if row.idle else len(row.ids) - 1] for row in self.rows])
        held = [(row.index, row.edited(row.last, row.last, self.writer.engine.spec)) for row in self.rows]
        return self.writer.logits(self.writer.passed(ids, positions, held, self.layers), positions, held)

    def _require_finite(self, logits: Array, places: Sequence[int]) -> None:
        """A run of its own finds where a row's first bad value appeared."""
        finite = np.isfinite(logits.min(axis=1)) & np.isfinite(logits.max(axis=1))
        for row in (self.rows[place] for place, good in zip(places, finite, strict=True) if not good):
            engine = self.writer.engine
            engine.run(row.ids, (), row.edits, engine.fresh_cache(self.writer.length), tail=1)
            raise NonFiniteError("logits", None, len(row.ids) - 1, "finite when the text ran alone")


def _lengths(positions: Array) -> Array:
    """Rows [b] of each that are no padding, at least one."""
    return np.maximum((positions < NOWHERE).sum(axis=1), 1)


def _buffers(prefix: Slots, columns: Columns) -> Buffered:
    """Behind a prefix of one layer: room for all columns."""
    batch, width = columns.positions.shape
    key, value = (x.new_zeros(batch, x.shape[0], width, x.shape[-1]) for x in (prefix.key, prefix.value))
    shared = Part.of(prefix) if len(prefix) else None
    return Buffered(shared, key, value, columns)
