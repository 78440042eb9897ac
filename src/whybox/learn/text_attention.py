"""What every head does on a text, from its patterns: scores, sinks, neighbours, entropy, what the first key brings.

Judged are queries from the 9th on, as everywhere; columns by queries from the 65th on, over keys that many of them see.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Shaped
from numpy.ma import MaskedArray

from whybox.parts.mask import visible
from whybox.statistics.attention import JUDGED_FROM, local_mass, normalised_entropy, previous_share, sink_share

Array = np.ndarray
COLUMNS_FROM = 64
LOCAL = 5


@dataclass(frozen=True, eq=False)
class LayerPattern:
    """One layer's attention: scores before the mask, weights after it, values, and W_O."""

    scores: Float[np.ndarray, "h q k"]
    pattern: Float[np.ndarray, "h q k"]
    value: Float[np.ndarray, "k g d"]
    out: Float[np.ndarray, "c h d"]


@dataclass(frozen=True, eq=False)
class HeadsRead:
    """By head, layer after layer. columns: mean weight of each key over the queries that see it."""

    sd: Float[np.ndarray, "n"]
    largest: Float[np.ndarray, "n"]
    sink: Float[np.ndarray, "n"]
    previous: Float[np.ndarray, "n"]
    local: Float[np.ndarray, "n"]
    entropy: Float[np.ndarray, "n"]
    columns: Float[np.ndarray, "n k"]
    first_written: Float[np.ndarray, "n"]
    first_size: Float[np.ndarray, "n"]
    row_sum_error: Float[np.ndarray, "n"]


def read(layers_of_text: Iterable[LayerPattern]) -> HeadsRead:
    """Every head once."""
    layers = [_layer(layer) for layer in layers_of_text]
    return HeadsRead(**{name: np.concatenate([layer[name] for layer in layers]) for name in layers[0]})


def _layer(layer: LayerPattern) -> dict[str, Array]:
    n = layer.pattern.shape[-1]
    seen = visible(np.arange(n), np.arange(n))
    a = layer.pattern.astype(np.float64)
    written = a[:, JUDGED_FROM:] * _sizes(layer)[:, None, :]
    sizes = _value_sizes(layer)
    return {
        "sd": layer.scores[:, seen].std(axis=1, dtype=np.float64),
        "largest": np.abs(layer.scores[:, seen]).max(axis=1).astype(np.float64),
        "sink": _judged(sink_share(a, seen)),
        "previous": _judged(previous_share(a, seen)),
        "local": _judged(local_mass(a, seen, LOCAL - 1)),
        "entropy": _judged(normalised_entropy(a, seen)),
        "columns": a[:, COLUMNS_FROM:].sum(axis=1) / np.maximum(seen[COLUMNS_FROM:].sum(axis=0), 1),
        "first_written": (written[..., 0] / written.sum(axis=-1)).mean(axis=1),
        "first_size": sizes[:, 0] / np.median(sizes[:, 1:], axis=1),
        "row_sum_error": np.abs(a.sum(axis=-1) - 1).max(axis=1),
    }


def _judged(values: Shaped[MaskedArray, "h q"]) -> Float[np.ndarray, "h"]:
    """Mean over the queries by which a head is judged."""
    return np.asarray(values[:, JUDGED_FROM:].mean(axis=1).data)


def _sizes(layer: LayerPattern) -> Float[np.ndarray, "h k"]:
    """‖v · W_O‖ of each head."""
    each = layer.out.shape[1] // layer.value.shape[1]
    return np.stack(
        [
            np.linalg.norm(layer.value[:, head // each] @ layer.out[:, head].T, axis=1)
            for head in range(layer.out.shape[1])
        ]
    ).astype(np.float64)


def _value_sizes(layer: LayerPattern) -> Float[np.ndarray, "h k"]:
    """‖v‖ as each head reads it."""
    each = layer.out.shape[1] // layer.value.shape[1]
    return np.repeat(np.linalg.norm(layer.value, axis=-1).T, each, axis=0).astype(np.float64)
