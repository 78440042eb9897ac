"""What a number becomes in a narrower format, kept in a wider one: low precision, seen on any machine."""

import numpy as np
from jaxtyping import Float

from whybox.errors import UsageError

UNIT = {"fp64": 2.0**-53, "fp32": 2.0**-24, "fp16": 2.0**-11, "bf16": 2.0**-8}
"""Unit roundoff: the largest relative error of one rounding to nearest."""
LARGEST_FP16 = 65504.0


def rounded(x: Float[np.ndarray, "*any"], precision: str) -> Float[np.ndarray, "*any"]:
    """The nearest numbers of that format, ties to even; in fp16 what is beyond 65,504 becomes infinite.

    Source: IEEE 754 binary16; bfloat16 is the upper half of binary32. UsageError for a format that is none of `UNIT`.
    """
    match precision:
        case "fp64":
            return x
        case "fp32":
            return x.astype(np.float32).astype(x.dtype)
        case "fp16":
            with np.errstate(over="ignore"):
                return x.astype(np.float16).astype(x.dtype)
        case "bf16":
            return _bf16(x.astype(np.float32, copy=False)).astype(x.dtype, copy=False)
        case _:
            raise UsageError(f"no number format {precision!r}", f"known: {', '.join(UNIT)}")


def _bf16(x: Float[np.ndarray, "*any"]) -> Float[np.ndarray, "*any"]:
    """Half of the last kept bit is added, less one where that bit is even; then the lower half is cut off.

    In steps that overwrite one array: a new one for each takes three times as long.
    """
    bits = x.view(np.uint32)
    kept = np.asarray(bits >> 16)
    kept &= 1
    kept += np.uint32(0x7FFF)
    kept += bits  # an infinity's lower half is zero and stays below the cut; a NaN could wrap around
    kept &= np.uint32(0xFFFF0000)
    near: Float[np.ndarray, "*any"] = kept.view(np.float32)
    np.copyto(near, x, where=np.isnan(x))
    return near


def is_rounded(x: Float[np.ndarray, "*any"], precision: str) -> bool:
    """Whether every number is one of that format already."""
    finite = x[np.isfinite(x)]
    return bool((rounded(finite, precision) == finite).all())
