"""Whether a difference matters: the same prompts fed to both sides, token by token of the prompt, and written on.

Displacement is not harm: logits may move far without another token being chosen, and a tie flips at the smallest move.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from whybox.engine.trace import log_softmax
from whybox.statistics.divergence import kl
from whybox.statistics.intervals import Interval, Rate, wilson

Array = np.ndarray
ROWS = 64  # of logits at a time
TIE = 2.0
"""Times the largest move of a logit by rounding: two tokens nearer than that may change places."""


@dataclass(frozen=True, eq=False)
class Forced:
    """Teacher-forced, by position. kl: KL(ours ‖ theirs), nats. same: the same most probable token. gap: our first
    token's logit over the second's. moved: largest change of a logit. first: offset of the first row.
    """

    kl: Array
    same: Array
    gap: Array
    moved: Array
    first: int


@dataclass(frozen=True)
class Harm:
    """kl_mean, kl_p999: nats over all positions compared. same_top: share with the same most probable token; ties: how
    many of the others are nearer than rounding can move; widest: the largest gap that was turned, in multiples of what
    rounding moves a logit by, None where none was. flips: prompts whose greedy text differs.
    """

    positions: int
    kl_mean: float
    kl_p999: float
    same_top: Rate
    ties: int
    moved: float
    flips: Rate | None = None
    first_divergent: int | None = None
    widest: float | None = None

    @property
    def flipped(self) -> Interval | None:
        return None if self.flips is None else wilson(self.flips)


def forced(one: Array, other: Array, length: int) -> Forced:
    """Both sides' logits [q v] of a prompt's last positions, compared row by row. NaN on one side: KL is infinite."""
    rows = min(len(one), len(other))
    a, b = one[len(one) - rows :], other[len(other) - rows :]
    parts = [_rows(a[i : i + ROWS], b[i : i + ROWS]) for i in range(0, rows, ROWS)]
    kls, same, gap, moved = (np.concatenate(each) for each in zip(*parts, strict=True))
    return Forced(kls, same, gap, moved, length - rows)


def _rows(a: Array, b: Array) -> tuple[Array, Array, Array, Array]:
    with np.errstate(invalid="ignore"):
        log_a, log_b = log_softmax(a), log_softmax(b)
        found = kl(np.exp(log_a), np.exp(log_b))
        moved = np.abs(a.astype(np.float64) - b).max(axis=-1)
    best = np.partition(a, -2, axis=-1)[:, -2:]
    gap = best[:, 1] - best[:, 0]
    broken = ~np.isfinite(b).any(axis=-1) | np.isnan(found)
    return np.where(broken, np.inf, found), a.argmax(axis=-1) == b.argmax(axis=-1), gap, moved


def harm(each: Sequence[Forced], rounding: float, texts: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> Harm:
    """Over all prompts. rounding: the largest move of a logit that rounding explains. texts: greedy ids of both."""
    kls, same = np.concatenate([f.kl for f in each]), np.concatenate([f.same for f in each])
    gaps, moves = np.concatenate([f.gap for f in each]), np.concatenate([f.moved for f in each])
    ties = int((~same & (gaps <= TIE * rounding)).sum())
    apart = [first_apart(*pair) for pair in texts]
    flips = [place for place in apart if place is not None]
    return Harm(
        positions=len(kls),
        kl_mean=float(kls.mean()),
        kl_p999=float(np.quantile(kls, 0.999)) if np.isfinite(kls).all() else np.inf,
        same_top=Rate(int(same.sum()), len(same)),
        ties=ties,
        moved=float(moves[~np.isnan(moves)].max()) if not np.isnan(moves).all() else np.nan,
        flips=Rate(len(flips), len(texts)) if texts else None,
        first_divergent=min(flips, default=None),
        widest=float(gaps[~same].max()) / rounding if rounding and not same.all() else None,
    )


def first_apart(one: Sequence[object], other: Sequence[object]) -> int | None:
    """The first place at which two rows of tokens differ, or at which the shorter one ends; None for equal ones."""
    pairs = zip(one, other, strict=False)
    found = next((place for place, (a, b) in enumerate(pairs) if a != b), None)
    return found if found is not None or len(one) == len(other) else min(len(one), len(other))
