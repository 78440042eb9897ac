"""Self-repair: a part whose removal costs little, because others step in (2211.00593, 2307.15771, 2402.15390).

    DE        the part replaced, everything behind it frozen: what it wrote itself is missing
    TE        the part replaced, the rest free to answer: plain ablation
    ρ         1 − TE/DE, the share that is made good (only where |DE| exceeds the floor)
    e(j | C)  the part replaced when C is already: m(j ∪ C) − m(C)

A backup acts when others are gone: |e(j | C)| ≥ 2|e(j)|, and above 95 % of its null. "No effect" may be said only of a
part whose DE, TE and e(j | C) are all within their nulls, and small beside the largest of the experiment.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from whybox.cause.components import Component, Group, Head, all_heads
from whybox.cause.experiment import beside, effects, measure, plan
from whybox.cause.ground import Ground, Moved
from whybox.cause.measured import Measured
from whybox.cause.null import DRAWS
from whybox.cause.path import frozen
from whybox.cause.replacement import Replacement

TOP = 3
TWICE = 2.0
LITTLE = 0.05  # of the largest effect in the experiment
NO_EFFECT = "no effect in any of the three (direct, total, conditional)"


@dataclass(frozen=True)
class Repair:
    """One part. given: C of the conditional effect, without the part itself; empty where nothing was left of it.

    largest: size of the largest effect in this experiment, of any part, matched others included.
    """

    component: Component
    direct: Measured
    total: Measured
    conditional: Measured
    given: Group
    largest: float

    @property
    def repaired(self) -> float | None:
        """ρ = 1 − TE/DE; None where the direct effect is within the floor."""
        return None if self.direct.is_none else 1 - self.total.value / self.direct.value

    @property
    def is_backup(self) -> bool:
        """It does at least twice as much when C is gone, and more than 95 % of matched others do then."""
        much = abs(self.conditional.value) >= TWICE * abs(self.total.value)
        return much and self.conditional.beyond_null is True

    @property
    def flags(self) -> tuple[str, ...]:
        """What may be said of it: `backup`, or that it has no effect in any of the three."""
        if self.is_backup:
            return ("backup",)
        within = all(self._is_little(one) for one in (self.direct, self.total, self.conditional))
        return (NO_EFFECT,) if within else ()

    def _is_little(self, effect: Measured) -> bool:
        """Within its null, and under a twentieth of the largest: to do as much as one's peers is not to do nothing."""
        return effect.beyond_null is False and abs(effect.value) <= LITTLE * self.largest


@dataclass(frozen=True)
class Joint:
    """The strongest writers ablated together, against the sum of what each does alone."""

    claim: Group
    joint: Measured
    direct: tuple[Measured, ...]
    singles: tuple[Measured, ...]

    @property
    def sum_of_direct(self) -> float:
        return sum(one.value for one in self.direct)

    @property
    def sum_of_singles(self) -> float:
        return sum(one.value for one in self.singles)


@dataclass(frozen=True)
class Repairs:
    """Every part that was asked for, and the joint ablation of the three with the largest direct effect."""

    parts: tuple[Repair, ...]
    joint: Joint


def repairs(
    ground: Ground,
    replacement: Replacement,
    components: Sequence[Component],
    generator: np.random.Generator,
    given: Sequence[Group] = (),
    draws: int = DRAWS,
    since: int = 0,
) -> Repairs:
    """Each part's three effects. since: the first position that the replacement changes.

    given: the C to try. Left out: every choice of the three with the largest direct effect, and for a head all others
    of its layer. Of several C that of the largest |e(j | C)| is reported; matched others are given the same choice.
    """
    planned = plan(ground, [(component,) for component in components], generator, draws, tuple(components))
    alone = _Sets(ground, frozen(ground, replacement, since))
    alone.run(planned.groups)
    order = sorted(planned.claims, key=lambda claim: -abs(alone.of(claim).effect))[:TOP]
    top: Group = tuple(component for claim in order for component in claim)
    free = _Sets(ground, replacement)
    free.run([*planned.groups, top, *(one for group in planned.groups for one in _needed(group, given, top, ground))])
    largest = max(abs(moved.effect) for known in (alone, free) for moved in known.found.values())
    parts = {}
    for claim, matched in zip(planned.claims, planned.matched, strict=True):
        groups = (claim, *matched.draws)
        chosen = {group: free.largest(group, _choices(group, given, top, ground)) for group in groups}
        parts[claim] = Repair(
            claim[0],
            beside(ground, claim, matched, {group: alone.of(group) for group in groups}),
            beside(ground, claim, matched, {group: free.of(group) for group in groups}),
            beside(ground, claim, matched, {group: moved for group, (moved, _) in chosen.items()}),
            chosen[claim][1],
            largest,
        )
    (joint,) = measure(ground, replacement, [top], generator, draws)
    strongest = [parts[claim] for claim in order]
    together = Joint(top, joint, tuple(one.direct for one in strongest), tuple(one.total for one in strongest))
    return Repairs(tuple(parts.values()), together)


def _choices(group: Group, given: Sequence[Group], top: Group, ground: Ground) -> Iterator[Group]:
    """The C for a group, none of them holding a part of it."""
    subsets = given or [chosen for size in range(1, len(top) + 1) for chosen in combinations(top, size)]
    beside_it = () if given else _rest_of_layer(group, ground)
    for chosen in (*subsets, beside_it):
        left = tuple(one for one in chosen if one not in group)
        if left:
            yield left


def _rest_of_layer(group: Group, ground: Ground) -> Group:
    layers = {component.layer for component in group if isinstance(component, Head)}
    heads = (head for head in all_heads(ground.spec) if head.layer in layers)
    return tuple(head for head in heads if head not in group)


def _needed(group: Group, given: Sequence[Group], top: Group, ground: Ground) -> Iterator[Group]:
    for chosen in _choices(group, given, top, ground):
        yield chosen
        yield (*chosen, *group)


@dataclass
class _Sets:
    """What replacing sets of components does; each set is run once, whatever the order of its members."""

    ground: Ground
    replacement: Replacement
    found: dict[frozenset[Component], Moved] = field(default_factory=dict)

    def run(self, groups: Sequence[Group]) -> None:
        wanted = {frozenset(group): group for group in groups}
        moved = effects(self.ground, self.replacement, list(wanted.values()))
        self.found |= {frozenset(group): one for group, one in moved.items()}

    def of(self, group: Group) -> Moved:
        return self.found[frozenset(group)]

    def largest(self, group: Group, choices: Iterable[Group]) -> tuple[Moved, Group]:
        """e(group | C) of the C where it is largest; without any C the plain effect."""
        candidates = [(self._given(group, chosen), chosen) for chosen in choices]
        return max(candidates or [(self.of(group), ())], key=lambda one: abs(one[0].effect))

    def _given(self, group: Group, chosen: Group) -> Moved:
        both, before = self.of((*chosen, *group)), self.of(chosen)
        return Moved(both.effect - before.effect, both.changed)
