"""Half-life of a rule from clustered logistic curves, and where there is none."""

import numpy as np
import pytest

from whybox.statistics.calls import LOST
from whybox.statistics.half_life import HalfLife, half_life
from whybox.statistics.unknown import Unknown

DEPTHS = np.array([1.0, 5, 10, 20])


def test_a_logistic_curve_is_recovered() -> None:
    """logit P = 3 − log₂ t crosses ½ at t = 8."""
    chance = 1 / (1 + np.exp(-(3 - np.log2(DEPTHS))))
    marks = (np.random.default_rng(0).random((3000, 4)) < chance).astype(int)
    found = half_life(marks, DEPTHS)
    assert isinstance(found, HalfLife)
    assert found.turns == pytest.approx(8, rel=0.06)
    assert found.interval is not None
    assert found.interval[0] < 8 < found.interval[1]


def test_geometric_forgetting_has_its_half_life() -> None:
    """P(t) = 2^(−t/h), h = 10: the logistic curve is not its law, and still crosses near it."""
    marks = (np.random.default_rng(1).random((4000, 4)) < 2 ** (-DEPTHS / 10)).astype(int)
    found = half_life(marks, DEPTHS)
    assert isinstance(found, HalfLife)
    assert found.turns == pytest.approx(10, rel=0.12)


def test_never_half_is_beyond_the_last_depth() -> None:
    marks = (np.random.default_rng(1).random((200, 4)) < [0.99, 0.95, 0.93, 0.9]).astype(int)
    found = half_life(marks, DEPTHS)
    assert isinstance(found, HalfLife)
    assert (found.turns, found.beyond, found.deepest) == (None, "after", 20)
    assert half_life(np.ones((9, 4), int), DEPTHS) == HalfLife(None, None, "after", 20.0)
    assert half_life(np.zeros((9, 4), int), DEPTHS) == HalfLife(None, None, "before", 20.0)


def test_perfect_separation_has_no_curve() -> None:
    marks = np.tile([1, 1, 0, 0], (30, 1))
    assert half_life(marks, DEPTHS) == Unknown("perfect separation: rates per depth only")


def test_a_rule_that_is_remembered_better_has_no_half_life() -> None:
    marks = (np.random.default_rng(1).random((200, 4)) < [0.3, 0.5, 0.6, 0.8]).astype(int)
    assert half_life(marks, DEPTHS) == Unknown("compliance does not fall with depth")


def test_items_cluster() -> None:
    """Trap: calls counted as items. Copies of every item's calls widen nothing when they are the item's own."""
    marks = (np.random.default_rng(5).random((150, 4)) < [0.9, 0.7, 0.5, 0.3]).astype(int)
    twice = half_life(np.concatenate([marks, marks], axis=1), np.concatenate([DEPTHS, DEPTHS]))
    once = half_life(marks, DEPTHS)
    assert isinstance(once, HalfLife)
    assert isinstance(twice, HalfLife)
    assert once.interval is not None
    assert twice.interval is not None
    assert np.ptp(twice.interval) == pytest.approx(np.ptp(once.interval), rel=0.05)


def test_lost_calls_are_left_out() -> None:
    marks = (np.random.default_rng(5).random((150, 4)) < [0.9, 0.7, 0.5, 0.3]).astype(int)
    holes = marks.copy()
    holes[::7, 2] = LOST
    found = half_life(holes, DEPTHS)
    assert isinstance(found, HalfLife)
    assert found.turns is not None
