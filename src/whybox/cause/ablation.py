"""Ablation in three ways, side by side: zero, mean over reference prompts, resampled from them.

Zero is off the distribution that the model knows; a mean is on none of its points; a resampled value is one that the
model writes elsewhere, and the default. Where they point in opposite directions, the effect depends on the ablation.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from whybox.cause.components import Group
from whybox.cause.effects import Unknown
from whybox.cause.experiment import UNMATCHED, Plan, effects, plan
from whybox.cause.ground import Ground, Moved
from whybox.cause.measured import Measured
from whybox.cause.null import DRAWS, Matched, Null
from whybox.cause.references import Other, References
from whybox.cause.replacement import Averaged, Replacement, Resampled, Zeroed
from whybox.engine.ablation import DRAWS as RESAMPLES
from whybox.engine.edit import Index
from whybox.errors import UsageError

DEPENDS = "depends on the ablation"


@dataclass(frozen=True)
class Ablated:
    """One claim, ablated in three ways. resample: mean and SD of 16 draws. references: where other values come from."""

    claim: Group
    zero: Measured
    mean: Measured
    resample: Measured
    references: str

    @property
    def flags(self) -> tuple[str, ...]:
        """`depends on the ablation`: two of the three are clear, with opposite signs."""
        signs = {np.sign(one.value) for one in (self.zero, self.mean, self.resample) if one.is_clear}
        return (DEPENDS,) if len(signs) > 1 else ()


def ablate(
    ground: Ground,
    claims: Sequence[Group],
    references: References,
    generator: np.random.Generator,
    rows: Index | None = None,
    draws: int = DRAWS,
) -> list[Ablated]:
    """Each claim ablated at all positions, or at some; its null by the same ablation of matched others.

    draws: matched groups of a claim at most; each is run 18 times. UsageError for fewer than 32 references.
    """
    planned = plan(ground, claims, generator, draws)
    base, others = ground.trace, references.others
    chosen = _drawn(others, generator)
    zero = _table(ground, planned, [Zeroed(rows)])
    mean = _table(ground, planned, [Averaged(base, others, rows)])
    resampled = _table(ground, planned, [Resampled(base, other, rows) for other in chosen])
    return [
        Ablated(
            claim,
            zero.measured(ground, claim, matched),
            mean.measured(ground, claim, matched),
            resampled.measured(ground, claim, matched),
            references.name,
        )
        for claim, matched in zip(planned.claims, planned.matched, strict=True)
    ]


def _drawn(others: Sequence[Other], generator: np.random.Generator) -> list[Other]:
    """16 runs, no one twice while there are enough."""
    if not others:
        raise UsageError("there is no other run to draw from", "give reference prompts")
    chosen = generator.choice(len(others), size=RESAMPLES, replace=len(others) < RESAMPLES)
    return [others[index] for index in chosen]


@dataclass(frozen=True)
class _Table:
    """Effects of every group, under each replacement of one kind."""

    runs: tuple[dict[Group, Moved], ...]

    def effect(self, group: Group) -> float:
        return float(np.mean([run[group].effect for run in self.runs]))

    def measured(self, ground: Ground, claim: Group, matched: Matched[Group]) -> Measured:
        drawn = tuple(map(self.effect, matched.draws))
        null = Null(drawn, matched.distinct) if drawn else Unknown(UNMATCHED)
        changed = any(run[claim].changed for run in self.runs)
        found = Measured(self.effect(claim), ground.floor, null, len(self.runs), changed=changed)
        spread = [run[claim].effect for run in self.runs]
        return found if len(spread) < 2 else replace(found, sd=float(np.std(spread, ddof=1)))


def _table(ground: Ground, planned: Plan, replacements: Sequence[Replacement]) -> _Table:
    return _Table(tuple(effects(ground, one, planned.groups) for one in replacements))
