"""Balance of orders, and halves that share no item."""

import itertools
from collections import Counter

import numpy as np
import pytest

from whybox.statistics.designs import cyclic, orders, unbalanced, williams
from whybox.statistics.held_out import best_held_out, halves


@pytest.mark.parametrize("k", [2, 3, 4, 5, 6, 7])
def test_williams_orders_are_balanced_in_place_and_succession(k: int) -> None:
    rows = williams(k).tolist()
    places = Counter((place, unit) for row in rows for place, unit in enumerate(row))
    follows = Counter(pair for row in rows for pair in itertools.pairwise(row))
    assert set(places.values()) == {len(rows) // k}
    assert len(places) == k * k
    assert len(follows) == k * (k - 1)
    assert len(set(follows.values())) == 1


def test_the_square_of_four_by_hand() -> None:
    assert williams(4).tolist() == [[0, 1, 3, 2], [1, 2, 0, 3], [2, 3, 1, 0], [3, 0, 2, 1]]


def test_up_to_three_units_every_order_is_run() -> None:
    assert len(orders(3)) == 6
    assert len(orders(4)) == 4
    assert len(orders(5)) == 10


def test_cyclic_shifts_keep_the_distractors_in_turn() -> None:
    assert cyclic(4).tolist() == [[0, 1, 2, 3], [3, 0, 1, 2], [2, 3, 0, 1], [1, 2, 3, 0]]


def test_balance_is_checked_cell_by_cell() -> None:
    cells = [(item, place, arm) for item in "abc" for place in range(5) for arm in ("kept", "renewed")]
    assert unbalanced(cells) is None
    assert unbalanced([]) is None
    missing = cells[:-1]
    assert unbalanced(missing) == "design not balanced: item c, place 4, arm renewed: 0 calls, elsewhere 1"
    doubled = [*cells, cells[0]]
    assert "not balanced" in (unbalanced(doubled) or "")


def test_a_constant_seed_inside_the_loop_is_caught_as_imbalance() -> None:
    """Trap: a fresh generator with one seed per item puts the gold passage at one place for all items."""
    places = [int(np.random.default_rng(0).permutation(5)[0]) for _ in range(20)]
    assert len(set(places)) == 1
    cells = [("all", place, "plain") for place in [*places, *range(5)]]
    assert unbalanced(cells) is not None


def test_halves_share_nothing_and_depend_on_ids_alone() -> None:
    ids = [f"item-{i}" for i in range(21)]
    one, other = halves(ids)
    assert sorted(one + other) == list(range(21))
    assert abs(len(one) - len(other)) <= 1
    turned = halves(ids[::-1])
    assert {ids[::-1][i] for i in turned[0]} == {ids[i] for i in one}


def test_the_winning_order_is_scored_on_items_that_did_not_choose_it() -> None:
    """Trap: without any effect the best of ten orders looks better than it is on the items that chose it."""
    drawn = np.random.default_rng(5)
    chosen, scored = [], []
    for repeat in range(300):
        marks = drawn.binomial(1, 0.7, (40, 10))
        best, rate = best_held_out(marks, [f"{repeat}-{i}" for i in range(40)])
        chosen.append(marks.mean(axis=0).max())
        scored.append(rate.share)
        assert 0 <= best < 10
    assert np.mean(chosen) > 0.78
    assert np.mean(scored) == pytest.approx(0.7, abs=0.02)
