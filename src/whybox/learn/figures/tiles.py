"""The same numbers in another order: running softmax, tiles, precision, and what is held at once."""

import math
from collections.abc import Callable

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.attention import attention
from whybox.parts.flash import flash_attention, tiles
from whybox.parts.rounding import rounded
from whybox.parts.softmax import online_softmax
from whybox.size.held import scores_of_head
from whybox.size.load import Load
from whybox.size.units import DTYPES
from whybox.spec import Attention

Array = np.ndarray
FOUR = np.array([2.0, 1.0, 0.5, 3.0])
TOKENS, TILE = 512, 64


def _as_printed(scores: Array) -> Array:
    """The documents' one-pass softmax, which begins at −∞ and 0."""
    peak, total = -np.inf, 0.0
    with np.errstate(invalid="ignore"):
        for score in scores:
            higher = max(peak, score)
            total = total * np.exp(peak - higher) + np.exp(score - higher)
            peak = higher
        return np.asarray(np.exp(scores - peak) / total)


def _hidden_first() -> Value:
    """NaN among four weights whose first score is −∞: the printed function's, and ours."""
    scores = np.array([-np.inf, 2.0, 1.0, 0.5])
    return float(np.isnan(_as_printed(scores)).sum()), float(np.isnan(online_softmax(scores)).sum())


def _apart(precision: str) -> Value:
    """One attention stored and in tiles, inputs and results in a precision: largest difference."""
    rng, places = np.random.default_rng(0), np.arange(TOKENS)
    drawn = (rng.normal(size=(TOKENS, 1, 64)).astype(np.float32) for _ in range(3))
    query, key, value = (rounded(each, precision) for each in drawn)
    spec = Attention(heads=1, kv_heads=1, head_width=64, scale=0.125)
    pattern = attention(query, key, value, places, places, spec).pattern
    stored = rounded(pattern, precision)[0] @ value[:, 0]
    tiled = flash_attention(query, places, tiles(key, value, places, TILE), spec)[:, 0]
    return float(np.abs(rounded(stored, precision) - rounded(tiled, precision)).max())


def _held() -> Value:
    """MiB for one head of 8,192 tokens in float32: all scores, and the scores of one tile of 256 keys."""
    stored = scores_of_head(Load(8192, weights=DTYPES["fp32"])).value
    return stored / 2**20, stored / 2**20 * 256 / 8192


def _reads() -> Value:
    """How often each score is read: the safe softmax, then the running one, each with its output."""
    return float(_counted(_safe)), float(_counted(_running))


class _Counting:
    """Scores that count how often they are read."""

    def __init__(self, scores: Array) -> None:
        self.scores, self.reads = scores, 0

    def all(self) -> list[float]:
        self.reads += 1
        return [float(score) for score in self.scores]


def _counted(make: Callable[[_Counting], list[float]]) -> int:
    scores = _Counting(FOUR)
    make(scores)
    return scores.reads


def _safe(scores: _Counting) -> list[float]:
    peak = max(scores.all())
    total = sum(math.exp(score - peak) for score in scores.all())
    return [math.exp(score - peak) / total for score in scores.all()]


def _running(scores: _Counting) -> list[float]:
    peak, total = -math.inf, 0.0
    for score in scores.all():
        higher = max(peak, score)
        total, peak = total * math.exp(peak - higher) + math.exp(score - higher), higher
    return [math.exp(score - peak) / total for score in scores.all()]


TOYS: Toys = {
    "tiles.online": lambda: tuple(map(float, online_softmax(FOUR))),
    "tiles.hidden_first": _hidden_first,
    "tiles.apart_fp32": lambda: _apart("fp32"),
    "tiles.apart_bf16": lambda: _apart("bf16"),
    "tiles.held": _held,
    "tiles.entries": lambda: scores_of_head(Load(8192)).value / 2 / 1e6,
    "tiles.reads": _reads,
}
