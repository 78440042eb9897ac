"""Two readings of one text, by hand: first choices, divergences of what is known, the latest place of the largest."""

import math

import pytest

from whybox.statistics.behaviour.trajectory import trajectory

A, B = {"a": 0.6, "b": 0.3}, {"b": 0.6, "a": 0.3}


def test_by_hand() -> None:
    """KL(.6 .3 .1 ‖ .3 .6 .1) = .6 ln 2 − .3 ln 2 = .3 ln 2; JSD = .6 ln(.6/.45) + .3 ln(.3/.45)."""
    found = trajectory([A, A, A, A], [A, A, B, A])
    assert found.other.tolist() == [False, False, True, False]
    assert found.other_choice == 0.25
    assert found.kl.tolist() == pytest.approx([0, 0, 0.3 * math.log(2), 0], abs=1e-9)
    assert found.jsd.tolist() == pytest.approx([0, 0, 0.6 * math.log(4 / 3) + 0.3 * math.log(2 / 3), 0], abs=1e-12)
    assert found.late_decision == 0.5


def test_what_does_not_differ_has_no_latest_place() -> None:
    found = trajectory([A, B], [A, B])
    assert (found.other_choice, found.late_decision) == (0.0, None)
    assert found.kl.tolist() == [0.0, 0.0]


def test_tokens_of_one_side_alone_are_in_the_rest() -> None:
    """Only `a` is known of both: bins .6 and .4 against .2 and .8."""
    found = trajectory([{"a": 0.6, "b": 0.4}], [{"c": 0.8, "a": 0.2}])
    assert found.other_choice == 1.0
    assert found.kl.tolist() == pytest.approx([0.6 * math.log(3) + 0.4 * math.log(0.5)])
