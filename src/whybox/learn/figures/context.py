"""A budget of one: what a long context leaves of a weight, and what a column adds up."""

import math

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.mask import visible
from whybox.parts.softmax import softmax


def _advantage(share: float, keys: int) -> float:
    """Nats by which one key must stand above equal others to have that share."""
    return math.log(share / (1 - share) * (keys - 1))


def _share(advantage: float, keys: int) -> float:
    return float(softmax(np.concatenate([[advantage], np.zeros(keys - 1)]))[0])


def _even_rows() -> Value:
    """100 causal rows of equal scores: sum of the first column, and its largest lead over another visible key."""
    places = np.arange(100)
    pattern = softmax(np.zeros((100, 100)), visible(places, places))
    lead = max(float(row[0] - row[: i + 1].min()) for i, row in enumerate(pattern))
    return float(pattern[:, 0].sum()), lead


TOYS: Toys = {
    "context.thinned": lambda: _share(_advantage(0.1, 100), 10_000),
    "context.advantage": lambda: _advantage(0.1, 100),
    "context.kept_by": lambda: _advantage(0.1, 10_000) - _advantage(0.1, 100),
    "context.even_rows": _even_rows,
}
