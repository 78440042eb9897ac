"""The reference engine in a narrower format: weights held and every site rounded as it has them, sums in float32.

What a machine that computes in bfloat16 or float16, or holds its weights in 8 or 4 bits, does to a model, seen on any
machine: where rounding shows, and where a range overflows (fp16 ends at 65,504).
"""

from dataclasses import replace

import numpy as np

from whybox.engine.rewired import Rewire, RewiredEngine, Taken
from whybox.parts.codes import GROUP, eight_bits, four_bits
from whybox.parts.rounding import rounded
from whybox.spec import Spec
from whybox.weights import Weights

Array = np.ndarray
SITES_IN = {"fp64": "fp64", "fp32": "fp32", "bf16": "bf16", "fp16": "fp16", "int8": "bf16", "int4": "bf16"}
"""Precisions, and the format of their sites."""
CODED = ("int8", "int4")
TILE = 16  # outputs that a 4-bit kernel takes at a time; other matrices are held in 8 bits
_TABLES = ("embed", "positions", "sinks")


class RoundedEngine(RewiredEngine):
    """Every site rounded to a format. Other arithmetic comes first, rounding after it."""

    def __init__(
        self,
        spec: Spec,
        weights: Weights,
        sites: str,
        rewires: tuple[Rewire, ...] = (),
        cached: Taken | None = None,
    ) -> None:
        everywhere = Rewire(None, lambda value, _: rounded(value, sites))
        super().__init__(spec, weights, (*rewires, everywhere), cached)
        self.precision = sites
        self.kernel = f"plain attention, emulated: every site rounded to {sites}, sums in float32"


def in_format(
    spec: Spec, weights: Weights, sites: str, rewires: tuple[Rewire, ...] = (), cached: Taken | None = None
) -> RewiredEngine:
    """An engine with other arithmetic at some sites, which are rounded; fp32 and fp64 are what the weights are."""
    if sites in ("bf16", "fp16"):
        return RoundedEngine(spec, weights, sites, rewires, cached)
    return RewiredEngine(spec, weights, rewires, cached)


def held_as(spec: Spec, weights: Weights, precision: str) -> tuple[Spec, Weights]:
    """A model as a precision holds it, its numbers in float32. A tied head in codes is a matrix beside the table."""
    if SITES_IN[precision] in ("fp64", "fp32"):
        return spec, weights
    arrays = {role: _held(role, weights[role], precision) for role in weights}
    if precision in CODED:
        arrays["head"] = eight_bits(weights["embed" if spec.tied else "head"])
        spec = replace(spec, tied=False)
    return spec, Weights(arrays, weights.ledger, weights.origin)


def _held(role: str, array: Array, precision: str) -> Array:
    bits = held_bits(role, array, precision)
    if bits > 8:
        return np.asarray(rounded(array, SITES_IN[precision]))
    return held_rows(as_rows(role, array), bits).reshape(array.shape)


def held_rows(rows: Array, bits: int) -> Array:
    """Rows of a matrix as codes of so many bits, scales included, hold them: 8, or 5 for 4-bit codes."""
    return eight_bits(rows) if bits == 8 else four_bits(rows)


def held_bits(role: str, array: Array, precision: str) -> int:
    """Bits of one number of a role as a precision holds it, scales of its group included: 5 for 4-bit codes."""
    own = role.rpartition(".")[2]
    if precision not in CODED or array.ndim < 2 or own in _TABLES or own.endswith("bias"):
        return {"fp64": 64, "fp32": 32}.get(SITES_IN[precision], 16)
    rows = as_rows(role, array)
    four = precision == "int4" and own != "head" and len(rows) % TILE == 0 and rows.shape[1] % GROUP == 0
    return 5 if four else 8


def as_rows(role: str, array: Array) -> Array:
    """A role as the matrix [out in] that is multiplied by."""
    own = role.rpartition(".")[2]
    return array.reshape(len(array) if own == "out" else -1, array[0].size if own == "out" else array.shape[-1])
