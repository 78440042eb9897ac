"""Linear attention: another similarity than exp(q · k), so that the past fits into one matrix (arXiv 2006.16236).

With φ(q) · φ(k) in its place, the sum over keys can be kept as it grows: no row of weights, no cache of keys. The
price is that the sharpest lookup is lost: φ is not the exponential.
"""

import numpy as np
from jaxtyping import Float

from whybox.parts.mask import visible


def feature(x: Float[np.ndarray, "*rows d"]) -> Float[np.ndarray, "*rows d"]:
    """φ(x) = elu(x) + 1: positive everywhere, so weights are too."""
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def linear_attention(
    query: Float[np.ndarray, "q d"], key: Float[np.ndarray, "q d"], value: Float[np.ndarray, "q dv"]
) -> Float[np.ndarray, "q dv"]:
    """Row by row: Σ_{j ≤ i} φ(q_i)·φ(k_j) v_j / Σ_{j ≤ i} φ(q_i)·φ(k_j), in n² similarities."""
    places = np.arange(len(query))
    similar = feature(query) @ feature(key).T * visible(places, places)
    return similar @ value / similar.sum(axis=-1, keepdims=True)


def linear_attention_running(
    query: Float[np.ndarray, "q d"], key: Float[np.ndarray, "q d"], value: Float[np.ndarray, "q dv"]
) -> Float[np.ndarray, "q dv"]:
    """The same from running sums S = Σ φ(k) vᵀ and z = Σ φ(k): n steps, a state of d · (dv + 1) numbers."""
    state, weight = np.zeros((key.shape[-1], value.shape[-1]), value.dtype), np.zeros(key.shape[-1], key.dtype)
    out = np.empty_like(value)
    for i, (q, k, v) in enumerate(zip(feature(query), feature(key), value, strict=True)):
        state += np.outer(k, v)
        weight += k
        out[i] = q @ state / (q @ weight)
    return out
