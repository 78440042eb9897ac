"""NaN and Inf on one side: where they begin, and whether a format's range explains them."""

from dataclasses import dataclass

import numpy as np

from whybox.compare.observation import Observation, axes_of, in_order
from whybox.compare.pieces import Described, Piece, alone
from whybox.engine.edit import row_axis
from whybox.engine.rounded import RoundedEngine, held_as
from whybox.errors import NonFiniteError
from whybox.parts.rounding import LARGEST_FP16
from whybox.spec import Spec


@dataclass(frozen=True)
class Overflow:
    """The first site, layer and position with NaN or Inf. value: our largest magnitude there, None where none is ours.

    explained: a run of ours in float16 has its first NaN or Inf at the same site and layer.
    """

    site: str
    layer: int | None
    position: int
    value: float | None
    explained: bool


def first_non_finite(seen: Observation, spec: Spec) -> tuple[str, int | None, int] | None:
    """Scores may be −∞ where a key is hidden."""
    for site, layer in in_order(spec):
        value = seen.sites.get((site, layer))
        if value is None:
            continue
        bad = np.isnan(value) | np.isposinf(value) if site == "scores" else ~np.isfinite(value)
        if bad.any():
            axis = row_axis(axes_of((site, layer), spec))
            rows = bad.any(axis=tuple(i for i in range(value.ndim) if i != axis))
            return site, layer, len(seen.ids) - len(rows) + int(np.flatnonzero(rows)[0])
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
    sound = alone(piece, model, ids).sites.get((site, layer))
    value = None if sound is None else float(np.abs(sound[np.isfinite(sound)]).max(initial=0.0))
    return Overflow(
        site, layer, position, value, value is not None and value > LARGEST_FP16 and _same(model, ids, piece, found)
    )


def _same(model: Described, ids: Observation, piece: Piece, found: tuple[str, int | None, int]) -> bool:
    """Whether float16 emulated on our side breaks at that place first."""
    engine = RoundedEngine(*held_as(*model, "fp16"), "fp16")
    try:
        engine.run(ids.ids, tail=1)
    except NonFiniteError as error:
        return (error.site, error.layer) == found[:2]
    return False
