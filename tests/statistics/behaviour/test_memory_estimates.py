"""Memory: forgetting bots, chance, and curves that may recover."""

import numpy as np
import pytest

from bench import laws
from whybox.statistics.behaviour import memory
from whybox.statistics.behaviour.memory import Unreliability
from whybox.statistics.calls import LOST, first, rates
from whybox.statistics.paired import Pairs
from whybox.statistics.ratios import Ratio
from whybox.statistics.unknown import Unknown

DEPTHS = (1, 5, 10, 20)
TURNS = np.array(DEPTHS, float)


def test_forgetting_at_seven() -> None:
    """P = 1, 1, q, q; drop 1 − q; S(20) = q²."""
    marks = laws.forgets_at(np.random.default_rng(0), 4000, 7, 0.6, DEPTHS)
    assert [rate.share for rate in rates(first(marks))] == pytest.approx([1, 1, 0.6, 0.6], abs=0.02)
    assert memory.compliance(marks) == pytest.approx([1, 1, 0.6, 0.6], abs=0.02)
    assert memory.drop(marks).harm == pytest.approx(0.4, abs=0.02)
    steps = memory.obeyed_until(first(marks), TURNS)
    assert steps[-1].share == pytest.approx(0.36, abs=0.02)
    assert [step.time for step in steps] == [10, 20]


def test_obeying_until_is_not_obeying_at() -> None:
    """Fails at 5 and recovers: P(20) = 1, S(20) = 0."""
    marks = np.array([[1, 0, 1, 1]] * 8)
    assert memory.obeyed_until(marks, TURNS)[-1].share == 0.0


def test_lost_calls_end_the_watch() -> None:
    marks = np.array([[1, LOST, 0, 0], [LOST, 1, 1, 1], [1, 1, 1, 0]])
    steps = memory.obeyed_until(marks, TURNS)
    assert [(step.time, step.at_risk, step.events) for step in steps] == [(1, 2, 0), (20, 1, 1)]


def test_a_rule_that_is_obeyed_without_being_given_is_chance() -> None:
    drawn = np.random.default_rng(3).binomial(1, 0.3, 400)
    found = memory.beyond_chance(drawn, drawn, np.random.default_rng(0))
    assert isinstance(found, Ratio)
    assert found.value == 0.0
    assert found.interval[0] < 0 < found.interval[1]
    always = memory.beyond_chance(drawn, np.ones(400, int), np.random.default_rng(0))
    assert always == Unknown("the interval of the denominator holds 0")


def test_beyond_chance_by_hand() -> None:
    """P = .8, c = .5: (.8 − .5)/.5 = .6."""
    marks, chance = np.array([1, 1, 1, 1, 0] * 40), np.array([1, 0, 1, 0, 0, 0, 1, 1, 0, 1] * 20)
    found = memory.beyond_chance(marks, chance, np.random.default_rng(0))
    assert isinstance(found, Ratio)
    assert found.value == pytest.approx((0.8 - 0.5) / 0.5)


def test_arms_are_paired() -> None:
    restated, user = np.array([1, 1, 1, 0]), np.array([1, 0, LOST, 0])
    assert memory.gained(restated, user) == Pairs(1, 0, 3)


def test_sampled_targets_average_their_runs() -> None:
    marks = np.array([[[1, 1, 1], [1, 0, 0]], [[1, 1, LOST], [0, 0, 0]]])
    assert memory.sampled_drop(marks) == pytest.approx([2 / 3, 1.0])


def test_unreliability_is_within_items() -> None:
    """Runs 1 1 1 0 of every item: P90 = 1, P10 = .3."""
    scores = np.tile(np.array([1, 1, 1, 0])[None, None, :], (6, 1, 1))
    found = memory.unreliability(scores)
    assert isinstance(found, Unreliability)
    assert (found.gap, found.runs) == (pytest.approx(0.7), 4)
    assert isinstance(memory.unreliability(scores[..., :2]), Unknown)
