"""Estimates put to the test: the largest and as many random ones are intervened on. Only what was measured is shown."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whybox.cause.components import Component
from whybox.cause.estimates import Estimate
from whybox.cause.experiment import measure
from whybox.cause.ground import Ground
from whybox.cause.measured import Measured
from whybox.cause.null import DRAWS
from whybox.cause.replacement import Replacement
from whybox.statistics.intervals import Rate
from whybox.statistics.ranks import Correlation, spearman

TOP = 20


@dataclass(frozen=True)
class Checked:
    """One component: what was estimated, and what intervening did."""

    estimate: Estimate
    effect: Measured

    @property
    def underestimated(self) -> float:
        """How much larger the effect is than its estimate said, in size."""
        return abs(self.effect.value) - abs(self.estimate.value)


@dataclass(frozen=True)
class Verified:
    """top: the largest estimates, intervened on; others: as many drawn from the rest.

    rank: Spearman of estimates and effects over both; None where one of them is constant. signs: how many agree, of
    those whose effect is above the floor.
    """

    top: tuple[Checked, ...]
    others: tuple[Checked, ...]
    rank: Correlation | None
    signs: Rate

    @property
    def all(self) -> tuple[Checked, ...]:
        return (*self.top, *self.others)

    @property
    def worst(self) -> Checked:
        """The worst underestimate: where a map by gradients hides most."""
        return max(self.all, key=lambda one: one.underestimated)

    @property
    def effects(self) -> dict[Component, Measured]:
        """What may be shown and go on to a verdict."""
        return {one.estimate.component: one.effect for one in self.all}


def verify(
    ground: Ground,
    replacement: Replacement,
    found: Sequence[Estimate],
    generator: np.random.Generator,
    top: int = TOP,
    random: int = TOP,
    draws: int = DRAWS,
) -> Verified:
    """Interventions on the `top` largest estimates, and on `random` others."""
    order = sorted(found, key=lambda one: -abs(one.value))
    chosen, rest = order[:top], order[top:]
    picked = sorted(generator.choice(len(rest), min(random, len(rest)), replace=False)) if rest else []
    tried = [*chosen, *(rest[index] for index in picked)]
    effects = measure(ground, replacement, [(one.component,) for one in tried], generator, draws)
    checked = tuple(Checked(one, effect) for one, effect in zip(tried, effects, strict=True))
    clear = [one for one in checked if not one.effect.is_none]
    agree = sum(np.sign(one.estimate.value) == np.sign(one.effect.value) for one in clear)
    rank = spearman([one.estimate.value for one in checked], [one.effect.value for one in checked], generator)
    return Verified(checked[: len(chosen)], checked[len(chosen) :], rank, Rate(int(agree), len(clear)))
