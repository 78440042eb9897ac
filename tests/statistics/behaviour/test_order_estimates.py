"""Order: bots whose D is known, content and place consistency, and what stands beside D."""

import numpy as np
import pytest

from bench import laws
from whybox.statistics.behaviour import order
from whybox.statistics.calls import LOST
from whybox.statistics.changes import Changes, changes
from whybox.statistics.designs import cyclic, orders


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


@pytest.mark.parametrize(
    ("codes", "effect", "floor"),
    [
        (laws.tie_flipper(generator(), 3000, 0.1), 0.0, 0.18),
        (laws.item_biased(generator(), 3000, 0.2), 0.2, 0.0),
        (laws.position_biased(generator(), 3000, 0.3), 0.09, 2 * 0.3 * 0.7 * 3 / 4),
        (laws.position_biased(generator(), 20, 1.0), 1.0, 0.0),
    ],
)
def test_bots_get_their_effect(codes: np.ndarray, effect: float, floor: float) -> None:
    found = changes(codes, generator(), resamples=9)
    assert isinstance(found, Changes)
    assert found.effect == pytest.approx(effect, abs=0.015)
    assert found.floor == pytest.approx(floor, abs=0.015)
    assert found.interval[0] - 0.01 <= effect <= found.interval[1] + 0.01


def test_content_and_place_of_options_over_cyclic_shifts() -> None:
    """always_first: content 0, place 1. always_right: content 1, place 0. Random of four: both near ¼."""
    rows = cyclic(4)
    always_first = np.tile(rows[:, 0], (5, 1))
    first_place = np.zeros((5, 4), int)
    right_place = np.tile(np.argmin(rows, axis=1), (5, 1))
    assert order.pair_agreement(always_first) == 0.0
    assert order.pair_agreement(first_place) == 1.0
    assert order.pair_agreement(np.zeros((5, 4), int)) == 1.0
    assert order.pair_agreement(right_place) == 0.0
    assert order.pair_agreement(generator().integers(0, 4, (3000, 4))) == pytest.approx(0.25, abs=0.01)


def test_lost_calls_leave_pairs_out() -> None:
    assert order.pair_agreement(np.array([[1, 1, LOST], [2, LOST, LOST]])) == 1.0
    assert order.pair_agreement(np.full((2, 3), LOST)) is None


def test_slope_within_items() -> None:
    """Right exactly where a unit is first: slope 1 on that indicator, whatever the item's level."""
    marks = np.array([[1, 0, 0, 0]] * 6)
    found = order.slope(marks, np.array([1.0, 0, 0, 0]))
    assert found is not None
    assert found[0] == pytest.approx(1.0)
    mixed = order.slope(np.array([[1, 0, 0, 0], [1, 1, 1, 1], [LOST, 1, 0, 0]]), np.array([1.0, 0, 0, 0]))
    assert mixed is not None
    assert mixed[0] == pytest.approx(0.5)
    assert mixed[1] is not None
    assert order.slope(marks, np.ones(4)) is None


def test_tau_to_the_first_order() -> None:
    found = order.tau_to_first(orders(3))
    assert found[0] == 1.0
    assert sorted(found.tolist()) == pytest.approx([-1, -1 / 3, -1 / 3, 1 / 3, 1 / 3, 1])


def test_the_favoured_place_and_the_most_distinct_items() -> None:
    assert order.place_counts(np.array([0, 0, 2, LOST]), 3) == [2, 0, 1]
    codes = np.array([[[1, 1], [1, 1]], [[1, 2], [3, LOST]], [[1, 2], [2, 2]]])
    assert order.most_distinct(codes, ["a", "b", "c"]) == [("b", 3), ("c", 2)]
