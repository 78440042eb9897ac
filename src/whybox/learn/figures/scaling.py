"""Why √d: variances of products, how sharp a softmax is, and what is left of its gradient."""

import math

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.attention import one_head, scores
from whybox.parts.softmax import softmax
from whybox.statistics.attention import entropy

Array = np.ndarray
WIDTHS = (2, 16, 64, 256, 512)
DRAWS = 10_000


def _variances() -> Value:
    """Of q · k over 10,000 draws, for each width."""
    return tuple(float(_products(width).var()) for width in WIDTHS)


def _scaled_variances() -> Value:
    return tuple(float((_products(width) / width**0.5).var()) for width in WIDTHS)


def _products(width: int) -> Array:
    rng = np.random.default_rng(0)
    return np.asarray((rng.normal(size=(DRAWS, width)) * rng.normal(size=(DRAWS, width))).sum(axis=1))


def _standard_error(width: int) -> float:
    """Of a variance of q · k over 10,000 draws: its kurtosis is 3 + 6/d."""
    return width * math.sqrt((2 + 6 / width) / DRAWS)


def _errors_of_printed() -> Value:
    """The four printed variances, in standard errors from d, and from 1."""
    found = ((2.01, 2, 2), (1.0050, 1, 2), (512.37, 512, 512), (1.0007, 1, 512))
    return max(abs(value - true) / (_standard_error(width) * true / width) for value, true, width in found)


def _by_proof(width: int) -> Value:
    """Σ Var q · Var k over d independent terms, and the same divided by √d²."""
    raw = sum(1.0 * 1.0 for _ in range(width))
    return raw, raw / math.sqrt(width) ** 2


def _second_document() -> Array:
    rng = np.random.default_rng(0)
    return np.asarray((rng.normal(size=(20_000, 64)) * rng.normal(size=(20_000, 64))).sum(-1))


def _beyond(limit: float, width: int) -> float:
    """Part of normal scores with variance d beyond ±limit."""
    return math.erfc(limit / math.sqrt(2 * width))


def largest_slope(weights: Array) -> float:
    """Largest entry of the softmax Jacobian diag(a) − a aᵀ; its diagonal is a · Σ others, which does not cancel."""
    others = np.outer(weights, weights) * (1 - np.eye(len(weights)))
    return float(max(others.max(), others.sum(axis=1).max()))


def _lead(lead: float, keys: int) -> Array:
    return softmax(np.concatenate([[lead], np.zeros(keys - 1)]))


def _entropies(power: float) -> Value:
    """Mean over 400 random rows of 256 keys, scores divided by d^power; the widths from 2 to 512."""
    found = []
    for width in (2, 64, 512):
        rng = np.random.default_rng(0)
        query, key = rng.normal(size=(400, 1, width)), rng.normal(size=(256, 1, width))
        pattern = softmax(scores(query, key, width**-power))
        found.append(float(entropy(pattern, np.ones(pattern.shape[1:], bool)).mean()))
    return tuple(found)


def _drawn_small() -> tuple[Array, Array, Array]:
    """Queries, keys and values of rows N(0, 1) through weights of size 0.02: c = 64, d = 16."""
    rng = np.random.default_rng(0)
    x, weights = rng.normal(size=(2_000, 64)), rng.normal(size=(3, 64, 16)) * 0.02
    query, key, value = (x @ weight for weight in weights)
    return query, key, value


def _small_spread() -> Value:
    """Variance of a query entry, and sd of a scaled score."""
    query, key, _ = _drawn_small()
    return float(query.var()), float((query @ key.T / 4).std())


def _small_largest() -> Value:
    """Largest weight of a row over five keys, mean of 400 rows."""
    query, key, value = _drawn_small()
    return float(one_head(query[:400], key[:5], value[:5])[1].max(axis=1).mean())


TOYS: Toys = {
    "scaling.variances": _variances,
    "scaling.scaled_variances": _scaled_variances,
    "scaling.printed_errors": _errors_of_printed,
    "scaling.standard_errors": lambda: (_standard_error(2), _standard_error(512)),
    "scaling.sd_512": lambda: math.sqrt(512),
    "scaling.beyond_50": lambda: 100 * _beyond(50, 512),
    "scaling.one_hot": lambda: tuple(map(float, softmax(np.array([50.0, 1.0, -30.0])))),
    "scaling.one_hot_slope": lambda: largest_slope(softmax(np.array([50.0, 1.0, -30.0]))),
    "scaling.entropies": lambda: _entropies(0.5),
    "scaling.entropies_unscaled": lambda: _entropies(0.0),
    "scaling.small_spread": _small_spread,
    "scaling.small_largest": _small_largest,
    "scaling.variance_256": lambda: _by_proof(256),
    "scaling.sizes": lambda: (float(abs(_second_document()).mean()), float(np.median(abs(_second_document())))),
    "scaling.seeded": lambda: (float(_second_document().std()), float((_second_document() / 8).std())),
    "scaling.sd_4096": lambda: math.sqrt(4096),
    "scaling.lead_of_10": lambda: tuple(float(_lead(10, keys)[0]) for keys in (2, 1_000, 10_000, 100_000)),
    "scaling.lead_slope": lambda: (largest_slope(_lead(10, 4)), largest_slope(_lead(0, 4))),
}
