"""How far rounding alone may take two runs apart: measured, at every site and position, on the very inputs compared."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from whybox.compare.observation import Errors, Observation, errors
from whybox.compare.pieces import Described, Piece, alone
from whybox.engine.trace import Key
from whybox.parts.rounding import UNIT
from whybox.testing.faults import NO_FAULT, Fault

Array = np.ndarray
HEADROOM = 8.0
"""Two programs round in another order, and may be unlucky where this one was not."""
SELDOM = 1 / 8
"""Of a unit: where every number is rounded, the root mean square is about half a unit; a few ties leave much less."""
LEAST = 4.0
"""Units of roundoff that are always allowed: a site that is exact here may be rounded once there."""


@dataclass(frozen=True, eq=False)
class Floor:
    """limits: for each (site, layer) the error of every position [q] that rounding explains. precision: of the pair.

    rounds: the format of a fault that is imposed and rounds some sites. Two programs that both have it may still round
    a number near a tie to either side, now and then: a position is allowed one unit of that format.
    """

    limits: Mapping[Key, Array]
    precision: str
    rounds: str | None = None

    def ratios(self, found: Errors) -> dict[Key, Array]:
        """Errors of every position as multiples of what rounding explains; above 1 it does not."""
        least = 0.0 if self.rounds is None else UNIT[self.rounds]
        return {key: rows / np.fmax(self.limits[key], least) for key, rows in found.items() if key in self.limits}

    def overall(self, found: Errors) -> dict[Key, float]:
        """One number for a site: the worst position; where ties turn now and then, all positions together."""
        if self.rounds is None:
            return {key: float(np.nanmax(rows)) for key, rows in self.ratios(found).items()}
        least = UNIT[self.rounds] * SELDOM
        return {
            key: _rms(rows) / max(_rms(self.limits[key]), least) for key, rows in found.items() if key in self.limits
        }


def _rms(rows: Array) -> float:
    return float(np.sqrt(np.nanmean(np.square(rows))))


def floor(
    piece: Piece,
    model: Described,
    seen: Observation,
    fault: Fault = NO_FAULT,
    precision: str = "fp32",
    coarse: Observation | None = None,
) -> Floor:
    """The piece in float64 against the same in the pair's coarser precision. coarse: that run, where it was made."""
    exact = alone(piece, model, seen, fault, "fp64")
    coarse = coarse or alone(piece, model, seen, fault, precision)
    limits = {key: allowed(rows, precision) for key, rows in errors(exact, coarse, model[0]).items()}
    return Floor(limits, precision, fault.rounds)


def allowed(rows: Array, precision: str) -> Array:
    """A position is allowed what it needed, or the median of all: a lucky one is no stricter."""
    usual = float(np.nanmedian(rows)) if np.isfinite(rows).any() else 0.0
    return np.asarray(HEADROOM * np.fmax(rows, usual) + LEAST * UNIT[precision])
