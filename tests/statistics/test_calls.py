"""Six outcomes, two rates: a lost call is neither right, nor wrong, nor gone."""

import numpy as np
import pytest

from whybox.statistics import calls
from whybox.statistics.calls import LOST
from whybox.statistics.intervals import Rate
from whybox.statistics.paired import Pairs

MARKS = np.array([[[1, 1], [0, 1]], [[1, LOST], [LOST, 1]], [[0, 0], [1, 1]]])


@pytest.mark.parametrize(
    ("outcome", "mark"), [("right", 1), ("wrong", 0), ("abstain", 0), ("hedged", 0), ("invalid", 0), ("error", LOST)]
)
def test_refusals_are_not_right_and_errors_are_not_wrong(outcome: str, mark: int) -> None:
    assert calls.mark(outcome) == mark


def test_both_rates() -> None:
    second = calls.first(MARKS)[:, 1]
    assert calls.rate(second) == Rate(1, 2)
    assert calls.rate(calls.worst(second)) == Rate(1, 3)
    assert calls.lost(MARKS) == Rate(2, 12)
    assert calls.rates(calls.first(MARKS)) == [Rate(2, 3), Rate(1, 2)]


def test_pairs_need_both_arms() -> None:
    table = calls.first(MARKS)
    assert calls.pairs(table[:, 0], table[:, 1]) == Pairs(worse=1, better=1, n=2)
    worst = calls.worst(table)
    assert calls.pairs(worst[:, 0], worst[:, 1]) == Pairs(worse=2, better=1, n=3)


def test_only_whole_items_are_complete() -> None:
    assert calls.complete(calls.first(MARKS)).tolist() == [[1, 0], [0, 1]]


def test_sampled_items_are_means_over_their_runs() -> None:
    """Trap: k repeats treated as k items. Item 2 has one run in each arm, item 1 and 3 two."""
    before, after = calls.item_means(MARKS[:, 0]), calls.item_means(MARKS[:, 1])
    assert calls.item_changes(before, after).tolist() == [-0.5, 0.0, 1.0]
    gone = np.full((3, 2), LOST)
    assert calls.item_changes(before, calls.item_means(gone)).size == 0
