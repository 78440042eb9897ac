"""The fast engine: the reference engine's sites in the same order, on torch tensors, with cache, batch and GPU."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from whybox.engine import machine
from whybox.engine.between import Between, nothing
from whybox.engine.edit import Edit, portion
from whybox.engine.fast import kernel_choice, slots
from whybox.engine.fast.angles import AngleTables
from whybox.engine.fast.block import SCORE_SITES, Batch, Block
from whybox.engine.fast.kernel_choice import Kernel
from whybox.engine.fast.keys import NOWHERE, Alone, Beside, LayerKeys, padded
from whybox.engine.fast.packed import Packed, StreamedLayers, linear, norm
from whybox.engine.fast.pieces import Watch, chunks, extend, joined, needs_one_piece
from whybox.engine.fast.products import plain_bytes
from whybox.engine.fast.slots import own
from whybox.engine.fast.tap import BatchTap, Places, as_numpy
from whybox.engine.fast.tiled import workbench
from whybox.engine.fast.turning import Turn
from whybox.engine.forgotten import forgotten, require_held
from whybox.engine.gradient import Gradient
from whybox.engine.memory import Need, Run, require_room
from whybox.engine.needs import need, need_beside
from whybox.engine.read import Reading
from whybox.engine.trace import Answer, Cache, Change, Choose, Draft, Trace, Wish, wanted
from whybox.engine.wishes import named_sites
from whybox.errors import NonFiniteError, PromptError, UsageError
from whybox.spec import Rope, Spec
from whybox.statistics.rows import AttentionRows, AttentionWish, Joining
from whybox.weights import Origin

Array = np.ndarray
CHUNK = 4096
STEP = 4  # tokens behind a cache that need less memory than what asking the machine for it takes time
MANY = 256  # rows whose passing leaves more behind than giving it back takes time
TIDY = 4  # layers: between what is kept of them lie holes that what follows does not always fit into
SCORES = 2**26  # numbers [h q k] that one layer may hold at once while a bad value is looked for


@dataclass(eq=False)
class FastEngine:
    """Runs packed weights. attention: the kernel where nobody watches; `kernel` says the same in words.

    chunk: most tokens that go through the layers at once. neighbours: rows of the batch that a run is one of.
    padding: rows behind the run's own, because it stands beside a text so much longer. origin: of the packed weights.
    between: called before each layer.
    """

    packed: Packed
    attention: Kernel = Kernel.AUTO
    chunk: int = CHUNK
    neighbours: int = 1
    origin: Origin = field(default_factory=Origin)
    padding: int = 0
    between: Between = field(default=nothing)
    _angles: dict[int | None, AngleTables] = field(default_factory=dict, init=False)

    @property
    def spec(self) -> Spec:
        return self.packed.spec

    @property
    def rows(self) -> int:
        """Of a batch that a run is one of."""
        return self.neighbours + (self.padding > 0)

    @property
    def name(self) -> str:
        """torch-streamed: weights decoded as they are used."""
        return "torch" if isinstance(self.packed.layers, tuple) else "torch-streamed"

    @property
    def precision(self) -> str:
        return self.packed.precision.value

    @property
    def kernel(self) -> str:
        return kernel_choice.described(self.attention, self.packed.device.type)

    def run(
        self,
        ids: Sequence[int],
        see: Iterable[Wish] = (),
        edits: Sequence[Edit] = (),
        cache: Cache | None = None,
        tail: int | None = None,
        statistics: AttentionWish | None = None,
    ) -> Trace:
        """One pass over `ids`, which follow what the cache has seen. NonFiniteError names the first bad site."""
        wishes, past = named_sites("see", see), cache.seen if cache else 0
        if cache and len(cache.layers) != len(self.spec.layers):
            raise UsageError("a counterfactual of a sweep keeps no cache", "run it on its own: model.changed")
        if cache:
            require_held(forgotten(edits, range(past, past + len(ids)), cache, self.spec))
        if len(ids) * self.rows > STEP or not past:
            numbers = 0 if statistics is None else statistics.numbers(len(ids))
            run = Run(len(ids) + self.padding, past, self.rows, tail=tail, see=wishes, statistics=numbers)
            self.require_room(run, need if self.rows == 1 else need_beside, edits)
        before = cache or self.fresh_cache(len(ids))
        with torch.inference_mode():
            trace = self._run(ids, Watch(wishes, tuple(edits), statistics), before, tail)
            if not trace.finite:
                self._locate_non_finite(ids, edits, before, tail)
        return trace

    def _run(self, ids: Sequence[int], watch: Watch, cache: Cache, tail: int | None) -> Trace:
        """Chunk by chunk, so that memory follows the chunk."""
        size = len(ids) if needs_one_piece(watch, cache, self.spec) else self.chunk
        whole, pieces = range(cache.seen, cache.seen + len(ids)), []
        parts, records = chunks(whole, max(size, 1)), [Joining(len(ids)) for _ in self.spec.layers]
        found: Sequence[AttentionRows] = ()
        for part in parts:
            edits = tuple(portion(edit, whole, part, self.spec) for edit in watch.edits)
            tap = BatchTap(self.spec, watch.see, (edits,), statistics=watch.statistics)
            read = max(min(part.stop - whole.stop + (tail or len(ids)), len(part)), 0)
            pieces.append(self._pass(ids[part.start - whole.start : part.stop - whole.start], tap, cache, read))
            cache = pieces[-1].cache
            if len(parts) == 1:
                found = [tap.records[layer] for layer in sorted(tap.records)]
            else:
                extend(records, tap.records)
                machine.give_back()
        if watch.statistics is None:
            return replace(joined(pieces), edits=watch.edits)
        statistics = tuple(found or (record.whole() for record in records))
        return replace(joined(pieces), edits=watch.edits, statistics=statistics)

    def onward(self, entry: Array, layers: range, sites: Sequence[str], length: int) -> Mapping[str, Array]:
        """Through these layers alone, chunk by chunk."""
        from whybox.engine.fast.onward import onward

        return onward(self, entry, layers, sites, length)

    def counterfactuals(
        self, base: Trace, changes: Sequence[Change], see: Iterable[Wish] = ()
    ) -> Iterator[tuple[int, Trace]]:
        """(index, trace) of each change, batch by batch: only what a change can alter is computed."""
        from whybox.engine.fast.sweep import counterfactuals

        return counterfactuals(self, base, changes, see)

    def gradient(self, base: Trace, read: Reading, sites: Iterable[Wish]) -> Gradient:
        """∂read/∂site in the run that `base` is, its edits held; memory for one layer at a time."""
        from whybox.engine.fast.gradient import gradient

        return gradient(self, base, read, sites)

    def write(self, drafts: Sequence[Draft], choose: Choose) -> Sequence[tuple[bool, ...]]:
        """Many drafts at once: shared prefixes computed once, the rest in batches."""
        from whybox.engine.fast import batch  # which runs this engine

        return batch.write(self, drafts, choose)

    def answer_rows(self, answers: Sequence[Answer]) -> Iterator[tuple[int, Array]]:
        """Many answers at once: shared prefixes computed once, the rest in batches."""
        from whybox.engine.fast.answers import answer_rows

        return answer_rows(self, answers)

    def require_room(self, run: Run, needed: Callable[[Spec, Run], Need] = need, edits: Iterable[Edit] = ()) -> None:
        """CapacityError before anything is computed, when it would not fit in memory."""
        if self.packed.device.type == "cpu":
            require_room(self.need_of(run, needed, edits), machine.available())

    def need_of(self, run: Run, needed: Callable[[Spec, Run], Need] = need, edits: Iterable[Edit] = ()) -> Need:
        """What a run will hold at its fullest, the weights that are there already not counted."""
        each = self.packed.precision.compute.itemsize
        passing = self.packed.layers.passing if isinstance(self.packed.layers, StreamedLayers) else 0
        keys = run.past + run.tokens
        in_float32 = 2 * max(4 // each, 1)  # the scores and their softmax
        counted = replace(
            run,
            weights=passing,
            bytes_each=each,
            shown=max(each, 4),
            scores=in_float32 if self._holds_scores(run, edits) else 0,
            bench=workbench(self.spec, keys) if keys >= kernel_choice.TILED_FROM else 0,
            chunk=min(self.chunk, run.chunk or run.tokens),
            lets_go=False,
            turned=plain_bytes(self.packed.head),
        )
        return needed(self.spec, counted)

    def _holds_scores(self, run: Run, edits: Iterable[Edit]) -> bool:
        """Where they are seen or changed, in plain attention, and in batches that tiles know no way through."""
        touched = {site for site, _ in wanted(run.see, self.spec)} | {edit.site for edit in edits}
        asked = Kernel.SDPA if run.batch > 1 and self.attention is Kernel.AUTO else self.attention
        unlike = run.batch > 1 and (asked is Kernel.TILED or run.statistics > 0)
        return unlike or not touched.isdisjoint(SCORE_SITES) or kernel_choice.holds_scores(asked, self.spec)

    def fresh_cache(self, length: int) -> Cache:
        """A cache that has seen nothing; `length` (the whole run's) settles length-dependent RoPE, and the room."""
        dtype, device = self.packed.precision.compute, self.packed.device
        each = [layer.attention for layer in self.spec.layers]
        layers = tuple(slots.empty(a.kv_heads, a.head_width, dtype, device, length) for a in each)
        return Cache(layers, seen=0, rope_length=length)

    def unembed(self, residual: Array) -> Array:
        """Logits [q v] that a residual stream [q c] would give if it were the last layer's."""
        with torch.inference_mode():
            x = torch.tensor(residual).to(self.packed.device, self.packed.precision.compute)
            places = Places(np.arange(len(x))[None], np.arange(len(x))[None], (len(x),))
            return as_numpy(self.head(x[None], BatchTap(self.spec, (), ((),)), places)[0])

    def _locate_non_finite(self, ids: Sequence[int], edits: Sequence[Edit], cache: Cache, tail: int | None) -> None:
        """Every site of every layer, in order; of a long text the first rows first, as many as scores have room for."""
        whole, heads = range(cache.seen, cache.seen + len(ids)), max(each.attention.heads for each in self.spec.layers)
        one_piece = needs_one_piece(Watch(edits=tuple(edits)), cache, self.spec)
        for part in chunks(whole, len(ids) if one_piece else max(SCORES // (heads * whole.stop), 1)):
            mine = tuple(portion(edit, whole, part, self.spec) for edit in edits)
            watching = BatchTap(self.spec, (), (mine,), strict=True)
            read = max(min(part.stop - whole.stop + (tail or len(ids)), len(part)), 0)
            cache = self._pass(ids[part.start - whole.start : part.stop - whole.start], watching, cache, read).cache
        raise NonFiniteError("logits", None, whole.stop - 1, watching.largest)

    def _pass(self, ids: Sequence[int], tap: BatchTap, cache: Cache, read: int) -> Trace:
        """One chunk; logits for its last `read` rows."""
        texts = self._beside(ids)
        rows_of_ids, positions = padded(texts, cache.seen)
        batch = self.batch(positions, [*map(len, texts)], tap, cache.rope_length)
        x = self.embed(torch.from_numpy(rows_of_ids), batch)
        stand = Alone if self.rows == 1 else Beside
        x, keys = self.through(x, batch, [stand(own(layer)) for layer in cache.layers])
        end = cache.seen + len(ids)
        rows = np.arange(end - read, end)[None]
        logits = self.head(x[:1, len(ids) - read : len(ids)], tap, Places(rows, rows, (read,)))
        fed = tuple(int(i) for i in ids)
        grown = tuple(key.slots for key in keys if isinstance(key, Alone))
        return Trace(
            spec=self.spec,
            ids=fed,
            start=cache.seen,
            sites=tap.kept[0],
            logits=as_numpy(logits[0]),
            rows=range(end - read, end),
            edits=tuple(tap.edits[0]),
            changed=tuple(tap.changed[0]),
            cache=Cache(grown, end, cache.rope_length, cache.ids + fed),
            engine=self.name,
            precision=self.precision,
            origin=self.origin,
            kernel=self.kernel_of(batch),
        )

    def _beside(self, ids: Sequence[int]) -> list[Sequence[int]]:
        """A run first, then its neighbours: its own beginnings, each shorter by one id, and one that is longer."""
        shorter = [ids[: max(len(ids) - less, 1)] for less in range(self.neighbours)]
        return [*shorter, [*ids, *list(ids[-1:]) * self.padding]] if self.padding else shorter

    def batch(self, positions: Array, lengths: Sequence[int], tap: BatchTap, length: int) -> Batch:
        """What the layers of one pass share. positions [b q]; lengths: rows of each that are no padding."""
        tables = self._tables(length)
        places = Places(positions, positions, lengths)
        same = positions[:1] if (positions == positions[:1]).all() else positions
        found: dict[Rope, Turn] = {}
        for rope in {layer.attention.rope for layer in self.spec.layers if layer.attention.rope is not None}:
            found[rope] = tables.at(rope, same)
        return Batch(places, tap, found.__getitem__, self.attention, self.packed.device, self.between)

    def _tables(self, length: int) -> AngleTables:
        key = length if self.spec.length_dependent else None
        if key not in self._angles:
            dtype = torch.promote_types(self.packed.precision.compute, torch.float32)
            self._angles[key] = AngleTables(length, dtype, self.packed.device)
        return self._angles[key]

    def embed(self, ids: Tensor, batch: Batch) -> Tensor:
        """[b q] → what enters layer 0 [b q c]."""
        packed = self.packed
        if int(ids.max()) >= self.spec.vocab or int(ids.min()) < 0:
            raise PromptError(f"expected ids 0 … {self.spec.vocab - 1}, found {int(ids.min())} … {int(ids.max())}")
        x = functional.embedding(ids.to(packed.device), packed.embed)
        if self.spec.embed_scale != 1.0:
            x = x * self.spec.embed_scale
        if packed.positions is not None and self.spec.positions is not None:
            x = x + packed.positions[self._learned(batch.places.query)]
        if packed.embed_norm is not None:
            x = norm(x, packed.embed_norm)
        return batch.tap.at("embed", None, x, batch.places) if batch.tap.watches("embed", None) else x

    def _learned(self, positions: Array) -> Tensor:
        """Rows of the table of positions. PromptError beyond its last one."""
        assert self.spec.positions is not None
        offset, last = self.spec.positions.offset, self.spec.positions.count - self.spec.positions.offset - 1
        real = positions[positions < NOWHERE]
        if real.max(initial=0) > last:
            raise PromptError(
                f"expected positions 0 … {last} (learned table), found {real.min()} … {real.max()}",
                "shorten the prompt: this model has no code for later positions",
            )
        return torch.from_numpy(np.minimum(positions, last) + offset).to(self.packed.device)

    def through(
        self, x: Tensor, batch: Batch, keys: Sequence[LayerKeys], needed: int | None = None
    ) -> tuple[Tensor, list[LayerKeys]]:
        """The residual stream [b q c] through all layers, with what their keys became.

        needed: how many of the last rows are read behind the last layer (at least one is computed); None: all.
        """
        grown, last = [], len(self.spec.layers) - 1
        for index in range(last + 1):
            rows = None if needed is None or index < last else min(max(needed, 1), x.shape[1])
            x, more = Block(self.packed.layers[index], index, batch, rows).run(x, keys[index])
            grown.append(more)
            if batch.tap.keeps and x.shape[0] * x.shape[1] >= MANY and index % TIDY == TIDY - 1:
                machine.give_back()
        return x, grown

    def head(self, x: Tensor, tap: BatchTap, places: Places) -> Tensor:
        """Logits [b q v] of the last residual stream."""
        final = norm(x, self.packed.final_norm)
        final = tap.at("final", None, final, places) if tap.watches("final", None) else final
        logits = linear(final, self.packed.head)
        if self.spec.logit_scale != 1.0:
            logits = logits * self.spec.logit_scale
        if self.spec.logit_cap is not None:
            logits = torch.tanh(logits / self.spec.logit_cap) * self.spec.logit_cap
        return tap.at("logits", None, logits, places) if tap.watches("logits", None) else logits

    def kernel_of(self, batch: Batch) -> str:
        """In words, which kernel ran where."""
        if not batch.kernels_used:
            return self.kernel
        (most, _), *others = Counter(batch.kernels_used.values()).most_common()
        layers = {kernel: sorted(i for i, used in batch.kernels_used.items() if used is kernel) for kernel, _ in others}
        where = "".join(f", {kernel.value} in layers {', '.join(map(str, layers[kernel]))}" for kernel in layers)
        return f"{most.value} attention on {self.packed.device.type}{where}"
