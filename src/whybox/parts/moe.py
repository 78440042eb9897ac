"""Mixture of experts: a router scores every expert, the best few of each token take part."""

import numpy as np
from jaxtyping import Float

from whybox.parts.softmax import softmax


def route(logits: Float[np.ndarray, "q e"], active: int, normalise: bool) -> Float[np.ndarray, "q e"]:
    """Softmax over all experts, the `active` largest kept (ties: the lower expert), divided by their sum if asked."""
    shares = softmax(logits)
    chosen = np.argsort(-shares, axis=-1, kind="stable")[:, :active]
    gates = np.zeros_like(shares)
    np.put_along_axis(gates, chosen, np.take_along_axis(shares, chosen, axis=-1), axis=-1)
    if normalise:
        gates /= gates.sum(axis=-1, keepdims=True)
    return gates
