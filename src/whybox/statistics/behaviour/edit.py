"""Minimal edit contrast: the answer follows the keyword (DIR edit), and nothing else (INV edits).

Arms of codes [item arm run]: 0 the base, 1 the DIR edit, 2 … the INV edits.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Integer

from whybox.statistics.calls import LOST, Calls, same
from whybox.statistics.changes import Changes, changes, item_effects
from whybox.statistics.effects import Effects, effect_interval
from whybox.statistics.intervals import Interval, Rate
from whybox.statistics.permutation import RESAMPLES
from whybox.statistics.survival import Step, survival
from whybox.statistics.unknown import Unknown

BASE, DIR, INV = 0, 1, 2
Marks = Integer[np.ndarray, "item"]


def contrast_consistency(codes: Calls, base_right: Marks, dir_right: Marks) -> Rate:
    """CC, first runs: base right, DIR right and every INV answer the base's, of the items whose calls all came back."""
    runs = codes[..., 0]
    came = np.all(runs != LOST, axis=1) & (base_right != LOST) & (dir_right != LOST)
    return Rate(int((came & _follows(runs, base_right, dir_right)).sum()), int(came.sum()))


def contrast_consistency_worst(codes: Calls, base_right: Marks, dir_right: Marks) -> Rate:
    """The same over all items: one with a lost call does not follow."""
    return Rate(int(_follows(codes[..., 0], base_right, dir_right).sum()), len(codes))


def _follows(
    runs: Integer[np.ndarray, "item arm"],
    base_right: Marks,
    dir_right: Marks,
) -> Bool[np.ndarray, "item"]:
    unchanged = np.all([same(runs[:, BASE], runs[:, arm]) for arm in range(INV, runs.shape[1])], axis=0)
    return (base_right == 1) & (dir_right == 1) & unchanged


def inv_flips(codes: Calls, generator: np.random.Generator, resamples: int = RESAMPLES) -> Changes | Unknown:
    """F_inv − F₀: answers that differ between base and INV, beyond those that differ between repeats."""
    kept = np.delete(codes, DIR, axis=1)
    return changes(kept, generator, _from_base(kept), resamples)


def inv_effects(codes: Calls) -> Float[np.ndarray, "some"]:
    """The same item by item."""
    kept = np.delete(codes, DIR, axis=1)
    return item_effects(kept, _from_base(kept))


def _from_base(codes: Calls) -> list[tuple[int, int]]:
    return [(BASE, arm) for arm in range(1, codes.shape[1])]


@dataclass(frozen=True)
class Gap:
    """G = P(change | DIR) − P(change | INV), per item, first runs."""

    gap: float
    interval: Interval
    after_dir: float
    after_inv: float
    effects: Effects


def sensitivity_gap(codes: Calls) -> Gap | Unknown:
    """Over the items whose base, DIR and INV calls all came back."""
    runs = codes[np.all(codes[..., 0] != LOST, axis=1), :, 0]
    if len(runs) == 0:
        return Unknown("no item of which every call came back")
    changed = (runs[:, DIR:] != runs[:, :1]).astype(np.float64)
    by_dir, by_inv = changed[:, 0], changed[:, 1:].mean(axis=1)
    interval = effect_interval(by_dir - by_inv)
    assert interval is not None, "there is an item"
    return Gap(float((by_dir - by_inv).mean()), interval, float(by_dir.mean()), float(by_inv.mean()), by_dir - by_inv)


@dataclass(frozen=True)
class Fork:
    """first: index of the first token that differs, 0-based; where none does, the length of the shorter text.

    parted: whether one differs.
    """

    first: int
    parted: bool


def fork(one: list[int], other: list[int]) -> Fork:
    """Where two texts part. Censored at the shorter end: one that ends where the other goes on has not parted."""
    shorter = min(len(one), len(other))
    first = next((i for i in range(shorter) if one[i] != other[i]), None)
    return Fork(shorter, False) if first is None else Fork(first, True)


def fork_curve(forks: list[Fork]) -> list[Step]:
    """Kaplan–Meier: the share of pairs of texts that have not parted, token by token."""
    times = np.array([fork.first for fork in forks], np.float64)
    return survival(times, np.array([fork.parted for fork in forks], bool))
