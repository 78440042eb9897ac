"""Which layers and tensors a quantisation hurts most: each given back alone, all others left as they are held.

The quantised weights run in float32, so that what is measured is their rounding and nothing else. To give back a part
is a counterfactual of that run: it goes on from the stream that entered the first layer which the part touches.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from whybox.compare.described import same_shape
from whybox.compare.effort import Effort
from whybox.compare.prompts import Text
from whybox.compare.restoring import Restoring
from whybox.compare.sides import Live
from whybox.engine.rounded import CODED, held_as, held_bits
from whybox.errors import UsageError
from whybox.model import Model
from whybox.spec import Spec
from whybox.statistics.intervals import Interval, mean_interval
from whybox.weights import Streamed, Weights

Array = np.ndarray
Kind = Literal["part", "role", "tensor", "parts", "tensors"]
BLOCK = 16
"""Positions that count as one item: neighbours in a text are no independent draws."""
SIZES = (1, 2, 4, 8)
"""How many of the best parts, and of the best tensors, are given back together."""
WIDE = 16  # bits of a number that is kept in higher precision
ENOUGH = 0.5  # of the harm that a set must take away to be the advice
MOST_NUMBERS = 1 << 26  # logits of all texts together


@dataclass(frozen=True)
class Unit:
    """What is given back at once. roles: of the weights. bytes_more: in 16 bits each, None where nobody knows."""

    kind: Kind
    name: str
    roles: frozenset[str]
    parameters: int
    bytes_more: int | None


@dataclass(frozen=True)
class Restored:
    """kl: what is left with the unit given back, nats. gain: what it takes away; interval: 95 % over blocks."""

    unit: Unit
    kl: float
    gain: float
    interval: Interval | None


@dataclass(frozen=True)
class Sensitivity:
    """kl: KL(full ‖ held), nats over `positions` of the texts, weights alone. as_run: the same as the side really runs.

    floor: what float32 alone moves the mean by. keep: the cheapest set that takes away ENOUGH of the harm.
    """

    precision: str
    positions: int
    blocks: int
    kl: float
    interval: Interval | None
    as_run: float
    floor: float
    bytes_held: int | None
    units: tuple[Restored, ...]
    sets: tuple[Restored, ...]
    keep: Restored | None
    runs: int


def sensitivity(ours: Live, theirs: Live, texts: Sequence[Text], effort: Effort | None = None) -> Sensitivity:
    """UsageError for sides that are no full model and a quantisation of it."""
    full, held = _both(ours, theirs)
    restoring = Restoring(full, held, ours.model.way)
    units = tuple(_units(full, held, theirs.precision))
    if not units:
        raise UsageError(f"{theirs.name} holds every weight of {ours.name} unrounded", "give a quantised file of A")
    runs = (len(units) + 2 * len(SIZES) + 2) * len(texts)
    effort = effort or Effort()
    effort.plan(runs)
    effort.begin(f"{len(texts)} texts × {len(units) + 2 * len(SIZES) + 2} = {runs} runs")
    forced = _Forced(restoring, texts, max(1, MOST_NUMBERS // (full[0].vocab * len(texts))))
    effort.did(2 * len(texts))
    found = []
    for unit in units:
        found.append(forced.restored(unit))
        effort.did(len(texts))
    sets = tuple(forced.restored(unit) for unit in _together(found))
    worst = float(forced.base.mean())
    return Sensitivity(
        precision=theirs.precision,
        positions=len(forced.base),
        blocks=len(forced.blocks(forced.base)),
        kl=worst,
        interval=mean_interval(forced.blocks(forced.base)),
        as_run=forced.as_run(theirs.model),
        floor=forced.floor(),
        bytes_held=None if units[0].bytes_more is None else _bytes(full[1], theirs.precision),
        units=tuple(found),
        sets=sets,
        keep=_advice((*found, *sets), worst),
        runs=runs,
    )


def _both(ours: Live, theirs: Live) -> tuple[tuple[Spec, Weights], tuple[Spec, Weights]]:
    """The full weights and the quantised ones, both with a head of their own."""
    if ours.precision not in ("fp32", "fp64"):
        raise UsageError(f"{ours.name} runs in {ours.precision}", "the first side must be the full model, in fp32")
    spec, weights = ours.model.spec, _held(ours.model)
    if ours.model.engine.origin.is_of(theirs.model.engine.origin):
        if theirs.precision not in CODED:
            raise UsageError(f"{theirs.name} is not quantised", "whybox diff smollm2 @int4 --sensitivity")
        held = held_as(spec, weights, theirs.precision)
    else:
        shape = same_shape(spec, theirs.model.spec)
        if shape is not None:
            raise UsageError(f"{ours.name} and {theirs.name} are not one model: {shape}", "give a quantised file of A")
        held = theirs.model.spec, _held(theirs.model)
    whole, rounded = _with_head(spec, weights), _with_head(*held)
    return whole, (rounded[0], _shared(whole[1], rounded[1]))


def _held(model: Model) -> Weights:
    return model.weights.held() if isinstance(model.weights, Streamed) else model.weights


def _with_head(spec: Spec, weights: Weights) -> tuple[Spec, Weights]:
    arrays = dict(weights.items()) if "head" in weights else {**weights, "head": weights["embed"]}
    return replace(spec, tied=False), Weights(arrays)


def _shared(full: Weights, held: Weights) -> Weights:
    """The held weights, with the full ones themselves where rounding changed nothing."""
    if missing := [role for role in full if role not in held or full[role].shape != held[role].shape]:
        raise UsageError(f"the second side has no {missing[0]} of this shape", "give a quantised file of A")
    return Weights({role: array if np.array_equal(array, held[role]) else held[role] for role, array in full.items()})


def _units(full: tuple[Spec, Weights], held: tuple[Spec, Weights], precision: str) -> Iterator[Unit]:
    """Embedding, layers and head; every kind of matrix in all layers; every matrix alone."""
    weights = full[1]
    changed = [role for role in weights if weights[role] is not held[1][role]]
    coded = precision in CODED

    def unit(kind: Kind, name: str, roles: Sequence[str]) -> Unit:
        more = sum(weights[r].size * (WIDE - held_bits(r, weights[r], precision)) / 8 for r in roles) if coded else None
        size = sum(weights[r].size for r in roles)
        return Unit(kind, name, frozenset(roles), size, None if more is None else round(more))

    for name, roles in sorted(_grouped(changed, _part), key=lambda group: _place(group[0])):
        yield unit("part", name, roles)
    matrices = [role for role in changed if role.startswith("layers.") and weights[role].ndim > 1]
    for name, roles in _grouped(matrices, _kind):
        yield unit("role", name, roles)
    for role in matrices:
        yield unit("tensor", role.removeprefix("layers."), [role])


def _grouped(roles: Sequence[str], name: Callable[[str], str]) -> list[tuple[str, list[str]]]:
    groups: dict[str, list[str]] = {}
    for role in roles:
        groups.setdefault(name(role), []).append(role)
    return list(groups.items())


def _part(role: str) -> str:
    """embedding, a layer, or the head with the norm before it."""
    kind, *rest = role.split(".")
    if kind == "layers":
        return f"layer {rest[0]}"
    return "head" if kind in ("head", "head_bias", "final_norm") else "embedding"


def _place(part: str) -> float:
    """As they are computed."""
    return {"embedding": -1.0, "head": float("inf")}.get(part) or float(part.removeprefix("layer "))


def _kind(role: str) -> str:
    own = role.split(".")[2:]
    return own[-1] if own[0] == "experts" else own[0]


def _together(found: Sequence[Restored]) -> Iterator[Unit]:
    """The best parts and the best tensors by what they give for what they cost, 1, 2, 4 and 8 at once."""
    for kind, kinds in (("part", "parts"), ("tensor", "tensors")):
        best = sorted((each for each in found if each.unit.kind == kind and _costs(each)), key=_worth, reverse=True)
        for size in (size for size in SIZES if size <= len(best)):
            yield _joined(kinds, [each.unit for each in best[:size]])  # type: ignore[arg-type]


def _costs(found: Restored) -> bool:
    """Whether it is held in fewer bits: a table that is in 16 bits already cannot be kept in them."""
    return found.unit.bytes_more != 0


def _worth(found: Restored) -> float:
    cost = found.unit.parameters if found.unit.bytes_more is None else found.unit.bytes_more
    return found.gain / max(cost, 1)


def _joined(kind: Kind, units: Sequence[Unit]) -> Unit:
    costs = [unit.bytes_more for unit in units]
    more = None if None in costs else sum(cost for cost in costs if cost is not None)
    roles = frozenset().union(*(unit.roles for unit in units))
    return Unit(kind, ", ".join(unit.name for unit in units), roles, sum(unit.parameters for unit in units), more)


def _advice(found: Sequence[Restored], worst: float) -> Restored | None:
    enough = [each for each in found if each.gain >= ENOUGH * worst and each.interval and each.interval[0] > 0]
    costly = filter(_costs, enough)
    return min(costly, key=lambda e: (e.unit.bytes_more or e.unit.parameters, len(e.unit.roles)), default=None)


def _bytes(weights: Weights, precision: str) -> int:
    return round(sum(weights[role].size * held_bits(role, weights[role], precision) / 8 for role in weights))


class _Forced:
    """Teacher-forced KL of restored runs against the full one, position by position, over all texts."""

    def __init__(self, restoring: Restoring, texts: Sequence[Text], rows: int) -> None:
        self.texts, self.rows = texts, rows
        self.runs = [restoring.run(text.ids, rows) for text in texts]
        self.exact = [_Exact.of(run.full()) for run in self.runs]
        self.base = self.kl(frozenset())

    def kl(self, roles: frozenset[str]) -> Array:
        """Of every position [q], all texts behind one another."""
        return np.concatenate([e.kl(run.logits(roles)) for e, run in zip(self.exact, self.runs, strict=True)])

    def restored(self, unit: Unit) -> Restored:
        left = self.kl(unit.roles)
        gains = self.base - left
        return Restored(unit, float(left.mean()), float(gains.mean()), mean_interval(self.blocks(gains)))

    def blocks(self, values: Array) -> list[float]:
        """Means of BLOCK neighbours of one text; a short rest belongs to the block before it."""
        cut = (np.array_split(part, max(1, len(part) // BLOCK)) for part in self.split(values))
        return [float(block.mean()) for blocks in cut for block in blocks]

    def floor(self) -> float:
        """What float32 alone moves the mean by: the quantised run of each text's first half, against the whole one's.

        Later tokens change nothing before them, so that only the shapes of the products differ.
        """
        apart = [np.zeros(0)]
        for exact, run, base in zip(self.exact, self.runs, self.split(self.base), strict=True):
            if run.rows == len(run.ids):
                apart.append(exact.kl(run.half()) - base[: len(run.ids) // 2])
        found = np.concatenate(apart)
        return abs(float(found.mean())) if found.size else 0.0

    def split(self, values: Array) -> list[Array]:
        """Text by text."""
        return np.split(values, np.cumsum([run.rows for run in self.runs])[:-1])

    def as_run(self, model: Model) -> float:
        """KL of the side as it runs, its own arithmetic included."""
        runs = (model.engine.run(text.ids, tail=self.rows).logits for text in self.texts)
        return float(np.concatenate([e.kl(z) for e, z in zip(self.exact, runs, strict=True)]).mean())


@dataclass(frozen=True, eq=False)
class _Exact:
    """The full model's next-token probabilities [q v], and Σ p ln p of every row."""

    p: Array
    negentropy: Array

    @classmethod
    def of(cls, logits: Array) -> "_Exact":
        z = logits - logits.max(axis=-1, keepdims=True)
        sums = np.exp(z).sum(axis=-1, dtype=np.float64)
        p = np.exp(z) / sums[:, None].astype(z.dtype)
        return cls(p, (p * z).sum(axis=-1, dtype=np.float64) - np.log(sums))

    def kl(self, logits: Array) -> Array:
        """Σ p ln p − Σ p z + ln Σ exp z of the first rows, never below 0."""
        z, count = logits - logits.max(axis=-1, keepdims=True), len(logits)
        crossed = (self.p[:count] * z).sum(axis=-1, dtype=np.float64)
        return np.maximum(self.negentropy[:count] - crossed + np.log(np.exp(z).sum(axis=-1, dtype=np.float64)), 0.0)
