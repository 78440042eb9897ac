"""A linear map. Weights are stored [out in], so that each output has one row."""

import numpy as np
from jaxtyping import Float


def linear(
    x: Float[np.ndarray, "*rows i"], weight: Float[np.ndarray, "o i"], bias: Float[np.ndarray, "o"] | None = None
) -> Float[np.ndarray, "*rows o"]:
    """x · Wᵀ + b."""
    out = x @ weight.T
    if bias is not None:
        out += bias
    return out
