"""NaN and Inf on one side: where they begin, and whether a format's range explains them."""

from dataclasses import dataclass

import numpy as np

from whybox.compare.observation import Observation, axes_of, in_order
from whybox.compare.pieces import Described, Piece, alone
from whybox.engine.edit import first_bad_row, row_axis
from whybox.engine.rounded import RoundedEngine, held_as
from whybox.engine.trace import Key
from whybox.errors import NonFiniteError
from whybox.parts.rounding import LARGEST_FP16
from whybox.spec import Spec


@dataclass(frozen=True)
class Overflow:
    """The first site, layer and position with NaN or Inf. value: our largest magnitude there, None where none is ours.

    explained: ours is beyond float16 there, and a run of ours in float16 has its first NaN or Inf at the same site and
    layer, or behind all that was recorded before it.
    """

    site: str
    layer: int | None
    position: int
    value: float | None
    explained: bool


def first_non_finite(seen: Observation, spec: Spec) -> tuple[str, int | None, int] | None:
    """Where a run broke off, or else the first of the sites that were kept."""
    if seen.broken is not None:
        return seen.broken
    for site, layer in (key for key in in_order(spec) if key in seen.sites):
        value, axes = seen.sites[site, layer], axes_of((site, layer), spec)
        row = first_bad_row(site, value, axes)
        if row is not None:
            return site, layer, len(seen.ids) - value.shape[row_axis(axes)] + row
    return None


def overflow(model: Described, seen: Observation) -> Overflow | None:
    """What stands behind the first NaN or Inf of the other side; None where all its numbers are finite."""
    found = first_non_finite(seen, model[0])
    if found is None:
        return None
    site, layer, position = found
    through = len(model[0].layers) if layer is None else layer + 1
    piece = Piece(0, through, True, layer is None)
    ids = Observation(seen.ids, {})
    value = _largest(alone(piece, model, ids), (site, layer), position, model[0])
    beyond = value is not None and value > LARGEST_FP16
    return Overflow(site, layer, position, value, beyond and _same(model, seen, (site, layer)))


def _largest(sound: Observation, key: Key, position: int, spec: Spec) -> float | None:
    """Of our numbers at a site and position."""
    value = sound.sites.get(key)
    if value is None:
        return None
    axis = row_axis(axes_of(key, spec))
    row = value.take(position - len(sound.ids) + value.shape[axis], axis)
    return float(np.abs(row[np.isfinite(row)]).max(initial=0.0))


def _same(model: Described, seen: Observation, found: Key) -> bool:
    """Whether float16 emulated on our side breaks first there, or between there and the last site that was kept."""
    engine = RoundedEngine(*held_as(*model, "fp16"), "fp16")
    try:
        engine.run(seen.ids, tail=1)
    except NonFiniteError as error:
        order = list(in_order(model[0]))
        ours, theirs = order.index((error.site, error.layer)), order.index(found)
        return ours <= theirs and not any(key in seen.sites for key in order[ours:theirs])
    return False
