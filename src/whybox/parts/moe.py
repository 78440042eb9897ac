"""A mixture of experts: a router picks a few MLPs for each row and weighs what they write (arXiv 1701.06538).

Weights of experts are [e out in]: gate and up [e f c], down [e c f]; the router is [e c].
"""

import numpy as np
from jaxtyping import Bool, Float

from whybox.errors import UsageError
from whybox.parts.linear import linear
from whybox.parts.mlp import gated_hidden
from whybox.parts.softmax import softmax
from whybox.spec import Activation, Moe


def route(router: Float[np.ndarray, "q e"], active: int, normalise: bool) -> Float[np.ndarray, "q e"]:
    """Router logits → the weight of each expert: softmax over all, the `active` largest kept, the others 0.

    normalise: the kept weights are divided by their sum (equal to a softmax over the kept logits). Between equal
    logits the lower expert wins.
    """
    experts = router.shape[-1]
    if not 1 <= active <= experts:
        raise UsageError(f"expected 1 … {experts} active experts, found {active}")
    weights = softmax(router)
    weights[~_largest(router, active)] = 0
    if normalise:
        weights /= weights.sum(axis=-1, keepdims=True)
    return weights


def experts_hidden(
    x: Float[np.ndarray, "q c"],
    weights: Float[np.ndarray, "q e"],
    gate: Float[np.ndarray, "e f c"],
    up: Float[np.ndarray, "e f c"],
    activation: Activation,
) -> Float[np.ndarray, "q e f"]:
    """What each chosen expert holds after activation and gate; 0 where it was not chosen, and not computed there."""
    hidden = np.zeros((*weights.shape, gate.shape[1]), x.dtype)
    for expert in np.flatnonzero(weights.any(axis=0)):
        rows = np.flatnonzero(weights[:, expert])
        hidden[rows, expert] = gated_hidden(x[rows], gate[expert], up[expert], activation)
    return hidden


def experts_out(
    hidden: Float[np.ndarray, "q e f"], weights: Float[np.ndarray, "q e"], down: Float[np.ndarray, "e c f"]
) -> Float[np.ndarray, "q c"]:
    """Σ_e weight_e · hidden_e · W_down[e]ᵀ."""
    out = np.zeros((len(hidden), down.shape[1]), hidden.dtype)
    for expert in np.flatnonzero(weights.any(axis=0)):
        rows = np.flatnonzero(weights[:, expert])
        out[rows] += weights[rows, expert, None] * linear(hidden[rows, expert], down[expert])
    return out


def mixture(
    x: Float[np.ndarray, "q c"],
    router: Float[np.ndarray, "e c"],
    gate: Float[np.ndarray, "e f c"],
    up: Float[np.ndarray, "e f c"],
    down: Float[np.ndarray, "e c f"],
    spec: Moe,
) -> Float[np.ndarray, "q c"]:
    """The whole sublayer."""
    weights = route(linear(x, router), spec.active, spec.normalise)
    return experts_out(experts_hidden(x, weights, gate, up, spec.activation), weights, down)


def _largest(router: Float[np.ndarray, "q e"], active: int) -> Bool[np.ndarray, "q e"]:
    order = np.argsort(-router, axis=-1, kind="stable")[:, :active]
    chosen = np.zeros(router.shape, bool)
    np.put_along_axis(chosen, order, True, axis=-1)
    return chosen
