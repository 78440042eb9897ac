"""Weights as whole numbers times a scale: what is left of a matrix in 8 and in 4 bits, given back as numbers.

Scales are kept in bfloat16, as the kernels that multiply by them keep them.
"""

import numpy as np
from jaxtyping import Float

from whybox.parts.rounding import rounded

GROUP = 32  # neighbours of a row that share a scale in 4 bits: the blocks of Q4_0 and Q4_1


def eight_bits(rows: Float[np.ndarray, "o i"]) -> Float[np.ndarray, "o i"]:
    """scale · round(w / scale), scale = max|row| / 127; a row of zeros stays one."""
    largest = np.abs(rows).max(axis=1, keepdims=True)
    scale = rounded(np.where(largest > 0, largest / 127, 1).astype(rows.dtype), "bf16")
    return np.asarray(np.clip(np.rint(rows / scale), -127, 127) * scale)


def four_bits(rows: Float[np.ndarray, "o i"]) -> Float[np.ndarray, "o i"]:
    """scale · (code − 8) + centre by groups of 32, codes 0 … 15: the better of two grids, as Q4_1 and as Q4_0 have it.

    From the least to the largest number, or around zero from the number farthest from it.
    """
    groups = rows.reshape(len(rows), -1, GROUP)
    between, around = (_on_grid(groups, *grid(groups)) for grid in (_between, _around))
    errors = [np.square(fitted - groups).sum(axis=-1, keepdims=True) for fitted in (between, around)]
    return np.where(errors[0] <= errors[1], between, around).reshape(rows.shape)


def _between(groups: Float[np.ndarray, "o g n"]) -> tuple[Float[np.ndarray, "o g 1"], Float[np.ndarray, "o g 1"]]:
    least, largest = groups.min(axis=-1, keepdims=True), groups.max(axis=-1, keepdims=True)
    scale = (largest - least) / 15
    return scale, least + 8 * scale


def _around(groups: Float[np.ndarray, "o g n"]) -> tuple[Float[np.ndarray, "o g 1"], Float[np.ndarray, "o g 1"]]:
    place = np.abs(groups).argmax(axis=-1)[..., None]
    farthest = np.take_along_axis(groups, place, axis=-1)
    return -farthest / 8, np.zeros_like(farthest)


def _on_grid(
    groups: Float[np.ndarray, "o g n"], scale: Float[np.ndarray, "o g 1"], centre: Float[np.ndarray, "o g 1"]
) -> Float[np.ndarray, "o g n"]:
    step, middle = rounded(scale, "bf16"), rounded(centre, "bf16")
    codes = np.clip(np.rint((groups - middle) / np.where(step == 0, 1, step)) + 8, 0, 15)
    return np.asarray(step * (codes - 8) + middle)
