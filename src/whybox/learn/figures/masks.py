"""Who may see whom, what stands for −∞, and where exp ends."""

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.mask import visible
from whybox.parts.softmax import defined, softmax

Array = np.ndarray
FIVE = np.arange(5)
NEARLY = -1e9


def _plainly(scores: Array) -> Array:
    """exp(s) / Σ exp(s), without subtracting the maximum."""
    with np.errstate(all="ignore"):
        powers = np.exp(scores)
        return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def _stably(scores: Array) -> Array:
    """The documents' softmax: the maximum subtracted, nothing else."""
    with np.errstate(all="ignore"):
        return _plainly(scores - scores.max(axis=-1, keepdims=True))


def _empty_row_nearly() -> Value:
    """Four keys, all of them hidden by −1e9."""
    return tuple(map(float, _stably(np.where(np.zeros(4, bool), np.array([1.0, -2.0, 0.5, 3.0]), NEARLY))))


def _fp16_limits() -> Value:
    """How many of −1e9, 65,504 and 65,536 float16 holds as a finite number."""
    with np.errstate(over="ignore"):
        return float(np.isfinite(np.array([NEARLY, 65504.0, 65536.0]).astype(np.float16)).sum())


def _blind_rows() -> Value:
    """Rows without any key, where sequences of 3, 5 and 7 are padded on the left to 7."""
    return float(sum((~defined(_padded(length))).sum() for length in (3, 5, 7)))


def _padded(length: int, width: int = 7) -> Array:
    valid = np.arange(width) >= width - length
    places = np.cumsum(valid) - 1
    return visible(places, places, query_valid=valid, key_valid=valid)


def _overflow_limits() -> Value:
    return tuple(float(np.log(float(np.finfo(kind).max))) for kind in (np.float16, np.float32, np.float64))


def _half(*scores: float) -> Array:
    return np.array(scores).astype(np.float16)


def _overflowed() -> Value:
    """NaN among the weights, and among the outputs, of fp16 scores 12, 1, 0 without the maximum subtracted."""
    weights = _plainly(_half(12.0, 1.0, 0.0))
    out = weights @ np.ones((3, 2), np.float16)
    return float(np.isnan(weights).sum()), float(np.isnan(out).sum())


def _beyond_fp16() -> Value:
    """NaN among weights whose softmax is computed in float32 from fp16 scores, one of them beyond 65,504."""
    with np.errstate(over="ignore"):
        return float(np.isnan(_stably(_half(70_000.0, 1.0, 0.0).astype(np.float32))).sum())


TOYS: Toys = {
    "masks.last_row_sees": lambda: float(visible(FIVE, FIVE)[-1].sum()),
    "masks.rows_before_see": lambda: float(visible(FIVE, FIVE)[:3, 3].sum()),
    "masks.fourth_row_sees": lambda: float(visible(FIVE, FIVE)[3].sum()),
    "masks.complement_error": lambda: float(
        np.abs(np.triu(np.ones((5, 5)), k=1) - (1 - np.tril(np.ones((5, 5))))).max()
    ),
    "masks.empty_row_nearly": _empty_row_nearly,
    "masks.empty_row_infinite": lambda: float(np.isnan(_stably(np.full(4, -np.inf))).sum()),
    "masks.empty_row": lambda: float(softmax(np.ones(4), np.zeros(4, bool)).sum()),
    "masks.fp16_finite": _fp16_limits,
    "masks.blind_rows": _blind_rows,
    "masks.overflow_limits": _overflow_limits,
    "masks.overflowed": _overflowed,
    "masks.fp16_extremes": lambda: tuple(map(float, _stably(_half(60_000.0, 0.0, -60_000.0)))),
    "masks.beyond_fp16": _beyond_fp16,
}
