"""Integrated gradients: the estimate made along the whole way from one value to the other (arXiv 1703.01365).

    IG = ⟨x′ − x, mean over midpoints of ∂m/∂x at x + α(x′ − x)⟩,   Σ IG = m(x′) − m(x) for enough midpoints

Components of one site move together; IG shares out what replacing all of them at once does. 16 midpoints, doubled up to
256 until the sum misses that by at most 5 %.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whybox.cause.components import Component, wishes
from whybox.cause.estimates import Step, steps
from whybox.cause.ground import Ground
from whybox.cause.measured import STEPS
from whybox.cause.replacement import Replacement
from whybox.engine.edit import Edit, set_to
from whybox.engine.trace import Change
from whybox.errors import UsageError

FEWEST, MOST = 16, 256
COMPLETE = 0.05
INCOMPLETE = 0.1
LOW = "completeness error above 10 %"


@dataclass(frozen=True)
class Integrated:
    """shares: of each component, in the unit of the read. joint: what replacing all of them does, measured.

    error: |Σ shares − joint| / |joint|; None where the joint effect is within the floor. place: the site. midpoints:
    those that the shares were made with; gradients: all that were taken until they were enough.
    """

    place: str
    shares: dict[Component, float]
    joint: float
    midpoints: int
    gradients: int
    error: float | None

    @property
    def flags(self) -> tuple[str, ...]:
        return (LOW,) if self.error is not None and self.error > INCOMPLETE else ()


def integrated_gradients(
    ground: Ground,
    replacement: Replacement,
    components: Sequence[Component],
    most: int = MOST,
    joint: float | None = None,
) -> Integrated:
    """The joint effect of components of one site, shared out, with at most `most` midpoints. joint: where it is known.

    UsageError where the components lie at several sites or layers.
    """
    trace = ground.seen(wishes(tuple(components)))
    parts = {one: list(steps(trace, replacement((one,)))) for one in components}
    places = {(step.site, step.layer) for found in parts.values() for step in found}
    if len(places) != 1:
        raise UsageError(
            f"the components lie at {len(places)} sites: {', '.join(sorted(map(_shown, places)))}",
            "integrate along one site at a time: what lies behind a changed site changes by itself",
        )
    ((site, layer),) = places
    way = _Way(ground, site, layer, parts)
    if joint is None:
        joint = ground.moved([Change(replacement(tuple(components)))])[0].effect
    count = taken = FEWEST
    while True:
        shares = way.shares(count)
        missed = abs(sum(shares.values()) - joint)
        if missed <= max(COMPLETE * abs(joint), STEPS * ground.floor) or 2 * count > most:
            error = missed / abs(joint) if abs(joint) > STEPS * ground.floor else None
            return Integrated(_shown((site, layer)), shares, joint, count, taken, error)
        count *= 2
        taken += count


@dataclass(frozen=True, eq=False)
class _Way:
    """The straight line between the two values of a site."""

    ground: Ground
    site: str
    layer: int | None
    parts: dict[Component, list[Step]]

    def shares(self, count: int) -> dict[Component, float]:
        slope = np.mean([self._slope((k + 0.5) / count) for k in range(count)], axis=0)
        return {one: sum(float((step.by * slope).sum()) for step in found) for one, found in self.parts.items()}

    def _slope(self, along: float) -> np.ndarray:
        """∂m/∂x with the site held at x + α(x′ − x)."""
        run = replace(self.ground.trace, edits=(*self.ground.trace.edits, self._held(along)))
        wish = self.site if self.layer is None else (self.site, self.layer)
        gradient = self.ground.model.gradient(run, self.ground.read, [wish])
        return gradient[self.site] if self.layer is None else gradient[self.site, self.layer]

    def _held(self, along: float) -> Edit:
        moves = [step for found in self.parts.values() for step in found]
        value = moves[0].before + along * sum(step.by for step in moves)
        return set_to(self.site, value, self.layer)


def _shown(place: tuple[str, int | None]) -> str:
    return place[0] if place[1] is None else f"{place[0]} {place[1]}"
