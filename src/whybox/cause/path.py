"""Path patching: what a component does to the read by way of one receiver, everything else frozen (arXiv 2211.00593).

First run: the sender is replaced, and whatever else writes into the residual stream behind it keeps the base run's
value; what then reaches the receiver came straight from the sender. Second run: the receiver alone gets that input.
With the last norm as receiver the first run is all: the direct effect, DE.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import assert_never

import numpy as np

from whybox.cause.components import Component, Group, Head, Positions, Selection, first_layer
from whybox.cause.experiment import beside, effects, measure, plan
from whybox.cause.ground import Ground
from whybox.cause.measured import Measured
from whybox.cause.null import DRAWS
from whybox.cause.replacement import Replacement
from whybox.engine.edit import Edit, set_to
from whybox.engine.read import site
from whybox.engine.trace import Change, Trace

WRITERS = ("head_out", "mlp_out")  # all that writes into the stream


@dataclass(frozen=True, order=True)
class QueryOf:
    """What a head looks for."""

    layer: int
    head: int


@dataclass(frozen=True, order=True)
class KeyOf:
    """By what positions are found: one key head, read by all query heads of its group."""

    layer: int
    group: int


@dataclass(frozen=True, order=True)
class ValueOf:
    """What is handed over: one value head, mixed by all query heads of its group."""

    layer: int
    group: int


@dataclass(frozen=True, order=True)
class InputOf:
    """What an MLP reads."""

    layer: int


Receiver = QueryOf | KeyOf | ValueOf | InputOf


@dataclass(frozen=True, eq=False)
class Frozen:
    """A replacement with everything else that writes into the stream held at the base run's values.

    base: the run with `head_out` and `mlp_out` kept. since: the first position that is changed. What is replaced comes
    last, so that all members of a group act.
    """

    base: Trace
    replacement: Replacement
    since: int = 0

    def __call__(self, group: Group) -> tuple[Edit, ...]:
        layers = range(min(map(first_layer, group)), len(self.base.spec.layers))
        held = (self._held(writer, layer) for layer in layers for writer in WRITERS)
        return (*held, *self.replacement(group))

    def _held(self, writer: str, layer: int) -> Edit:
        return set_to(writer, self.base[writer, layer][self.since :], layer, q=slice(self.since, None))


def frozen(ground: Ground, replacement: Replacement, since: int = 0) -> Frozen:
    """since: the first position that the replacement changes."""
    return Frozen(ground.seen(WRITERS), replacement, since)


def direct_effects(
    ground: Ground,
    replacement: Replacement,
    senders: Iterable[Group],
    generator: np.random.Generator,
    draws: int = DRAWS,
    since: int = 0,
) -> list[Measured]:
    """DE of each sender: replaced, everything behind it frozen, read through the last norm and the head."""
    return measure(ground, frozen(ground, replacement, since), senders, generator, draws)


@dataclass(frozen=True)
class Path:
    """The effect of a sender by way of one receiver."""

    sender: Group
    receiver: Receiver
    effect: Measured


def paths(
    ground: Ground,
    replacement: Replacement,
    senders: Sequence[Group],
    receivers: Sequence[Receiver],
    generator: np.random.Generator,
    draws: int = DRAWS,
    since: int = 0,
) -> list[Path]:
    """Every sender to every receiver that lies behind it. Null: matched senders by way of the same receiver."""
    held = frozen(ground, replacement, since)
    found = []
    for receiver in receivers:
        before = [sender for sender in senders if is_behind(receiver, sender)]
        planned = plan(ground, before, generator, draws)
        moved = effects(ground, _through(ground, held, receiver, planned.groups), planned.groups)
        measured = [beside(ground, *one, moved) for one in zip(planned.claims, planned.matched, strict=True)]
        found += [Path(sender, receiver, effect) for sender, effect in zip(before, measured, strict=True)]
    return found


def is_behind(receiver: Receiver, sender: Group) -> bool:
    """Whether what the sender writes can reach the receiver through the residual stream."""
    return all(_reaches(component, receiver) for component in sender)


def _reaches(component: Component, receiver: Receiver) -> bool:
    match component:
        case Head(layer):
            return receiver.layer > layer or (isinstance(receiver, InputOf) and receiver.layer == layer)
        case Positions():
            return True
        case _:
            return receiver.layer > first_layer(component)


def input_of(receiver: Receiver) -> Selection:
    """The value that a receiver gets."""
    match receiver:
        case QueryOf(layer, head):
            return Selection("query", layer, (("h", head),))
        case KeyOf(layer, group):
            return Selection("key", layer, (("g", group),))
        case ValueOf(layer, group):
            return Selection("value", layer, (("g", group),))
        case InputOf(layer):
            return Selection("mlp_in", layer)
        case _:
            assert_never(receiver)


def _part(receiver: Receiver) -> int | None:
    """Which head of the site it is."""
    match receiver:
        case QueryOf(_, head):
            return head
        case KeyOf(_, group) | ValueOf(_, group):
            return group
        case InputOf():
            return None
        case _:
            assert_never(receiver)


def _through(ground: Ground, held: Frozen, receiver: Receiver, groups: Sequence[Group]) -> Replacement:
    """Group → the receiver's input as it was when the group was replaced and everything else frozen."""
    goal = input_of(receiver)
    changes = [Change(held(group)) for group in groups]
    values = ground.model.sweep(ground.trace, changes, site(goal.site, goal.layer), [goal.wish])
    found = dict(zip(groups, map(np.asarray, values), strict=True))
    rows, letter = slice(held.since, None), "k" if isinstance(receiver, KeyOf | ValueOf) else "q"
    part = _part(receiver)

    def replacement(group: Group) -> tuple[Edit, ...]:
        value = found[group][held.since :]
        kept = value if part is None else value[:, [part]]
        return (set_to(goal.site, kept, goal.layer, **dict(goal.at), **{letter: rows}),)

    return replacement
