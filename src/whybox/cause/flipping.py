"""The smallest set of parts whose change turns the outcome: found by size of the single effects, then pared down.

    removal  heads and MLPs that are taken out (zero)
    boost    heads whose edge decision → evidence is lifted
    cut      heads whose edge decision → a part is cut

The outcome turns, at the decision: a wrong answer's LD rises above the floor; a right answer's lead sinks to a
twentieth of what it was. Whether the answer that is written turns as well is asked once, of the set that was found.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from whybox.cause.components import Component, Group, Head
from whybox.cause.effects import Unknown
from whybox.cause.ground import Ground
from whybox.cause.measured import STEPS
from whybox.cause.minimal import Margins, minimal
from whybox.engine.edit import Edit, Index, boost, cut
from whybox.engine.trace import Change

MOST = 12  # parts that a set is pared down from
RUNS = MOST + MOST * (MOST + 1) // 2 * (MOST + 1)  # at most, single effects not counted
LITTLE = 0.05
NO_SET = "no set of up to {most} of the strongest parts turns the outcome"
NONE_TOWARDS = "no part moves the metric towards the turn"

EdgeAction = Literal["boost", "cut"]
Edited = Callable[[Group], tuple[Edit, ...]]
"""Parts that change together → the edits that change them."""


@dataclass(frozen=True)
class Flipping:
    """parts: each is needed. ld: the read with all of them changed. others: other minimal sets. tried: sets run."""

    parts: Group
    ld: float
    others: tuple[Group, ...]
    tried: int


def flipping(ground: Ground, edited: Edited, candidates: Sequence[Component]) -> Flipping | Unknown:
    """The smallest set found. candidates: parts by how far each alone moves the read towards the turn, best first."""
    sets = Sets(ground, edited)
    enough = _enough(sets.margins, tuple(candidates[:MOST]))
    if enough is None:
        return Unknown(NO_SET.format(most=min(MOST, len(candidates))) if candidates else NONE_TOWARDS)
    found = minimal(enough, sets.margins)
    return Flipping(found.parts, sets.after[found.parts], found.others, len(sets.after))


@dataclass(eq=False)
class Sets:
    """Sets of parts that were changed together, each once. after: the read of each."""

    ground: Ground
    edited: Edited
    after: dict[Group, float] = field(default_factory=dict)

    def margins(self, sets: Sequence[Group]) -> list[float]:
        """How far beyond the turn each set brings the read."""
        new = [group for group in dict.fromkeys(sets) if group not in self.after]
        moved = self.ground.moved([Change(self.edited(group)) for group in new]) if new else []
        self.after |= {group: self.ground.value + one.effect for group, one in zip(new, moved, strict=True)}
        return [self._beyond(self.after[group]) for group in sets]

    def _beyond(self, value: float) -> float:
        floor = STEPS * self.ground.floor
        return value - floor if self.ground.value <= floor else max(floor, LITTLE * self.ground.value) - value


def _enough(margins: Margins[Component], candidates: Group) -> Group | None:
    """The first 1, 2, 3 … candidates, as many as turn the outcome; None where not even all of them do."""
    starts = [candidates[:count] for count in range(1, len(candidates) + 1)]
    if not starts:
        return None
    return next((one for one, margin in zip(starts, margins(starts), strict=True) if margin > 0), None)


def towards(ground: Ground, effects: Mapping[Component, float]) -> list[Component]:
    """Parts whose change moves the read towards the turn, the strongest first."""
    sign = 1.0 if ground.value <= STEPS * ground.floor else -1.0
    return sorted((one for one in effects if sign * effects[one] > 0), key=lambda one: -sign * effects[one])


def edges(action: EdgeAction, keys: Sequence[int], rows: Index) -> Edited:
    """The edges of some heads, from some rows to some keys, cut or boosted: one edit a layer."""
    make, seen = (cut if action == "cut" else boost), tuple(keys)

    def edited(group: Group) -> tuple[Edit, ...]:
        return tuple(make(layer, h=heads, q=rows, k=seen) for layer, heads in _by_layer(group))

    return edited


def _by_layer(group: Group) -> Iterator[tuple[int, tuple[int, ...]]]:
    heads = [one for one in group if isinstance(one, Head)]
    for layer in sorted({one.layer for one in heads}):
        yield layer, tuple(sorted(one.head for one in heads if one.layer == layer))
