"""What a fault is: other settings, other weights, or other arithmetic, as data."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from whybox.engine.choice import NUMPY
from whybox.engine.reference import ReferenceEngine
from whybox.engine.rewired import Rewire, RewiredEngine
from whybox.model import Model
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

    engine: the class that runs it, where no rewire says what differs.
    """

    name: str
    what: str
    changed: Changed = nothing
    rewires: tuple[Rewire, ...] = ()
    engine: type[ReferenceEngine] | None = None

    def engine_for(self, spec: Spec, weights: Weights) -> ReferenceEngine:
        """An engine with this fault."""
        described = self.changed(spec, weights)
        if self.engine is not None:
            return self.engine(*described)
        return RewiredEngine(*described, self.rewires) if self.rewires else ReferenceEngine(*described)

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

    engines = [fault.engine for fault in chosen if fault.engine is not None]
    rewires = tuple(rewire for fault in chosen for rewire in fault.rewires)
    name = " + ".join(fault.name for fault in chosen)
    what = ", ".join(fault.what for fault in chosen)
    return Fault(name, what, changed, rewires, engines[0] if engines else None)


def attention(change: Callable[[Attention], Attention]) -> Changed:
    """Every layer's attention, changed."""
    return lambda spec, weights: (with_layers(spec, lambda at: replace(at, attention=change(at.attention))), weights)


def mlp(change: Callable[[Mlp | Moe], Mlp | Moe]) -> Changed:
    """Every layer's MLP, changed."""
    return lambda spec, weights: (with_layers(spec, lambda at: replace(at, mlp=change(at.mlp))), weights)


def with_layers(spec: Spec, change: Callable[[Layer], Layer]) -> Spec:
    """The description with every layer changed."""
    return replace(spec, layers=tuple(map(change, spec.layers)))


def with_arrays(weights: Weights, changed: dict[str, Array]) -> Weights:
    """The weights with some arrays replaced: no longer those of their file."""
    return replace(weights, arrays={**weights.arrays, **changed}, origin=Origin())


def in_layers(*roles: str) -> Callable[[Spec], list[str]]:
    """The roles of that name in every layer."""
    return lambda spec: [f"layers.{index}.{role}" for index in range(len(spec.layers)) for role in roles]
