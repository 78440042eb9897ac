"""Two norms. ε stands inside the root, and is data: a wrong one changes nothing that the eye sees.

LayerNorm (arXiv 1607.06450) ignores shift and scale of a row, RMSNorm (arXiv 1910.07467) its scale alone.
"""

import numpy as np
from jaxtyping import Float


def rms_norm(x: Float[np.ndarray, "*rows c"], gain: Float[np.ndarray, "c"], eps: float) -> Float[np.ndarray, "*rows c"]:
    """gain · x / √(mean(x²) + ε)."""
    out = x / _root_mean_square(x, eps)
    out *= gain
    return out


def layer_norm(
    x: Float[np.ndarray, "*rows c"],
    gain: Float[np.ndarray, "c"],
    bias: Float[np.ndarray, "c"] | None,
    eps: float,
) -> Float[np.ndarray, "*rows c"]:
    """gain · (x − mean) / √(variance + ε) + bias; the variance divides by c.

    The mean is summed in double precision: in a row of equal numbers its rounding would be all that is left, and
    1/√ε times as large.
    """
    centred = np.subtract(x, x.mean(axis=-1, keepdims=True, dtype=np.float64)).astype(x.dtype)
    centred /= _root_mean_square(centred, eps)
    centred *= gain
    if bias is not None:
        centred += bias
    return centred


def _root_mean_square(x: Float[np.ndarray, "*rows c"], eps: float) -> Float[np.ndarray, "*rows 1"]:
    """The squares are summed in double precision: this one sum scales a whole row."""
    mean_square = np.einsum("...c,...c->...", x, x, dtype=np.float64)[..., None] / x.shape[-1]
    return np.sqrt(mean_square + float(eps)).astype(x.dtype)
