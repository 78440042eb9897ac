"""Softmax: stable, masked, with sinks, online; a row without keys is 0 and undefined."""

import warnings

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from whybox.parts.softmax import Running, defined, nothing_seen, online_softmax, sink_mass, softmax

INF = np.inf
ROWS = arrays(np.float64, st.tuples(st.integers(1, 5), st.integers(1, 11)), elements=st.floats(-700, 700))


@pytest.fixture(autouse=True)
def _no_warnings() -> object:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_two_one_zero() -> None:
    np.testing.assert_allclose(softmax(np.array([2.0, 1.0, 0.0])), [0.6652, 0.2447, 0.0900], rtol=0, atol=5e-5)


def test_a_masked_third_key_takes_no_part() -> None:
    weights = softmax(np.array([2.0, 1.0, 0.0]), np.array([True, True, False]))
    np.testing.assert_allclose(weights, [0.7311, 0.2689, 0.0], rtol=0, atol=5e-5)
    assert weights[2] == 0.0


def test_fifty_one_minus_thirty_is_one_hot() -> None:
    weights = softmax(np.array([50.0, 1.0, -30.0]))
    np.testing.assert_allclose(weights, [1, 5.2e-22, 1.8e-35], rtol=0.02)
    jacobian = np.diag(weights) - np.outer(weights, weights)
    assert np.abs(jacobian).max() == pytest.approx(5.2e-22, rel=0.02)


@pytest.mark.parametrize(("dtype", "limit"), [(np.float16, 11.09), (np.float32, 88.72), (np.float64, 709.78)])
def test_beyond_the_overflow_of_exp(dtype: type, limit: float) -> None:
    with np.errstate(over="ignore"):
        assert np.exp(dtype(limit - 0.01)) < INF
        assert np.exp(dtype(limit + 0.02)) == INF
    weights = softmax(np.array([2 * limit, 2 * limit + 1], dtype))
    assert weights.dtype == dtype
    np.testing.assert_allclose(weights, [0.2689, 0.7311], rtol=0, atol=0.02 if dtype is np.float16 else 1e-4)


def test_without_the_maximum_half_precision_is_lost() -> None:
    """exp overflows at 11.09; then inf / inf is NaN and the rest 0."""
    scores = np.array([12.0, 1.0, 0.0], np.float16)
    with np.errstate(all="ignore"):
        naive = np.exp(scores) / np.exp(scores).sum()
    assert np.isnan(naive[0])
    assert naive[1:].tolist() == [0, 0]
    np.testing.assert_allclose(softmax(scores), [1, 1.67e-5, 6.1e-6], rtol=0, atol=1e-3)


@given(ROWS)
def test_rows_are_distributions_and_equal_torch(scores: np.ndarray) -> None:
    weights = softmax(scores)
    assert (weights >= 0).all()
    np.testing.assert_allclose(weights.sum(-1), 1, rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights, torch.softmax(torch.from_numpy(scores), -1).numpy(), rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights, softmax(scores + 3.5), rtol=0, atol=1e-11)


@given(ROWS, st.integers(0, 2**32 - 1))
def test_hidden_keys_are_as_if_absent(scores: np.ndarray, seed: int) -> None:
    seen = np.random.default_rng(seed).random(scores.shape) < 0.5
    weights = softmax(np.where(seen, scores, np.nan), seen)
    assert (weights[~seen] == 0).all()
    for row, kept, full in zip(scores, seen, weights, strict=True):
        np.testing.assert_allclose(full[kept], softmax(row[kept]), rtol=0, atol=1e-12)
    assert (defined(seen) == (weights.sum(-1) > 0.5)).all()


def test_a_row_that_sees_nothing_is_zero() -> None:
    """2×2, first row fully masked: not NaN, and not .5 .5."""
    seen = np.array([[False, False], [True, True]])
    assert softmax(np.zeros((2, 2)), seen).tolist() == [[0, 0], [0.5, 0.5]]
    assert defined(seen).tolist() == [False, True]
    assert softmax(np.zeros((3, 0))).shape == (3, 0)


@given(st.integers(0, 2**32 - 1))
def test_a_sink_is_a_key_without_a_value(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores, sinks = rng.normal(size=(3, 5, 7)) * 20, rng.normal(size=3) * 20
    seen = rng.random((5, 7)) < 0.6
    weights, mass = softmax(scores, seen, sinks), sink_mass(scores, seen, sinks)
    extra = np.concatenate([scores, np.broadcast_to(sinks[:, None, None], (3, 5, 1))], axis=-1)
    oracle = softmax(extra, np.concatenate([seen, np.ones((5, 1), bool)], axis=-1))
    np.testing.assert_allclose(weights, oracle[..., :-1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(mass, oracle[..., -1], rtol=0, atol=1e-12)
    np.testing.assert_allclose(weights.sum(-1), 1 - mass, rtol=0, atol=1e-12)


def test_the_sink_takes_all_of_a_row_that_sees_nothing() -> None:
    scores, seen, sinks = np.zeros((1, 2, 3)), np.zeros((2, 3), bool), np.array([-4.0])
    assert sink_mass(scores, seen, sinks).tolist() == [[1, 1]]
    assert not softmax(scores, seen, sinks).any()


def test_online_worked_example() -> None:
    expected = [0.232057, 0.085369, 0.051779, 0.630796]
    np.testing.assert_allclose(online_softmax(np.array([2.0, 1.0, 0.5, 3.0])), expected, rtol=0, atol=5e-7)


def test_online_with_hidden_scores_first_or_alone() -> None:
    np.testing.assert_allclose(online_softmax(np.array([-INF, 2.0, 1.0])), [0, 0.7311, 0.2689], rtol=0, atol=5e-5)
    assert online_softmax(np.array([-INF, -INF])).tolist() == [0, 0]


@given(st.integers(0, 2**32 - 1), st.integers(1, 13))
def test_tiles_of_any_size_give_the_mixed_values(seed: int, tile: int) -> None:
    """The accumulator carries the values along, so no weight is ever stored; a hidden first tile stays finite."""
    rng = np.random.default_rng(seed)
    scores, value = rng.normal(size=(5, 13)) * 30, rng.normal(size=(13, 3))
    seen = rng.random((5, 13)) < 0.5
    seen[0], seen[1, :tile] = False, False
    running: Running = nothing_seen((5,), 3, scores.dtype)
    for start in range(0, 13, tile):
        part = slice(start, start + tile)
        running = running.absorb(np.where(seen[:, part], scores[:, part], -INF), value[part])
    np.testing.assert_allclose(running.finish(), softmax(scores, seen) @ value, rtol=0, atol=1e-12)
    assert (running.finish()[0] == 0).all()
