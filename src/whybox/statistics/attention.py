"""Statistics of attention patterns (pure arrays). A row is a query, a column a key.

Every function takes a pattern [h q k] and the keys that each query can see [q k], and gives one number per head and
row as a masked array: a row that is undefined is masked, so a mean leaves it out and no NaN can arise.
"""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Bool, Float, Shaped
from numpy.ma import MaskedArray

JUDGED_FROM = 8  # earlier queries see too few keys to be judged
SHORT = 16  # below this many queries, all but the first are judged


def entropy(pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"]) -> Shaped[MaskedArray, "h q"]:
    """H = −Σ a ln a over visible keys, nats, with 0·ln 0 = 0. Rows that see nothing are undefined."""
    a = np.where(visible, pattern, 0).astype(np.float64)
    logs = np.log(a, out=np.zeros_like(a), where=a > 0)
    return _rows(-(a * logs).sum(axis=-1) + 0.0, _seen(visible))


def normalised_entropy(
    pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"]
) -> Shaped[MaskedArray, "h q"]:
    """H / ln n_q, 0 … 1; undefined where fewer than two keys are visible."""
    seen = visible.sum(axis=-1)
    scale = np.log(np.maximum(seen, 2))
    return _rows(entropy(pattern, visible).data / scale, np.asarray(seen >= 2))


def effective_keys(pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"]) -> Shaped[MaskedArray, "h q"]:
    """e^H: how many keys an even spread of the same entropy would use."""
    return np.ma.exp(entropy(pattern, visible))


def mass_where(
    pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"], chosen: Bool[np.ndarray, "q k"]
) -> Shaped[MaskedArray, "h q"]:
    """Σ A over the visible keys that are chosen for each query; undefined where nothing is visible."""
    return _rows(np.where(visible & chosen, pattern, 0).sum(axis=-1, dtype=np.float64), _seen(visible))


def sink_share(pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"]) -> Shaped[MaskedArray, "h q"]:
    """A[q, 0] for every query but the first, which can see nothing else."""
    return _where(mass_where(pattern, visible, _first_key(visible)), _after_first(visible))


def previous_share(pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"]) -> Shaped[MaskedArray, "h q"]:
    """A[q, q − 1]; the first query has no previous key."""
    return _where(mass_where(pattern, visible, _distance(visible) == 1), _after_first(visible))


def self_share(pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"]) -> Shaped[MaskedArray, "h q"]:
    """A[q, q]."""
    return mass_where(pattern, visible, _distance(visible) == 0)


def local_mass(
    pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"], within: int
) -> Shaped[MaskedArray, "h q"]:
    """L_w = Σ A over 0 ≤ q − k ≤ w."""
    back = _distance(visible)
    return mass_where(pattern, visible, (back >= 0) & (back <= within))


def mean_distance(pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"]) -> Shaped[MaskedArray, "h q"]:
    """Σ A (q − k) in tokens; absolute distance where keys after the query are visible (bidirectional arrays)."""
    a = np.where(visible, pattern, 0).astype(np.float64)
    return _rows((a * np.abs(_distance(visible))).sum(axis=-1), _seen(visible))


def without_first_key(pattern: Float[np.ndarray, "h q k"]) -> Float[np.ndarray, "h q k"]:
    """Pattern with key 0 taken out and the rest renormalised; a row that saw nothing else becomes 0."""
    rest = pattern.astype(np.float64)
    rest[..., 0] = 0
    total = rest.sum(axis=-1, keepdims=True)
    return np.divide(rest, total, out=np.zeros_like(rest), where=total > 0)


def _seen(visible: Bool[np.ndarray, "q k"]) -> Bool[np.ndarray, "q"]:
    return np.asarray(visible.any(axis=-1))


def judged(visible: Bool[np.ndarray, "q k"]) -> Bool[np.ndarray, "q"]:
    """Queries over which a head is judged: from the 9th on (short texts: from the 2nd on), and seeing something."""
    rows = np.arange(len(visible))
    return (rows >= (JUDGED_FROM if len(visible) >= SHORT else 1)) & _seen(visible)


def summary(pattern: Float[np.ndarray, "h q k"], visible: Bool[np.ndarray, "q k"]) -> Mapping[str, list[float | None]]:
    """Per head the mean over judged queries of every statistic; the sink share over all queries but the first."""
    rows = {
        "entropy": entropy(pattern, visible),
        "entropy_norm": normalised_entropy(pattern, visible),
        "effective_keys": effective_keys(pattern, visible),
        "previous": previous_share(pattern, visible),
        "self": self_share(pattern, visible),
        "local": local_mass(pattern, visible, 4),
        "local16": local_mass(pattern, visible, 16),
        "local64": local_mass(pattern, visible, 64),
        "distance": mean_distance(pattern, visible),
    }
    kept = judged(visible)
    table = {name: _mean(_where(values, kept)) for name, values in rows.items()}
    return {"sink": _mean(sink_share(pattern, visible)), **table}


def _distance(visible: Bool[np.ndarray, "q k"]) -> Shaped[np.ndarray, "q k"]:
    """q − k, for queries and keys that both count from 0."""
    queries, keys = visible.shape
    return np.arange(queries)[:, None] - np.arange(keys)[None, :]


def _first_key(visible: Bool[np.ndarray, "q k"]) -> Bool[np.ndarray, "q k"]:
    return np.broadcast_to(np.arange(visible.shape[1]) == 0, visible.shape)


def _after_first(visible: Bool[np.ndarray, "q k"]) -> Bool[np.ndarray, "q"]:
    return np.arange(len(visible)) >= 1


def _rows(values: Float[np.ndarray, "h q"], defined: Bool[np.ndarray, "q"]) -> Shaped[MaskedArray, "h q"]:
    return np.ma.masked_array(values, np.broadcast_to(~defined, values.shape))


def _where(values: Shaped[MaskedArray, "h q"], kept: Bool[np.ndarray, "q"]) -> Shaped[MaskedArray, "h q"]:
    return np.ma.masked_array(values.data, np.ma.getmaskarray(values) | ~kept)


def _mean(values: Shaped[MaskedArray, "h q"]) -> list[float | None]:
    means = np.ma.atleast_1d(values.mean(axis=-1))
    hidden = np.ma.getmaskarray(means)
    return [None if gone else float(mean) for mean, gone in zip(means.data, hidden, strict=True)]
