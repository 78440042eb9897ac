"""What full effort adds to a study: experiments on parts, sets, the context, and gradients as a map."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from whybox.cause.ablation import Ablated
from whybox.cause.answers import Answered
from whybox.cause.candidates import Candidates
from whybox.cause.components import Component, all_heads, all_keys, all_mlps, all_queries
from whybox.cause.context import Attributed
from whybox.cause.effects import Unknown
from whybox.cause.estimates import Estimate, Estimated, estimated
from whybox.cause.experiment import measure
from whybox.cause.flipping import EdgeAction, Flipping
from whybox.cause.ground import Ground
from whybox.cause.integrated import Integrated, integrated_gradients
from whybox.cause.knockout import SegmentKnockout
from whybox.cause.measured import Measured
from whybox.cause.pairs import Pairs
from whybox.cause.repair import LITTLE, NO_EFFECT, Repair, Repairs
from whybox.cause.replacement import Replacement
from whybox.cause.verification import Verified, verify
from whybox.engine.edit import Index

LONGEST = 512  # tokens up to which parts are changed at all positions
TOP = 20  # parts that are ablated in three ways
HEADS = 10  # heads whose repair is measured
SEGMENTS = 6  # segments that are knocked out in every way
SITES = 2  # sites along which gradients are integrated, of those that one gradient does not see
MIDPOINTS = 64  # at most, for each of them
ALONG = 2 * MIDPOINTS + 3  # runs of one such site: gradients, values, the joint effect, that of its largest part
Turning = Literal["removal"] | EdgeAction
NOT_RUN = Unknown("run with --effort full")


@dataclass(frozen=True)
class Where:
    """Positions at which parts are changed. since: the first of them."""

    rows: Index | None
    since: int
    said: str


def where(ground: Ground) -> Where:
    """All positions of a short text; in a long one the decision alone."""
    if ground.length <= LONGEST:
        return Where(None, 0, "all positions")
    return Where(ground.answer_rows, ground.row, "the decision position")


@dataclass(frozen=True)
class FoundSet:
    """A flipping set. written: the answer with the set changed; turns: whether it is right, or right no longer."""

    what: Turning
    about: tuple[str, ...]
    found: Flipping | Unknown
    written: Answered | None = None
    turns: bool | None = None


@dataclass(frozen=True)
class Along:
    """A site that one gradient does not see. estimate: what it summed to there; shared: the same effect along the way.

    largest: the component with the largest share, and what replacing it alone does, measured.
    """

    estimate: float
    shared: Integrated
    largest: Component
    effect: Measured


@dataclass(frozen=True)
class Gradients:
    """A map by one gradient, and what intervening on its top and on random others found. along: where it is blind."""

    estimates: tuple[Estimate, ...]
    verified: Verified
    along: tuple[Along, ...]

    @property
    def flagged(self) -> int:
        return sum(one.low_confidence for one in self.estimates)

    @property
    def taken(self) -> int:
        """How many gradients were taken along the way."""
        return sum(one.shared.gradients for one in self.along)


@dataclass(frozen=True)
class Context:
    """answer: whose log P was attributed; right: whether it is the right one. sources: in the order of the prompt."""

    answer: str
    right: bool
    sources: tuple[str, ...]
    found: Attributed


@dataclass
class Full:
    """What was found so far; each piece says why it is missing. everywhere: parts are changed at all positions."""

    where: str = ""
    everywhere: bool = True
    candidates: Candidates | None = None
    ablated: Sequence[Ablated] | Unknown = NOT_RUN
    repairs: Repairs | Unknown = NOT_RUN
    pairs: Pairs | Unknown = NOT_RUN
    sets: list[FoundSet] = field(default_factory=list)
    context: Context | Unknown = NOT_RUN
    gradients: Gradients | Unknown = NOT_RUN
    segments: Sequence[SegmentKnockout] | Unknown = NOT_RUN


def gradients(ground: Ground, replacement: Replacement, generator: np.random.Generator) -> Gradients:
    """Heads, MLPs, queries and keys by one gradient; the 20 largest estimates and 20 random ones are intervened on."""
    spec = ground.spec
    parts: list[Component] = [*all_heads(spec), *all_mlps(spec), *all_queries(spec), *all_keys(spec)]
    found = estimated(ground, replacement, parts)
    verified = verify(ground, replacement, found.all, generator, draws=0)
    return Gradients(found.all, verified, tuple(_blind_sites(ground, replacement, found, generator)))


def _blind_sites(
    ground: Ground, replacement: Replacement, found: Estimated, generator: np.random.Generator
) -> Iterator[Along]:
    """The sites with the largest effects of those that the gradient does not see, shared out along the way."""
    values = {one.component: one.value for one in found.all}
    for group, joint in found.blind[:SITES]:
        shared = integrated_gradients(ground, replacement, group, MIDPOINTS, joint)
        largest = max(group, key=lambda one: abs(shared.shares[one]))
        (effect,) = measure(ground, replacement, [(largest,)], generator, draws=0)
        yield Along(sum(values[one] for one in group), shared, largest, effect)


def repair_flags(one: Repair, known: Candidates | None, everywhere: bool) -> tuple[str, ...]:
    """What may be said of a head. Its three effects were measured at the decision: that it does nothing is said only
    where its removal at all positions does nothing either.
    """
    if known is None or not everywhere:
        return tuple(flag for flag in one.flags if flag != NO_EFFECT)
    largest = max(map(abs, known.alone.values()))
    little = abs(known.alone[one.component]) <= LITTLE * largest
    return tuple(flag for flag in one.flags if flag != NO_EFFECT or little)


def of_repair(found: Repairs | Unknown, known: Candidates) -> dict[Component, float]:
    """Of every part the largest effect that it was seen to have: alone, conditional, or direct."""
    largest = {one: max(alone, known.without.get(one, 0.0), key=abs) for one, alone in known.alone.items()}
    if isinstance(found, Unknown):
        return largest
    for part in found.parts:
        own = largest[part.component]
        largest[part.component] = max(own, part.total.value, part.conditional.value, part.direct.value, key=abs)
    return largest
