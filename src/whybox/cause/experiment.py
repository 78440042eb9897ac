"""The common step of all experiments on components: replaced, read, and set beside what matched others do."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.cause.components import Group
from whybox.cause.effects import Unknown
from whybox.cause.ground import Ground, Moved
from whybox.cause.measured import Measured
from whybox.cause.null import DRAWS, Matched, Null, other_groups
from whybox.cause.replacement import Replacement
from whybox.engine.trace import Change

AT_ONCE = 512  # changes whose replaced values are held at a time
UNMATCHED = "no other component of this kind matches it"
NOT_DRAWN = "matched others exist, and none were run"


@dataclass(frozen=True)
class Plan:
    """Claims, the matched groups of each, and every group that is run once for all of them."""

    claims: tuple[Group, ...]
    matched: tuple[Matched[Group], ...]

    @property
    def groups(self) -> tuple[Group, ...]:
        drawn = (group for one in self.matched for group in one.draws)
        return tuple(dict.fromkeys((*self.claims, *drawn)))


def plan(
    ground: Ground, claims: Iterable[Group], generator: np.random.Generator, draws: int = DRAWS, apart: Group = ()
) -> Plan:
    """Each claim with its matched groups, at most so many; apart: components that better stay out of them."""
    chosen = tuple(claims)
    matched = tuple(other_groups(claim, ground.spec, ground.length, generator, draws, apart) for claim in chosen)
    return Plan(chosen, matched)


def measure(
    ground: Ground,
    replacement: Replacement,
    claims: Iterable[Group],
    generator: np.random.Generator,
    draws: int = DRAWS,
    given: Group = (),
) -> list[Measured]:
    """The effect of replacing each claim, beside that of matched groups.

    given: components that are replaced in all runs, the base included: e(j | C) = m(j ∪ C) − m(C).
    """
    planned = plan(ground, claims, generator, draws)
    found = effects(ground, replacement, planned.groups, given)
    return [beside(ground, claim, one, found) for claim, one in zip(planned.claims, planned.matched, strict=True)]


def effects(ground: Ground, replacement: Replacement, groups: Sequence[Group], given: Group = ()) -> dict[Group, Moved]:
    """What replacing each group does, on top of what is replaced already."""
    before = ground.moved([Change(replacement(given))])[0].effect if given else 0.0
    found: dict[Group, Moved] = {}
    for first in range(0, len(groups), AT_ONCE):
        some = groups[first : first + AT_ONCE]
        moved = ground.moved([Change(replacement(_joined(given, group))) for group in some])
        found |= {group: Moved(one.effect - before, one.changed) for group, one in zip(some, moved, strict=True)}
    return found


def _joined(given: Group, group: Group) -> Group:
    return (*given, *(component for component in group if component not in given))


def beside(ground: Ground, claim: Group, matched: Matched[Group], found: Mapping[Group, Moved]) -> Measured:
    """A claim's effect, with those of its matched groups as null."""
    drawn = tuple(found[group].effect for group in matched.draws)
    null = Null(drawn, matched.distinct) if drawn else Unknown(NOT_DRAWN if matched.distinct else UNMATCHED)
    return Measured(found[claim].effect, ground.floor, null, changed=found[claim].changed)
