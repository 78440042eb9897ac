"""Evidence: every shape on a target that has it, gain, flips, citations."""

import numpy as np
import pytest

from bench import laws
from whybox.statistics.behaviour import evidence
from whybox.statistics.behaviour.evidence import Curve, Shape
from whybox.statistics.calls import LOST
from whybox.statistics.intervals import Rate
from whybox.statistics.permutation import Permuted
from whybox.statistics.ratios import Ratio
from whybox.statistics.unknown import Unknown


def generator() -> np.random.Generator:
    return np.random.default_rng(0)


def found(marks: np.ndarray) -> Curve:
    result = evidence.curve(marks, generator(), resamples=199)
    assert isinstance(result, Curve)
    return result


def test_recency_has_its_numbers() -> None:
    """w = .5, k = 5: accuracy .032 .065 .129 .258 .516, L = .484, Q = .123."""
    marks = laws.recency_weighted(generator(), 6000, 0.5)
    assert marks.mean(axis=(0, 2)) == pytest.approx([0.032, 0.065, 0.129, 0.258, 0.516], abs=0.015)
    result = found(marks)
    assert result.lean.value == pytest.approx(0.484, abs=0.015)
    assert result.ends.value == pytest.approx(0.123, abs=0.015)
    assert result.shape is Shape.RECENCY
    assert found(marks[:, ::-1]).shape is Shape.PRIMACY


def test_a_blind_middle_is_a_u() -> None:
    result = found(laws.middle_blind(generator(), 180, 0.4))
    assert result.ends.value == pytest.approx(0.4, abs=0.08)
    assert result.lean.value == 0.0
    assert result.shape is Shape.U
    assert isinstance(result.ends.null, Permuted)
    assert result.ends.null.p == pytest.approx(2 / 200)
    assert isinstance(result.lean.null, Permuted)
    assert result.lean.null.p > 0.5


def test_a_blind_edge_is_an_inverted_u() -> None:
    assert found(1 - laws.middle_blind(generator(), 180, 0.6)).shape is Shape.INVERTED_U


def test_honest_is_flat_and_too_few_items_are_undecided() -> None:
    """Trap: no significant difference is not flat."""
    assert found(laws.honest(generator(), 180, 0.8)).shape is Shape.FLAT
    assert found(laws.honest(generator(), 10, 0.8)).shape is Shape.UNDECIDED


def test_no_shape_is_named_where_dealing_the_places_anew_gives_as_much() -> None:
    """Four items of 24 are right at the first place alone, two at another: by its interval primacy, by Holm's p not."""
    marks = np.zeros((24, 5, 1), int)
    marks[:4, 0] = 1
    marks[4:6, 2] = 1
    result = found(marks)
    assert result.lean.interval[1] < 0
    assert isinstance(result.lean.null, Permuted)
    assert 2 * result.lean.null.p > 0.05
    assert result.shape is Shape.UNDECIDED


def test_narrow_margins_from_690_items_on() -> None:
    assert found(laws.honest(generator(), 180, 0.8)).margin == 0.10
    assert found(laws.honest(generator(), 690, 0.8)).margin == 0.05


@pytest.mark.parametrize("k", [3, 5, 10])
def test_weights_compare_means(k: int) -> None:
    ends, lean = evidence.weights_of(k)
    accuracy = np.random.default_rng(k).random(k)
    assert float(ends @ accuracy) == pytest.approx(accuracy[[0, -1]].mean() - accuracy[1:-1].mean())
    assert float(lean @ accuracy) == pytest.approx(accuracy[-1] - accuracy[0])


def test_what_has_no_curve() -> None:
    assert evidence.curve(np.ones((9, 2, 1), int), generator()) == Unknown("fewer than three places have no inside")
    assert isinstance(evidence.curve(np.full((9, 5, 1), LOST), generator()), Unknown)


def test_shortfalls_lie_below_the_items_own_mean() -> None:
    marks = np.array([[[1], [0], [1], [1]], [[1], [1], [1], [LOST]]])
    assert [effects.tolist() for effects in evidence.shortfalls(marks)] == [[-0.25], [0.75], [-0.25], [-0.25]]
    assert [effects.tolist() for effects in evidence.shortfalls_worst(marks)][3] == [-0.25, 0.75]


def test_gain_of_readers_and_of_closed_books() -> None:
    """reader: 1. closed_book: 0. A target that fails even with the passage alone: refused."""
    ones, zeros = np.ones(80, int), np.zeros(80, int)
    reader = evidence.gain(ones, zeros, ones, generator())
    assert isinstance(reader, Ratio)
    assert reader.value == 1.0
    assert isinstance(evidence.gain(ones, ones, ones, generator()), Unknown)
    half = np.array([1, 0] * 40)
    partly = evidence.gain(half, zeros, ones, generator())
    assert isinstance(partly, Ratio)
    assert partly.value == 0.5
    assert partly.interval == pytest.approx((0.39, 0.61), abs=0.03)


def test_flips_by_length_are_against_the_shortest() -> None:
    codes = np.array([[7, 7, 8], [7, 8, 8], [LOST, 7, 7], [5, 5, LOST]])
    assert evidence.flips_by_length(codes) == [Rate(1, 3), Rate(2, 2)]


def test_citations() -> None:
    """Four answers: gold alone, gold beside another, another, none; a place cited twice counts once."""
    result = evidence.citations([[0], [1, 2], [0], []], [0, 1, 2, 3], 4)
    assert (result.recall, result.precision) == (Rate(2, 4), Rate(2, 4))
    assert isinstance(result.places_p, Unknown)
    repeated = evidence.citations([[0, 0]], [0], 2)
    assert repeated.precision == Rate(1, 1)
    lopsided = evidence.citations([[0]] * 30 + [[1]] * 2, [0, 1] * 16, 2)
    assert isinstance(lopsided.places_p, float)
    assert lopsided.places_p < 1e-5
