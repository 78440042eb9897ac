"""Gradients of a read at any site, by checkpointing: one layer's activations at a time.

A first pass keeps nothing but the residual stream at the entry of each layer. Then backwards, layer by layer: the
layer is run once more from its entry, this time with autograd, and the gradient behind it is pulled through. Memory
beyond the weights: (layers + 1) · q · c for the streams, one layer's activations, and what was asked for.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from whybox.engine.edit import row_axis, site_axes
from whybox.engine.fast.block import Batch, Block
from whybox.engine.fast.engine import FastEngine
from whybox.engine.fast.kernel_choice import Kernel
from whybox.engine.fast.keys import Behind
from whybox.engine.fast.tap import BatchTap, Places, as_numpy
from whybox.engine.gradient import Gradient
from whybox.engine.memory import Run
from whybox.engine.needs import need_of_gradient
from whybox.engine.read import Reading, require_reading
from whybox.engine.trace import Key, Trace, Wish, located, wanted
from whybox.engine.wishes import named_sites
from whybox.errors import NonFiniteError, SiteError, UsageError
from whybox.sites import SITES, sites_of

Array = np.ndarray
Found = dict[Key, Tensor]
ORDER = {site.name: place for place, site in enumerate(SITES)}


def gradient(engine: FastEngine, base: Trace, read: Reading, sites: Iterable[Wish]) -> Gradient:
    """∂read/∂site at the sites that are asked for, in the run that `base` is; its edits hold.

    Raises UsageError for a read that is no single number or does not depend on the run; NonFiniteError for the first
    gradient, from the read backwards, that is NaN or Inf; CapacityError before anything runs that would not fit.
    """
    require_reading(read)
    wishes = named_sites("sites", sites)
    asked = wanted(wishes, engine.spec)
    _require_possible(base, asked)
    engine.require_room(Run(len(base.ids), tail=len(base.rows), see=wishes), need_of_gradient)
    with torch.inference_mode(False):
        passed = _Passed.forward(engine, base)
        run = GradedRun(passed, base.ids, base.rows)
        value, direct = _read(read, run)
        found = _backwards(passed, direct, asked)
    ordered = sorted(found, key=lambda key: (passed.stage(key), ORDER[key[0]]))
    return Gradient(value, {key: found[key] for key in ordered})


def _require_possible(base: Trace, asked: set[Key]) -> None:
    if base.start:
        raise SiteError(f"this run began at position {base.start}", "run the whole prompt without a cache")
    if not asked:
        raise UsageError("no site was named", 'ask for one: sites=["resid_post"]')


@dataclass
class GradientTap(BatchTap):
    """Keeps the tensors themselves [1, *axes], part of the graph.

    Each is a node of its own: where two sites hold the same value (what attention reads, where no norm stands before
    it, is the residual stream), each has the gradient of its own way on.
    """

    tensors: Found = field(default_factory=dict)

    def at(self, site: str, layer: int | None, value: Tensor, places: Places, visible: Tensor | None = None) -> Tensor:
        return super().at(site, layer, value.view_as(value), places, visible)

    def keep(self, site: str, layer: int | None, value: Tensor, places: Places) -> None:
        self.tensors[site, layer] = value


@dataclass(frozen=True, eq=False)
class _Passed:
    """A run of which the residual stream [1 q c] at the entry of each stage is left.

    Stage i is layer i; the one after the last layer is the head. Any stage can be run again, as it was.
    """

    engine: FastEngine
    base: Trace
    batch: Batch
    entries: list[Tensor]

    @classmethod
    def forward(cls, engine: FastEngine, base: Trace) -> "_Passed":
        length = len(base.ids)
        tap = BatchTap(engine.spec, (), (base.edits,))
        batch = engine.batch(np.arange(length)[None], (length,), tap, base.rope_length)
        kernel = Kernel.PLAIN if engine.attention is Kernel.PLAIN else Kernel.SDPA  # tiles write into one buffer
        with torch.no_grad():
            entries = [engine.embed(torch.tensor([base.ids]), batch)]
            passed = cls(engine, base, replace(batch, kernel=kernel), entries)
            for index in range(passed.head):
                entries.append(passed.run(index, entries[index])[0])
        if not bool(torch.isfinite(entries[-1]).all()):
            engine.run(base.ids, (), base.edits, engine.fresh_cache(base.rope_length))  # names the first bad site
        return passed

    @property
    def head(self) -> int:
        return len(self.engine.spec.layers)

    def stage(self, key: Key) -> int:
        """The stage inside which a site lies; −1 for what enters the first one."""
        name, layer = key
        return layer if layer is not None else -1 if name == "embed" else self.head

    def run(self, stage: int, x: Tensor, keys: Iterable[Key] = ()) -> tuple[Tensor, Found]:
        """What a stage makes of what enters it (the next stream, or the logits), and its values at some sites."""
        wishes = [name if layer is None else (name, layer) for name, layer in keys]
        tap = GradientTap(self.engine.spec, wishes, (self.base.edits,))
        if stage < self.head:
            block = Block(self.engine.packed.layers[stage], stage, replace(self.batch, tap=tap))
            return block.run(x, Behind(None))[0], tap.tensors
        rows = np.asarray(self.base.rows)[None]
        return self.engine.head(x[:, x.shape[1] - rows.size :], tap, Places(rows, rows, (rows.size,))), tap.tensors

    def value(self, key: Key) -> Tensor:
        """The value [1, *axes] of a site, computed again from the entry of its stage. SiteError where it is lacking."""
        stage = self.stage(key)
        if stage < 0:
            return self.entries[0]
        with torch.no_grad():
            _, found = self.run(stage, self.entries[stage], [key])
        if key not in found:
            raise SiteError(f"layer {key[1]} has no site {key[0]!r}")
        return found[key]


@dataclass(frozen=True, eq=False)
class GradedRun:
    """The run as a read sees it (`whybox.engine.read.Readable`): a site is computed when it is looked at.

    Every value is a leaf of the graph that the read builds; below float32 it is widened, as traces are.
    """

    passed: _Passed
    ids: tuple[int, ...]
    rows: range
    leaves: Found = field(default_factory=dict)

    @property
    def logits(self) -> Float[Tensor, "q v"]:
        return self._leaf(("logits", None))

    def __getitem__(self, key: str | Key) -> Tensor:
        return self._leaf(located(key, self.passed.engine.spec))

    def log_probs(self, row: int = -1) -> Float[Tensor, "v"]:
        """Log-probabilities of the next token at one of the computed rows, float64."""
        return self.logits[row].double().log_softmax(-1)

    def constant(self, values: Array) -> Tensor:
        """Given numbers as a tensor that no gradient flows into."""
        return torch.tensor(values, device=self.passed.engine.packed.device)

    def _leaf(self, key: Key) -> Tensor:
        if key not in self.leaves:
            value = self.passed.value(key)[0]
            wide = torch.promote_types(value.dtype, torch.float32)
            self.leaves[key] = value.to(wide, copy=True).requires_grad_()
        return self.leaves[key]


def _read(read: Reading, run: GradedRun) -> tuple[float, Found]:
    """The read's value, and its gradient [1, *axes] at each value that it looked at."""
    with torch.enable_grad():
        value = read(run)
    if not isinstance(value, Tensor) or not value.requires_grad:
        raise UsageError(
            f"the read gave {type(value).__name__} {value}, which does not carry a gradient back to the run",
            "reckon with the run's own tensors, without float(), NumPy or detach(); numbers go in by run.constant",
        )
    if value.numel() != 1 or value.is_complex():
        given = f"{value.dtype} of shape {tuple(value.shape)}"
        raise UsageError(f"the read gave {given}", "a gradient is that of one real number")
    grads = torch.autograd.grad(value.sum(), list(run.leaves.values()), allow_unused=True)
    direct = {key: grad[None] for key, grad in zip(run.leaves, grads, strict=True) if grad is not None}
    return float(value.detach()), direct


