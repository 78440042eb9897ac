"""Two parts taken out together, against what each does alone: pairs that cancel, and pairs that do more together.

interaction = e(a, b) − e(a) − e(b)

cancel         each alone moves the read, in opposite directions; both together hardly do
only together  both together do at least twice what the two do alone, which is hardly anything: at most a twentieth each
more together  the same, of parts that also act alone
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from whybox.cause.components import Component, Group
from whybox.cause.experiment import effects, measure
from whybox.cause.ground import Ground
from whybox.cause.measured import STEPS, Measured
from whybox.cause.null import DRAWS
from whybox.cause.replacement import Replacement

CANCEL = "cancel each other"
TOGETHER = "only together"
MORE = "more together"
PARTS = 8  # of which every pair is run
SHOWN = 3  # flagged pairs that are set beside matched pairs
LITTLE = 0.05  # of the larger single effect, where two cancel; of the joint one, where they act together
LOUD = 0.25  # of the largest single effect: what cancels must be loud
TWICE = 2.0


@dataclass(frozen=True)
class Pair:
    """joint: with matched pairs as null, where it is flagged; alone: what each does by itself."""

    parts: tuple[Component, Component]
    alone: tuple[float, float]
    joint: Measured
    flag: str

    @property
    def interaction(self) -> float:
        return self.joint.value - sum(self.alone)


@dataclass(frozen=True)
class Pairs:
    """pairs: those that are flagged, the loudest first. tried: all pairs that were run."""

    pairs: tuple[Pair, ...]
    parts: tuple[Component, ...]
    tried: int


def pairs_of(
    ground: Ground,
    replacement: Replacement,
    components: Sequence[Component],
    generator: np.random.Generator,
    draws: int = DRAWS,
) -> Pairs:
    """Every pair of some parts."""
    chosen = tuple(components[:PARTS])
    both: list[tuple[Component, Component]] = list(combinations(chosen, 2))
    groups: list[Group] = [*((one,) for one in chosen), *both]
    found = {group: moved.effect for group, moved in effects(ground, replacement, groups).items()}
    largest = max((abs(found[one,]) for one in chosen), default=0.0)
    flagged = [(pair, flag) for pair in both if (flag := flag_of(ground, found, pair, largest))]
    loudest = sorted(flagged, key=lambda one: -max(map(abs, (found[one[0]], *_alone(found, one[0])))))[:SHOWN]
    measured = measure(ground, replacement, [pair for pair, _ in loudest], generator, draws)
    pairs = [
        Pair(pair, _alone(found, pair), joint, flag) for (pair, flag), joint in zip(loudest, measured, strict=True)
    ]
    return Pairs(tuple(pairs), chosen, len(both))


def _alone(found: dict[Group, float], pair: tuple[Component, Component]) -> tuple[float, float]:
    return found[pair[0],], found[pair[1],]


def flag_of(ground: Ground, found: dict[Group, float], pair: tuple[Component, Component], largest: float) -> str:
    """What a pair's joint effect says beside the effects of each alone; empty: nothing. largest: of all single ones."""
    joint, alone = found[pair], _alone(found, pair)
    floor, louder = STEPS * ground.floor, max(map(abs, alone))
    if min(map(abs, alone)) > max(floor, LOUD * largest) and alone[0] * alone[1] < 0:
        return CANCEL if abs(joint) <= max(floor, LITTLE * louder) else ""
    by_themselves = sum(map(abs, alone))
    if abs(joint) - by_themselves <= floor or abs(joint) < TWICE * by_themselves:
        return ""
    return TOGETHER if louder <= max(floor, LITTLE * abs(joint)) else MORE
