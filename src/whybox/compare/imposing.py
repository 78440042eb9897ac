"""Known faults imposed on our own weights until an endpoint's log-probabilities come out: all that is known of it."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from whybox.compare.effort import Effort
from whybox.compare.heard import Followed, Speller
from whybox.compare.observation import Observation
from whybox.compare.pieces import Described, Piece, alone, whole
from whybox.compare.served import Heard
from whybox.compare.suspects import catalogue, changes_something
from whybox.engine.rounded import held_as
from whybox.engine.trace import log_softmax
from whybox.errors import NonFiniteError
from whybox.model import Model
from whybox.testing.faults import NO_FAULT, Fault
from whybox.weights import Streamed

Array = np.ndarray
DECISIVE = 4.0
"""How many times nearer the endpoint a fault must bring ours: a chance that lands just below the floor is no cause."""


@dataclass(frozen=True)
class Reading:
    """What is to be reproduced: of every text what was heard, and ours along it."""

    model: Model
    speller: Speller
    texts: tuple[tuple[Heard, Followed], ...]


@dataclass
class Imposing:
    """Ours in one precision, against the endpoint. noise: nats that are allowed everywhere."""

    reading: Reading
    precision: str
    sites: str
    noise: float
    headroom: float

    def __post_init__(self) -> None:
        model = self.reading.model
        weights = model.weights.held() if isinstance(model.weights, Streamed) else model.weights
        self.held: Described = held_as(model.spec, weights, self.precision)
        self.texts = sorted(((h, f) for h, f in self.reading.texts if f.tokens), key=lambda pair: len(pair[1].ids))

    @cached_property
    def errors(self) -> Array:
        """The largest change of a listed log-probability at every place, in the order of the texts."""
        return self._in_order([self._errors(h, f, NO_FAULT) for h, f in self.texts])

    @cached_property
    def limits(self) -> Array:
        """What rounding to this precision, and the endpoint's own noise, allow at every place."""
        return self._in_order(self._limits)

    @cached_property
    def _limits(self) -> list[Array]:
        return [self._allowed(h, f) for h, f in self.texts]

    @property
    def at_floor(self) -> bool:
        return bool((self.errors <= self.limits).all())

    @property
    def candidates(self) -> int:
        return len(list(self._faults))

    @cached_property
    def _faults(self) -> tuple[Fault, ...]:
        return tuple(_known(self.held))

    def explain(self, effort: Effort) -> tuple[Fault | None, tuple[str, ...], tuple[tuple[str, str, float], ...]]:
        """(the one fault that brings all to the floor, several that do, what was tried with what it left × floor)."""
        base = self._left(NO_FAULT, first=True)
        tried = []
        for fault in self._faults:
            tried.append((fault, self._left(fault, first=True)))
            effort.did()
        near = [fault for fault, left in tried if left <= 1 and left * DECISIVE <= base]
        sure = [fault for fault in near if self._left(fault, first=False) <= 1]
        told = tuple((fault.name, fault.what, left) for fault, left in sorted(tried, key=lambda each: each[1]))
        if len(sure) == 1 or (sure and self._alike(sure)):
            return sure[0], (), told
        return None, tuple(fault.what for fault in sure), told

    def _left(self, fault: Fault, first: bool) -> float:
        """The largest multiple of what is allowed, on the shortest text or on all."""
        chosen = list(zip(self.texts, self._limits, strict=True))[: 1 if first else None]
        try:
            return max(float((self._errors(h, f, fault) / limits).max()) for (h, f), limits in chosen)
        except NonFiniteError:
            return np.inf

    def _alike(self, faults: list[Fault]) -> bool:
        """Whether they are the same arithmetic under several names."""
        _, followed = self.texts[-1]
        rows = [self._rows(followed, fault, self.sites) for fault in faults]
        return all(np.allclose(rows[0], each, rtol=0, atol=1e-6) for each in rows[1:])

    def _errors(self, heard: Heard, followed: Followed, fault: Fault) -> Array:
        rows = self._rows(followed, fault, self.sites)
        return np.array([place.moved for place in self.reading.speller.places(heard, followed, rows)])

    def _allowed(self, heard: Heard, followed: Followed) -> Array:
        exact, coarse = (self._rows(followed, NO_FAULT, kind) for kind in ("fp64", self.sites))
        spell = self.reading.speller
        pairs = zip(spell.places(heard, followed, exact), spell.places(heard, followed, coarse), strict=True)
        rounding = np.array([max(abs(a.one[t] - b.one[t]) for t in a.one) if a.one else 0.0 for a, b in pairs])
        return self.noise + self.headroom * np.maximum(rounding, np.median(rounding))

    def _rows(self, followed: Followed, fault: Fault, sites: str) -> Array:
        """Log-probabilities [n + 1, v] that predict the followed tokens, and the next one."""
        ids = Observation(followed.ids, {})
        if sites == "fp64":  # layer by layer: all weights in double would fill the memory
            logits = whole(self.held, ids, fault, sites).logits
        else:
            logits = alone(Piece(0, len(self.held[0].layers), True, True), self.held, ids, fault, sites).logits
        assert logits is not None
        return log_softmax(logits[-len(followed.tokens) - 1 :])

    def _in_order(self, found: list[Array]) -> Array:
        """Back from the shortest first to the order in which the texts were asked."""
        by_text = {h.text.name: values for (h, _), values in zip(self.texts, found, strict=True)}
        kept = [by_text[h.text.name] for h, f in self.reading.texts if f.tokens]
        return np.concatenate(kept) if kept else np.zeros(0)


def _known(described: Described) -> Iterator[Fault]:
    """Faults without a number, then those with a number at the values that real code has."""
    fixed, families = catalogue(described[0])
    yield from (each.fault for each in fixed if changes_something(each.fault, *described))
    for family in families:
        grid = (family.make(value) for value in family.tried)
        yield from (fault for fault in grid if changes_something(fault, *described))
