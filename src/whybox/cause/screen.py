"""The screen: every head and MLP taken out at the decision, one at a time, and the strongest put to a second test.

    wrote     what the part added to LD itself, at the decision (direct attribution, no run of its own)
    zero      LD without it: set to zero at the decision position, beside the matched others
    resample  LD with what it writes at the end of 16 other prompts in its place: mean and SD

Zero lies off the distribution that the model knows, so the screen alone says nothing: what it finds is verified by
resampling. Parts that act at earlier positions alone are not seen here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whybox.cause.ablation import DEPENDS
from whybox.cause.components import Component, Group, Head, Mlp, all_heads, all_mlps
from whybox.cause.effects import Unknown
from whybox.cause.experiment import beside, effects, plan
from whybox.cause.ground import Ground
from whybox.cause.measured import Measured
from whybox.cause.references import References
from whybox.cause.replacement import Resampled, Zeroed
from whybox.engine.trace import Change
from whybox.measure.attribution import DirectAttribution
from whybox.spec import Spec

TOP = 20
DRAWS = 16  # other prompts whose values are put in
NOT_CONFIRMED = "not confirmed by values of other prompts"


@dataclass(frozen=True)
class Screened:
    """One part. resample: why there is none, for those that were not among the strongest."""

    component: Component
    wrote: float | Unknown
    zero: Measured
    resample: Measured | Unknown

    @property
    def verified(self) -> bool:
        return isinstance(self.resample, Measured)

    @property
    def flags(self) -> tuple[str, ...]:
        """Of a verified part: the two ways point in opposite directions, or the second shows no clear effect."""
        if not isinstance(self.resample, Measured) or self.zero.is_none:
            return ()
        if not self.resample.is_clear:
            return (NOT_CONFIRMED,)
        return (DEPENDS,) if self.zero.value * self.resample.value < 0 else ()


@dataclass(frozen=True)
class Screen:
    """Every part, those with the largest effect first. references: where other values come from."""

    parts: tuple[Screened, ...]
    references: str

    @property
    def verified(self) -> tuple[Screened, ...]:
        return tuple(part for part in self.parts if part.verified)


def screen(
    ground: Ground,
    others: References | Unknown,
    written: DirectAttribution | Unknown,
    generator: np.random.Generator,
    top: int = TOP,
) -> Screen:
    """All parts at the decision row, and the `top` strongest a second time. others: runs that hold one row each."""
    every: list[Component] = [*all_heads(ground.spec), *all_mlps(ground.spec)]
    claims: list[Group] = [(part,) for part in every]
    planned = plan(ground, claims, generator)
    found = effects(ground, Zeroed(ground.answer_rows), planned.groups)
    own = [beside(ground, *one, found) for one in zip(planned.claims, planned.matched, strict=True)]
    ranked = sorted(zip(claims, own, strict=True), key=lambda pair: -abs(pair[1].value))
    again = _again(ground, others, [claim for claim, _ in ranked[:top]])
    parts = [Screened(claim[0], _written(written, claim[0]), zero, again.get(claim, _WEAKER)) for claim, zero in ranked]
    return Screen(tuple(parts), others.name if isinstance(others, References) else "")


_WEAKER = Unknown(f"not among the {TOP} with the largest effect at the decision")


def _again(ground: Ground, others: References | Unknown, claims: Sequence[Group]) -> Mapping[Group, Measured | Unknown]:
    """Mean and SD over the other prompts; no null is drawn here."""
    if isinstance(others, Unknown):
        return dict.fromkeys(claims, others)
    replacements = [Resampled(ground.trace, other, ground.row) for other in others.others]
    moved = ground.moved([Change(replacement(claim)) for claim in claims for replacement in replacements])
    drawn = np.array([one.effect for one in moved]).reshape(len(claims), len(replacements))
    return {claim: _mean(ground, row) for claim, row in zip(claims, drawn.tolist(), strict=True)}


def _mean(ground: Ground, values: Sequence[float]) -> Measured:
    null = Unknown("matched others are resampled with --effort full")
    found = Measured(float(np.mean(values)), ground.floor, null, len(values))
    return found if len(values) < 2 else replace(found, sd=float(np.std(values, ddof=1)))


def _written(written: DirectAttribution | Unknown, component: Component) -> float | Unknown:
    if isinstance(written, Unknown):
        return written
    match component:
        case Head(layer, head):
            return float(written.heads[layer][head])
        case Mlp(layer):
            return float(written.mlps[layer].sum())
        case _:
            return Unknown("only heads and MLPs write into the stream")


def parts_of(spec: Spec) -> int:
    """How many heads and MLPs there are."""
    return sum(1 for _ in all_heads(spec)) + len(spec.layers)
