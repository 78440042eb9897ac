"""What a fault is: other settings, other weights, or other arithmetic, as data."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from whybox.engine.choice import NUMPY
from whybox.engine.reference import ReferenceEngine
from whybox.engine.rewired import Rewire, RewiredEngine, Taken
from whybox.model import Model
from whybox.parts.rounding import UNIT
from whybox.spec import Attention, Layer, Mlp, Moe, Spec
from whybox.weights import Origin, Weights

Array = np.ndarray
Described = tuple[Spec, Weights]
Changed = Callable[[Spec, Weights], Described]


def nothing(spec: Spec, weights: Weights) -> Described:
    """A description left as it is."""
    return spec, weights


@dataclass(frozen=True)
class Fault:
    """name; what goes wrong, in one line; how the description or the weights differ, and the arithmetic.

    rounds: the format that it rounds some sites to. cached: what a cache is taken for by a pass behind it. behind: the
    tokens in the cache before the others follow one by one, where that is known. why: what the fault does to the
    numbers, so that one can judge its naming.
    """

    name: str
    what: str
    changed: Changed = nothing
    rewires: tuple[Rewire, ...] = ()
    rounds: str | None = None
    cached: Taken | None = None
    behind: int | None = None
    why: str = ""

    def engine_for(self, spec: Spec, weights: Weights) -> ReferenceEngine:
        """An engine with this fault."""
        described = self.changed(spec, weights)
        other = bool(self.rewires) or self.cached is not None
        return RewiredEngine(*described, self.rewires, self.cached) if other else ReferenceEngine(*described)

    def after(self, tokens: int) -> "Fault":
        """A fault behind a cache, where the cache holds so many tokens and the others follow one by one."""
        return replace(self, behind=tokens, what=f"{self.what}, from token {tokens} on")

    def of(self, model: Model) -> Model:
        """The same file, run with this fault by a NumPy engine: what it is compared with had better be one as well."""
        return replace(model, engine=self.engine_for(model.spec, model.weights), way=NUMPY)

    def within(self, layers: Iterable[int]) -> "Fault":
        """The same fault in these layers alone."""
        chosen = frozenset(layers)

        def changed(spec: Spec, weights: Weights) -> Described:
            other, arrays = self.changed(spec, weights)
            mixed = tuple(
                new if index in chosen else old
                for index, (old, new) in enumerate(zip(spec.layers, other.layers, strict=True))
            )
            kept = tuple(f"layers.{index}." for index in chosen)
            own = {role: arrays[role] for role in arrays if role.startswith(kept)} if arrays is not weights else {}
            return replace(spec, layers=mixed), with_arrays(weights, own) if own else weights

        rewires = tuple(replace(rewire, layers=chosen) for rewire in self.rewires)
        return replace(self, changed=changed, rewires=rewires)


NO_FAULT = Fault("none", "nothing differs")


def together(faults: Iterable[Fault]) -> Fault:
    """Several at once, one after the other."""
    chosen = tuple(faults)

    def changed(spec: Spec, weights: Weights) -> Described:
        for fault in chosen:
            spec, weights = fault.changed(spec, weights)
        return spec, weights

    rewires = tuple(rewire for fault in chosen for rewire in fault.rewires)
    name = " + ".join(fault.name for fault in chosen)
    what = ", ".join(fault.what for fault in chosen)
    first = next((fault for fault in chosen if fault.cached is not None), NO_FAULT)
    rounds = max((fault.rounds for fault in chosen if fault.rounds), key=UNIT.__getitem__, default=None)
    return Fault(name, what, changed, rewires, rounds, first.cached, first.behind)


def attention(change: Callable[[Attention], Attention]) -> Changed:
    """Every layer's attention, changed."""
    return lambda spec, weights: (with_layers(spec, lambda at: replace(at, attention=change(at.attention))), weights)


def mlp(change: Callable[[Mlp | Moe], Mlp | Moe]) -> Changed:
    """Every layer's MLP, changed."""
    return lambda spec, weights: (with_layers(spec, lambda at: replace(at, mlp=change(at.mlp))), weights)


def with_layers(spec: Spec, change: Callable[[Layer], Layer]) -> Spec:
    """The description with every layer changed."""
    return replace(spec, layers=tuple(map(change, spec.layers)))


def with_arrays(weights: Weights, changed: Mapping[str, Array]) -> Weights:
    """The weights with some arrays replaced: no longer those of their file."""
    return replace(weights, arrays=Overlaid(weights.arrays, changed), origin=Origin())


@dataclass(frozen=True, eq=False)
class Overlaid(Mapping[str, Array]):
    """Arrays, some of them replaced. Nothing is looked up before it is wanted: a layer may be decoded when it is."""

    under: Mapping[str, Array]
    over: Mapping[str, Array]

    def __getitem__(self, role: str) -> Array:
        return self.over[role] if role in self.over else self.under[role]

    def __iter__(self) -> Iterator[str]:
        return iter({**dict.fromkeys(self.under), **dict.fromkeys(self.over)})

    def __len__(self) -> int:
        return len({*self.under, *self.over})


def in_layers(*roles: str) -> Callable[[Spec], list[str]]:
    """The roles of that name in every layer."""
    return lambda spec: [f"layers.{index}.{role}" for index in range(len(spec.layers)) for role in roles]