def _backwards(passed: _Passed, direct: Mapping[Key, Tensor], asked: set[Key]) -> dict[Key, Array]:
    """Stage by stage from the last one that matters to the first that is asked for. The streams are used up."""
    stages = {passed.stage(key) for key in (*asked, *direct)}
    first, last = min(passed.stage(key) for key in asked), max(stages)
    flow: Tensor | None = None
    found: dict[Key, Array] = {}
    largest = max((float(grad.abs().max()) for grad in direct.values()), default=0.0)
    for stage in range(last, max(first, 0) - 1, -1):
        pull = _Pull(passed, stage, flow, direct)
        flow, here = pull.through(key for key in asked if passed.stage(key) == stage)
        _require_finite(pull, flow, here, largest)
        found |= {key: as_numpy(grad[0]) for key, grad in here.items()}
        largest = float(flow.abs().max())
        del passed.entries[stage + 1 :]
    if ("embed", None) in asked:
        at_start = torch.zeros_like(passed.entries[0]) if flow is None else flow
        found["embed", None] = as_numpy((at_start + direct.get(("embed", None), 0))[0])
    return found


@dataclass(frozen=True, eq=False)
class _Pull:
    """One stage, run again and differentiated. flow: the gradient at what it gives on; None where none comes."""

    passed: _Passed
    stage: int
    flow: Tensor | None
    direct: Mapping[Key, Tensor]

    def through(self, keys: Iterable[Key]) -> tuple[Tensor, Found]:
        """The gradient at the stage's entry, and at some of its sites."""
        asked = list(keys)
        looked_at = [key for key in self.direct if self.passed.stage(key) == self.stage]
        with torch.enable_grad():
            entry = self.passed.entries[self.stage].detach().requires_grad_()
            out, values = self.passed.run(self.stage, entry, (*asked, *looked_at))
        inside = [key for key in asked if key in values]
        ends = [(values[key], self.direct[key].to(values[key].dtype)) for key in looked_at]
        if self.flow is not None:
            ends.append((out, self.flow))
        wrt = [entry, *(values[key] for key in inside)]
        if not ends:
            return torch.zeros_like(entry), {key: torch.zeros_like(values[key]) for key in inside}
        outs, grads = zip(*ends, strict=True)
        at_entry, *at_sites = torch.autograd.grad(outs, wrt, grads, allow_unused=True, materialize_grads=True)
        return at_entry, dict(zip(inside, at_sites, strict=True))

    def sites(self) -> Iterator[Key]:
        """All of the stage's sites, in order."""
        inside = self.stage < self.passed.head
        for site in sites_of(self.passed.engine.spec):
            if site.per_layer == inside and site.name != "embed":
                yield site.name, self.stage if inside else None


