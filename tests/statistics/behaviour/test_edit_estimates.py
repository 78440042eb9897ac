"""Edit: the brittle bot, the keyword-deaf one, forks of texts."""

import numpy as np
import pytest

from bench import laws
from whybox.statistics.behaviour import edit
from whybox.statistics.behaviour.edit import Fork, Gap
from whybox.statistics.calls import LOST
from whybox.statistics.changes import Changes
from whybox.statistics.intervals import Rate
from whybox.statistics.survival import median
from whybox.statistics.unknown import Unknown


def marks(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    runs = codes[..., 0]
    return (runs[:, 0] == 0).astype(int), (runs[:, 1] == 1).astype(int)


def test_brittle_is_recovered() -> None:
    """CC = (1 − r)⁴, INV flips r, DIR changes always."""
    codes = laws.brittle(np.random.default_rng(0), 6000, 0.1)
    assert edit.contrast_consistency(codes, *marks(codes)).share == pytest.approx(0.9**4, abs=0.015)
    flips = edit.inv_flips(codes, np.random.default_rng(1), resamples=9)
    assert isinstance(flips, Changes)
    assert flips.effect == pytest.approx(0.1, abs=0.008)
    assert flips.floor == 0.0
    assert edit.inv_effects(codes).tolist() == flips.effects.tolist()
    gap = edit.sensitivity_gap(codes)
    assert isinstance(gap, Gap)
    assert (gap.after_dir, gap.gap) == pytest.approx((1.0, 0.9), abs=0.008)


def test_a_deaf_target_has_no_gap() -> None:
    codes = np.zeros((40, 5, 2), int)
    gap = edit.sensitivity_gap(codes)
    assert isinstance(gap, Gap)
    assert gap.gap == 0.0
    assert gap.interval[0] < 0 < gap.interval[1]
    assert edit.contrast_consistency(codes, *marks(codes)) == Rate(0, 40)


def test_lost_calls_count_against_only_at_their_worst() -> None:
    codes = np.array([[[0, 0], [1, 1], [0, 0], [0, 0], [0, 0]], [[0, 0], [1, 1], [0, 0], [LOST, 0], [0, 0]]])
    assert edit.contrast_consistency(codes, *marks(codes)) == Rate(1, 1)
    assert edit.contrast_consistency_worst(codes, *marks(codes)) == Rate(1, 2)
    assert isinstance(edit.sensitivity_gap(codes[1:]), Unknown)


def test_forks_are_censored_at_the_shorter_end() -> None:
    assert edit.fork([5, 6, 7], [5, 9, 7]) == Fork(1, True)
    assert edit.fork([5, 6], [5, 6, 7]) == Fork(2, False)
    assert edit.fork([], [5]) == Fork(0, False)


def test_the_curve_of_forks() -> None:
    steps = edit.fork_curve([Fork(1, True), Fork(4, True), Fork(4, False), Fork(9, False)])
    assert [(step.time, step.share) for step in steps] == [(1.0, 0.75), (4.0, 0.5), (9.0, 0.5)]
    assert median(steps) == 4.0
