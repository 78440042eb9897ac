"""How far holding weights in 8 and in 4 bits moves them: which of the two is the coarser depends on the weights.

int8 has one scale for a row, int4 one for 32 numbers. Weights that come from a file of 4-bit blocks lie on int4's grid.
"""

from collections.abc import Iterator

import numpy as np

from whybox.compare.sides import Computed, Live
from whybox.engine.rounded import CODED, as_rows, held_bits, held_rows
from whybox.weights import Weights

Array = np.ndarray
SAMPLE = 1 << 16
"""Numbers of a matrix that are looked at: every row is held on its own."""


def moved_by_codes(ours: Live, theirs: Computed) -> dict[str, float]:
    """Precision → ‖held − w‖ / ‖w‖ of the layers' matrices; both, where one side is held in one."""
    if not isinstance(theirs, Live) or not {ours.precision, theirs.precision} & set(CODED):
        return {}
    if not ours.model.engine.origin.is_of(theirs.model.engine.origin):
        return {}
    return moved(ours.model.weights)


def moved(weights: Weights) -> dict[str, float]:
    """The same of some weights; nothing where there are no matrices."""
    size, moves = 0.0, dict.fromkeys(CODED, 0.0)
    for rows, bits in _sampled(weights):
        size += float(np.square(rows).sum())
        for precision in CODED:
            moves[precision] += float(np.square(held_rows(rows, bits[precision]) - rows).sum())
    return {precision: float(np.sqrt(each / size)) for precision, each in moves.items()} if size else {}


def _sampled(weights: Weights) -> Iterator[tuple[Array, dict[str, int]]]:
    """Some rows of every matrix of the layers, and the bits that each precision holds it in."""
    for role in weights:
        array = weights[role] if role.startswith("layers.") else None
        if array is None or array.ndim < 2:
            continue
        bits = {precision: held_bits(role, array, precision) for precision in CODED}
        if max(bits.values()) <= 8:
            yield as_rows(role, array)[:: -(-array.size // SAMPLE)].astype(np.float32), bits
