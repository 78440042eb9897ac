"""The reference engine in a narrower format: every weight and every site rounded to it, products summed in float32.

What a machine that computes in bfloat16 or float16, or holds its weights in 8 or 4 bits, does to a model, seen on any
machine: where rounding shows, and where a range overflows (fp16 ends at 65,504).
"""

import numpy as np

from whybox.engine.rewired import Rewire, RewiredEngine
from whybox.parts.rounding import rounded
from whybox.spec import Spec
from whybox.weights import Weights

Array = np.ndarray
SITES_IN = {"bf16": "bf16", "fp16": "fp16", "int8": "bf16", "int4": "bf16"}
"""Emulated precisions, and the format of their sites."""
GROUP = 32  # weights that share a scale in 4 bits
LARGEST_CODE = {"int8": 127, "int4": 7}


class RoundedEngine(RewiredEngine):
    """precision: of `SITES_IN`. Other arithmetic comes first, rounding after it. The kernel's name says: emulated."""

    def __init__(self, spec: Spec, weights: Weights, precision: str, rewires: tuple[Rewire, ...] = ()) -> None:
        narrow = {role: narrowed(role, weights[role], precision) for role in weights}
        sites = SITES_IN[precision]
        everywhere = Rewire(None, lambda value, _: rounded(value, sites))
        super().__init__(spec, Weights(narrow, weights.ledger, weights.origin), (*rewires, everywhere))
        self.precision = precision
        self.kernel = f"plain attention, emulated: every site rounded to {sites}, sums in float32"


def in_format(spec: Spec, weights: Weights, precision: str, rewires: tuple[Rewire, ...] = ()) -> RewiredEngine:
    """An engine with other arithmetic at some sites, in a precision; fp32 and fp64 are those of the weights."""
    if precision in SITES_IN:
        return RoundedEngine(spec, weights, precision, rewires)
    return RewiredEngine(spec, weights, rewires)


def narrowed(role: str, array: Array, precision: str) -> Array:
    """A weight as that precision holds it: matrices of `int8` by rows, of `int4` by groups of 32, the rest in bf16."""
    if precision not in LARGEST_CODE or array.ndim < 2 or role.startswith(("positions", "sinks")):
        return np.asarray(rounded(array, SITES_IN[precision]))
    eight = precision == "int8" or role in ("embed", "head")
    rows = array.reshape(len(array) if array.ndim == 2 else -1, array.shape[-1])
    grouped = rows if eight or rows.shape[1] % GROUP else rows.reshape(-1, GROUP)
    return _coded(grouped, LARGEST_CODE["int8" if eight else "int4"]).reshape(array.shape)


def _coded(rows: Array, largest: int) -> Array:
    """Whole numbers times one scale for each row."""
    scale = np.abs(rows).max(axis=1, keepdims=True) / largest
    scale[scale == 0] = 1
    return np.asarray((np.rint(rows / scale) * scale).astype(rows.dtype))
