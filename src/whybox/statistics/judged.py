"""A share that a fallible judge had a part in, with the judge's own errors taken off.

The judge calls an answer right or not; what it says of answers whose truth is known gives its sensitivity se and its
specificity sp. Of a share q that it calls right, (q + sp − 1)/(se + sp − 1) is right (Rogan and Gladen 1978).
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from whybox.statistics.intervals import Interval, Rate, wilson
from whybox.statistics.unknown import Unknown

DRAWS = 9999
BLIND = Unknown("the judge does not tell right answers from others")


@dataclass(frozen=True)
class Judge:
    """sensitivity: right answers that it calls right. specificity: others that it does not."""

    sensitivity: Rate
    specificity: Rate

    @property
    def is_blind(self) -> bool:
        """Whether it may be no better than chance: se + sp − 1 is not shown to be above 0."""
        bounds = wilson(self.sensitivity), wilson(self.specificity)
        return any(each is None for each in bounds) or sum(each[0] for each in bounds if each) <= 1


@dataclass(frozen=True)
class Seen:
    """Items: right and not right by themselves; of the open ones those that the judge calls right, and the others."""

    right: int
    other: int
    called_right: int
    called_other: int

    @property
    def n(self) -> int:
        return self.right + self.other + self.open

    @property
    def open(self) -> int:
        return self.called_right + self.called_other


@dataclass(frozen=True)
class Corrected:
    """The share of right answers among all items. plain: as the judge says it, with its errors."""

    value: float
    interval: Interval
    plain: float


def corrected(seen: Seen, judge: Judge, generator: np.random.Generator, draws: int = DRAWS) -> Corrected | Unknown:
    """The corrected share with a 95 % interval that holds the doubt about items and judge alike.

    Interval: counts and both rates drawn from what they leave possible (Dirichlet and Beta with half a count each).
    Unknown without items, and for a judge that is no better than chance, where it had anything to say.
    """
    if seen.n == 0:
        return Unknown("no items")
    if seen.open and judge.is_blind:
        return BLIND
    plain = (seen.right + seen.called_right) / seen.n
    called = seen.called_right / seen.open if seen.open else 0.0
    rates = judge.sensitivity.share or 0.0, judge.specificity.share or 0.0
    value = (seen.right + seen.open * float(_right(np.array([called]), *map(np.atleast_1d, rates))[0])) / seen.n
    counts = np.array([seen.right, seen.other, seen.called_right, seen.called_other]) + 0.5
    shares = generator.dirichlet(counts, draws)
    drawn = [generator.beta(each.hits + 0.5, each.n - each.hits + 0.5, draws) for each in _rates(judge)]
    open_ = shares[:, 2] + shares[:, 3]
    whole = shares[:, 0] + open_ * _right(shares[:, 2] / open_, *drawn)
    low, high = np.quantile(whole, [0.025, 0.975])
    return Corrected(value, (min(float(low), value), max(float(high), value)), plain)


def _rates(judge: Judge) -> tuple[Rate, Rate]:
    return judge.sensitivity, judge.specificity


def _right(
    called: Float[np.ndarray, "draw"], sensitivity: Float[np.ndarray, "draw"], specificity: Float[np.ndarray, "draw"]
) -> Float[np.ndarray, "draw"]:
    """Of those called right so often, the share that is; draws in which the judge is no better than chance say nothing:
    there it is what was called.
    """
    youden = sensitivity + specificity - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        found = np.where(youden > 0, (called + specificity - 1) / youden, called)
    return np.asarray(np.clip(found, 0.0, 1.0))
