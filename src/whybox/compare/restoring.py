"""A quantised run in which some tensors are the full ones again: only what they change is computed.

A layer whose tensors are all full, or all held, is run by the engine of one side; a mixed one by an engine of its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np

from whybox.engine import choice
from whybox.engine.choice import Way
from whybox.engine.trace import Engine
from whybox.spec import Spec
from whybox.weights import Weights

Array = np.ndarray
Described = tuple[Spec, Weights]
ENTRY = ("embed", "positions", "embed_norm")
EXIT = ("head", "head_bias", "final_norm")


class Restoring:
    """Both sides of one model in float32: full and held, each with every role."""

    def __init__(self, full: Described, held: Described, way: Way) -> None:
        self.way = Way(way.engine, device=way.device)
        self.spec, self.weights, self.rounded = full[0], full[1], held[1]
        self.full, self.held = (choice.build(spec, weights, self.way).engine for spec, weights in (full, held))

    def run(self, ids: Sequence[int], rows: int) -> "Restored":
        """One text, of which the last rows are read."""
        return Restored(self, tuple(ids), min(rows, len(ids)))

    def mixed(self, layer: int, roles: frozenset[str]) -> Engine:
        """One layer alone, with these roles full; what is not a layer is the smallest that runs."""
        spec, prefix = self.spec, f"layers.{layer}."
        own = replace(
            spec, layers=(spec.layers[layer],), vocab=1, tied=True, positions=None, embed_norm=None, head_bias=False
        )
        arrays = {
            f"layers.0.{role.removeprefix(prefix)}": (self.weights if role in roles else self.rounded)[role]
            for role in self.weights
            if role.startswith(prefix)
        }
        ends = {role: self.rounded[role] for role in self.weights if role.startswith("final_norm")}
        arrays |= {"embed": np.zeros((1, spec.width), self.weights.dtype), **ends}
        return choice.build(own, Weights(arrays), self.way).engine


@dataclass(frozen=True, eq=False)
class Restored:
    """One text's quantised run, kept where every layer begins. rows: the last positions that are read."""

    sides: Restoring
    ids: tuple[int, ...]
    rows: int

    @property
    def count(self) -> int:
        return len(self.sides.spec.layers)

    def full(self) -> Array:
        """Logits [q v] of the full model."""
        return self.sides.full.run(self.ids, tail=self.rows).logits

    @cached_property
    def _entries(self) -> tuple[Array, ...]:
        """The stream [q c] that enters each layer, and that leaves the last one."""
        trace = self.sides.held.run(self.ids, ["resid_pre", ("resid_post", self.count - 1)], tail=1)
        return (*(trace["resid_pre", layer] for layer in range(self.count)), trace["resid_post", self.count - 1])

    def logits(self, roles: frozenset[str]) -> Array:
        """Logits [q v] of the quantised run with these roles full."""
        kinds = {role.partition(".")[0] for role in roles}
        touched = {int(role.split(".")[1]) for role in roles if role.startswith("layers.")}
        if kinds & set(ENTRY):
            stream = self._on(self.sides.full.run(self.ids, [("resid_pre", 0)], tail=1)["resid_pre", 0], 0, roles)
        else:
            start = min(touched, default=self.count)
            stream = self._on(self._entries[start], start, roles)
        ending = self.sides.full if kinds & set(EXIT) else self.sides.held
        return ending.unembed(stream[-self.rows :])

    def half(self) -> Array:
        """Logits [q v] of the quantised run of the first half alone."""
        return self.sides.held.run(self.ids[: len(self.ids) // 2]).logits

    def _on(self, stream: Array, start: int, roles: frozenset[str]) -> Array:
        """From the stream that enters `start` to the one that leaves the last layer."""
        for engine, layers in self._steps(start, roles):
            stream = engine.onward(stream, layers, ("resid_post",), len(self.ids))["resid_post"]
        return stream

    def _steps(self, start: int, roles: frozenset[str]) -> Iterator[tuple[Engine, range]]:
        """Engines with the layers that each runs: neighbours of one kind go together."""
        kinds = [(layer, self._kind(layer, roles)) for layer in range(start, self.count)]
        for kind, group in groupby(kinds, key=lambda pair: pair[1]):
            layers = [layer for layer, _ in group]
            if kind == "mixed":
                yield from ((self.sides.mixed(layer, roles), range(1)) for layer in layers)
            else:
                yield self.sides.full if kind == "full" else self.sides.held, range(layers[0], layers[-1] + 1)

    def _kind(self, layer: int, roles: frozenset[str]) -> str:
        prefix = f"layers.{layer}."
        own = {role for role in roles if role.startswith(prefix)}
        if not own:
            return "held"
        sides = self.sides
        rest = (role for role in sides.weights if role.startswith(prefix) and role not in own)
        same = all(sides.weights[role] is sides.rounded[role] for role in rest)
        return "full" if same else "mixed"