def _require_finite(pull: _Pull, flow: Tensor, here: Found, largest: float) -> None:
    """NonFiniteError with the first site, against the order of the computation, whose gradient is NaN or Inf."""
    if all(bool(torch.isfinite(grad).all()) for grad in (flow, *here.values())):
        return
    _, everywhere = pull.through(pull.sites())
    known = sorted(everywhere, key=lambda key: ORDER[key[0]], reverse=True)
    for name, layer in known:
        position = _first_bad(everywhere[name, layer], _axes(pull.passed, (name, layer)))
        if position is not None:
            rows = pull.passed.base.rows if layer is None else range(len(pull.passed.base.ids))
            before = f"largest |gradient| behind this layer was {largest:.6g}"
            raise NonFiniteError(name, layer, rows[position], before, REMEDY, "gradient")


REMEDY = "the read may have no slope there (a logarithm or a root of 0); else differentiate in fp32 or fp64"


def _axes(passed: _Passed, key: Key) -> Sequence[str]:
    name, layer = key
    return site_axes(name, None if layer is None else passed.engine.spec.layers[layer].mlp)


def _first_bad(grad: Tensor, axes: Sequence[str]) -> int | None:
    """The first row of the axis q (or k) [1, *axes] that holds NaN or Inf."""
    axis = row_axis(axes)
    bad = torch.nonzero(~torch.isfinite(grad[0]).movedim(axis, 0).flatten(1).all(dim=1))
    return int(bad[0]) if len(bad) else None
