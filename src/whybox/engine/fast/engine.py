"""The fast engine: the reference engine's sites in the same order, on torch tensors, with cache, batch and GPU."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch.nn import functional

from whybox.engine.edit import Edit
from whybox.engine.fast import slots
from whybox.engine.fast.angles import AngleTables
from whybox.engine.fast.block import Batch, Block
from whybox.engine.fast.keys import NOWHERE, Alone, LayerKeys
from whybox.engine.fast.kernels import Kernel
from whybox.engine.fast.packed import Packed, linear, norm
from whybox.engine.fast.tap import BatchTap, Places
from whybox.engine.fast.slots import Slots
from whybox.engine.trace import Cache, LayerSlots, Trace, Wish
from whybox.errors import NonFiniteError, PromptError, UsageError
from whybox.spec import LongRope, NtkRope, Spec

Array = np.ndarray
Tensor = torch.Tensor


@dataclass(eq=False)
class FastEngine:
    """Runs packed weights. attention: the kernel where nobody watches; `kernel` says the same in words."""

    packed: Packed
    attention: Kernel = Kernel.SDPA
    name: str = field(default="torch", init=False)
    _angles: dict[int | None, AngleTables] = field(default_factory=dict, init=False)

    @property
    def spec(self) -> Spec:
        return self.packed.spec

    @property
    def precision(self) -> str:
        return self.packed.precision.value

    @property
    def kernel(self) -> str:
        return f"{self.attention.value} attention on {self.packed.device.type}"

    def run(
        self,
        ids: Sequence[int],
        see: Iterable[Wish] = (),
        edits: Sequence[Edit] = (),
        cache: Cache | None = None,
        tail: int | None = None,
    ) -> Trace:
        """One pass over `ids`, which follow what the cache has seen. NonFiniteError names the first bad site."""
        wishes, before = tuple(see), cache or self.fresh_cache(len(ids))
        with torch.inference_mode():
            tap = BatchTap(self.spec, wishes, (tuple(edits),))
            trace = self._pass(ids, tap, before, tail)
            if not np.isfinite(trace.logits).all():
                self._locate_non_finite(ids, edits, before, tail)
        return trace

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
        watching = BatchTap(self.spec, (), (tuple(edits),), strict=True)
        self._pass(ids, watching, cache, tail)
        raise NonFiniteError("logits", None, cache.seen + len(ids) - 1, watching.largest)

    def _pass(self, ids: Sequence[int], tap: BatchTap, cache: Cache, tail: int | None) -> Trace:
        positions = cache.seen + np.arange(len(ids))[None]
        batch = self.batch(positions, (len(ids),), tap, cache.rope_length)
        x = self.embed(torch.tensor([ids]), batch)
        x, keys = self.through(x, batch, [Alone(own(layer)) for layer in cache.layers])
        rows = range(int(positions[0, 0]) + max(len(ids) - (tail or len(ids)), 0), int(positions[0, -1]) + 1)
        last = Places(positions[:, len(ids) - len(rows) :], positions[:, len(ids) - len(rows) :], (len(rows),))
        logits = self.head(x[:, len(ids) - len(rows) :], tap, last)
        return Trace(
            spec=self.spec,
            ids=tuple(int(i) for i in ids),
            start=cache.seen,
            sites={key: pieces[0] for key, pieces in tap.kept[0].items()},
            logits=as_numpy(logits[0]),
            rows=rows,
            edits=tuple(tap.edits[0]),
            changed=tuple(tap.changed[0]),
            cache=Cache(tuple(key.slots for key in keys if isinstance(key, Alone)), int(positions[0, -1]) + 1, cache.rope_length),
            engine=self.name,
            precision=self.precision,
            kernel=self.kernel_of(batch),
        )

    def batch(self, positions: Array, lengths: Sequence[int], tap: BatchTap, length: int) -> Batch:
        """What the layers of one pass share. positions [b q]; lengths: rows of each that are no padding."""
        tables = self._tables(length)
        places = Places(positions, positions, lengths)
        same = positions[:1] if (positions == positions[:1]).all() else positions
        found: dict[object, tuple[Tensor, Tensor]] = {}
        for rope in {layer.attention.rope for layer in self.spec.layers if layer.attention.rope is not None}:
            found[rope] = tables.at(rope, same)
        return Batch(places, tap, found.__getitem__, self.attention, self.packed.device)

    def _tables(self, length: int) -> AngleTables:
        ropes = (layer.attention.rope for layer in self.spec.layers)
        key = length if any(isinstance(rope, NtkRope | LongRope) for rope in ropes) else None
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
        self, x: Tensor, batch: Batch, keys: Sequence[LayerKeys], first: int = 0
    ) -> tuple[Tensor, list[LayerKeys]]:
        """The residual stream [b q c] through the layers from `first` on, with what their keys became."""
        grown = list(keys[:first])
        for index in range(first, len(self.spec.layers)):
            x, more = Block(self.packed.layers[index], index, batch).run(x, keys[index])
            grown.append(more)
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
        other = sorted(i for i, used in batch.kernels_used.items() if used is not self.attention)
        if not other:
            return self.kernel
        if len(other) == len(batch.kernels_used):
            return f"{Kernel.PLAIN.value} attention on {self.packed.device.type}"
        return f"{self.kernel}, plain in layers {', '.join(map(str, other))}"


def own(layer: LayerSlots) -> Slots:
    """UsageError for a cache that another engine made."""
    if isinstance(layer, Slots):
        return layer
    raise UsageError("this cache was made by another engine", "run the prompt with this engine, and use its cache")


def as_numpy(tensor: Tensor) -> Array:
    """A read-only copy on the host: float64 stays, all else is float32."""
    kept = tensor.dtype if tensor.dtype is torch.float64 else torch.float32
    array: Array = tensor.to("cpu", kept, copy=True).numpy()
    array.flags.writeable = False
    return array
