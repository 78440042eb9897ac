"""What a block does to each row alone: widen, bend, narrow; with a gate, one half decides how much of the other passes.

Weights are [out in]: up and gate [f c], down [c f]. Row form: W_down · act(W_up · x) is act(x · W_upᵀ) · W_downᵀ.
"""

from typing import assert_never

import numpy as np
import scipy  # its parts are loaded where they are asked for
from jaxtyping import Float

from whybox.parts.linear import linear
from whybox.spec import Activation


def activate(x: Float[np.ndarray, "*rows f"], kind: Activation) -> Float[np.ndarray, "*rows f"]:
    """The activation that the spec names; the two GELUs differ by at most 4.73e-4 (at |x| = 2.70)."""
    match kind:
        case Activation.RELU:
            return relu(x)
        case Activation.GELU_ERF:
            return gelu(x)
        case Activation.GELU_TANH:
            return gelu_tanh(x)
        case Activation.SILU:
            return silu(x)
        case _:
            assert_never(kind)


def relu(x: Float[np.ndarray, "*rows f"]) -> Float[np.ndarray, "*rows f"]:
    """max(x, 0)."""
    return np.maximum(x, 0)


def gelu(x: Float[np.ndarray, "*rows f"]) -> Float[np.ndarray, "*rows f"]:
    """x · Φ(x), with Φ the normal distribution function (arXiv 1606.08415)."""
    out: Float[np.ndarray, "*rows f"] = scipy.special.erf(x * 0.5**0.5)
    out += 1
    out *= x
    out *= 0.5
    return out


def gelu_tanh(x: Float[np.ndarray, "*rows f"]) -> Float[np.ndarray, "*rows f"]:
    """x/2 · (1 + tanh(√(2/π) · (x + 0.044715 x³))): GPT-2's and Gemma's form."""
    out = x * x
    out *= 0.044715
    out += 1
    out *= x
    out *= (2 / np.pi) ** 0.5
    np.tanh(out, out=out)
    out += 1
    out *= x
    out *= 0.5
    return out


def silu(x: Float[np.ndarray, "*rows f"]) -> Float[np.ndarray, "*rows f"]:
    """x / (1 + exp(−x)). Where exp overflows the quotient is the right −0.0, so the warning is silenced."""
    out = np.negative(x)
    with np.errstate(over="ignore"):
        np.exp(out, out=out)
    out += 1
    return np.divide(x, out, out=out)


def sigmoid(x: Float[np.ndarray, "*rows f"]) -> Float[np.ndarray, "*rows f"]:
    """1 / (1 + exp(−x)): the gate of the original GLU."""
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def dense_hidden(
    x: Float[np.ndarray, "*rows c"],
    up: Float[np.ndarray, "f c"],
    activation: Activation,
    bias: Float[np.ndarray, "f"] | None = None,
) -> Float[np.ndarray, "*rows f"]:
    """act(x · W_upᵀ + b)."""
    return activate(linear(x, up, bias), activation)


def gated_hidden(
    x: Float[np.ndarray, "*rows c"],
    gate: Float[np.ndarray, "f c"],
    up: Float[np.ndarray, "f c"],
    activation: Activation,
    gate_bias: Float[np.ndarray, "f"] | None = None,
    up_bias: Float[np.ndarray, "f"] | None = None,
) -> Float[np.ndarray, "*rows f"]:
    """act(x · W_gateᵀ) ⊙ (x · W_upᵀ): SwiGLU with SiLU, GeGLU with GELU (arXiv 2002.05202)."""
    out = activate(linear(x, gate, gate_bias), activation)
    out *= linear(x, up, up_bias)
    return out


def dense(
    x: Float[np.ndarray, "*rows c"],
    up: Float[np.ndarray, "f c"],
    down: Float[np.ndarray, "c f"],
    activation: Activation,
    up_bias: Float[np.ndarray, "f"] | None = None,
    down_bias: Float[np.ndarray, "c"] | None = None,
) -> Float[np.ndarray, "*rows c"]:
    """act(x · W_upᵀ + b) · W_downᵀ + b′."""
    return linear(dense_hidden(x, up, activation, up_bias), down, down_bias)


def gated(
    x: Float[np.ndarray, "*rows c"],
    gate: Float[np.ndarray, "f c"],
    up: Float[np.ndarray, "f c"],
    down: Float[np.ndarray, "c f"],
    activation: Activation,
) -> Float[np.ndarray, "*rows c"]:
    """(act(x · W_gateᵀ) ⊙ (x · W_upᵀ)) · W_downᵀ."""
    return linear(gated_hidden(x, gate, up, activation), down)
