"""The worked example 我 / 想 / 退款, and the exercises on three scores."""

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.attention import one_head
from whybox.parts.mask import visible
from whybox.parts.softmax import softmax

Array = np.ndarray
QUERY = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
KEY = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
VALUE = np.array([[0.2, 0.1], [0.5, 0.3], [0.9, 0.8]])
SEEN = visible(np.arange(3), np.arange(3))
SCORES = QUERY @ KEY.T / 2**0.5
STEP = 1e-6


def _all(values: Array) -> Value:
    return tuple(map(float, values.reshape(-1)))


def _out() -> Array:
    return one_head(QUERY, KEY, VALUE, SEEN)[0]


def _pattern() -> Array:
    return one_head(QUERY, KEY, VALUE, SEEN)[1]


def _outside_hull() -> Value:
    """Outputs of 100 random rows that lie outside their visible values, coordinate by coordinate."""
    rng, places = np.random.default_rng(0), np.arange(100)
    value = rng.normal(size=(100, 5))
    out, _ = one_head(3 * rng.normal(size=(100, 7)), rng.normal(size=(100, 7)), value, visible(places, places))
    low, high = np.minimum.accumulate(value), np.maximum.accumulate(value)
    return float(((out < low - 1e-12) | (out > high + 1e-12)).any(axis=1).sum())


def _row_sum_error() -> Value:
    rng, places = np.random.default_rng(1), np.arange(100)
    pattern = softmax(3 * rng.normal(size=(100, 100)), visible(places, places))
    return float(np.abs(pattern.sum(axis=-1) - 1).max())


def _late(scores: Array) -> Array:
    """The mask behind the softmax."""
    return softmax(scores) * SEEN


def _leak(hidden: int) -> float:
    """∂(first output of the first row)/∂(a score that it must not see)."""
    step = np.zeros_like(SCORES)
    step[0, hidden] = STEP
    return float((_late(SCORES + step) - _late(SCORES - step))[0] @ VALUE[:, 0] / (2 * STEP))


def _argmax_slope() -> Value:
    """Change of the looked-up value for a small change of a score: a dictionary's, and a soft lookup's."""
    scores, value = np.array([0.3, 1.0, 0.9]), np.array([1.0, 5.0, 9.0])
    nudged = scores + np.array([0.0, 0.0, STEP])
    hard = value[nudged.argmax()] - value[scores.argmax()]
    return float(hard / STEP), float((softmax(nudged) - softmax(scores)) @ value / STEP)


def _renormalised_error() -> Value:
    late = _late(SCORES)
    return float(np.abs(late / late.sum(axis=-1, keepdims=True) - softmax(SCORES, SEEN)).max())


TOYS: Toys = {
    "worked.scores": lambda: _all(QUERY @ KEY.T),
    "worked.scaled": lambda: tuple(float(x) for x in (SCORES[0, 0], SCORES[1, 1], SCORES[2, 1], SCORES[2, 2])),
    "worked.row_2": lambda: _all(_pattern()[1, :2]),
    "worked.row_3": lambda: _all(_pattern()[2]),
    "worked.row_3_percent": lambda: _all(100 * _pattern()[2, ::-1]),
    "worked.row_3_unscaled": lambda: _all(softmax(QUERY @ KEY.T, SEEN)[2]),
    "worked.out_1_2": lambda: _all(_out()[:2]),
    "worked.out_3": lambda: _all(_out()[2]),
    "worked.outside_hull": _outside_hull,
    "worked.row_sum_error": _row_sum_error,
    "worked.late_sums": lambda: _all(_late(SCORES).sum(axis=-1)),
    "worked.late_leaks": lambda: (_leak(1), _leak(2)),
    "worked.late_renormalised_error": _renormalised_error,
    "worked.two_one_zero": lambda: _all(softmax(np.array([2.0, 1.0, 0.0]))),
    "worked.two_one_zero_sum": lambda: float(np.exp([2.0, 1.0, 0.0]).sum()),
    "worked.two_one_hidden": lambda: _all(softmax(np.array([2.0, 1.0, 0.0]), np.array([True, True, False]))),
    "worked.slopes": _argmax_slope,
}
