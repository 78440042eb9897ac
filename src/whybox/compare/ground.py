"""What does not depend on the other side: how far rounding takes ours, and what ours writes.

Made once, though one model is compared with many.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from whybox.compare.effort import Effort
from whybox.compare.floor import Floor
from whybox.compare.observation import Errors, Observation, errors
from whybox.compare.pieces import Described, Piece, whole
from whybox.compare.sides import Live
from whybox.engine.rounded import SITES_IN, held_as
from whybox.weights import Streamed

Array = np.ndarray
Ids = tuple[int, ...]
NEAR = 1e-2
"""Of its size: a piece whose input moved by less rounds as it did before, within a floor's headroom."""


@dataclass(frozen=True, eq=False)
class Rounding:
    """Float64 against a precision: errors of the whole model by site and position; the largest move of a logit."""

    errors: Errors
    moved: float | None


@dataclass(eq=False)
class Ground:
    """Our side. floors: of a piece on a text in a format of sites, with the input that it was measured on."""

    ours: Live
    effort: Effort = field(default_factory=Effort)
    floors: dict[tuple[Ids, Piece, str], tuple[Array | None, Floor]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        weights = self.ours.model.weights
        self.model: Described = (self.ours.model.spec, weights.held() if isinstance(weights, Streamed) else weights)
        self._held: Mapping[str, Described] = {}
        self._rounding: dict[tuple[Ids, int, str], Rounding] = {}
        self._written: dict[tuple[Ids, int], Ids] = {}

    def held(self, precision: str) -> Described:
        """Our weights as a precision has them; the last ones are kept."""
        if SITES_IN[precision] in ("fp64", "fp32"):
            return self.model
        if precision not in self._held:
            self._held = {precision: held_as(*self.model, precision)}
        return self._held[precision]

    def rounding(self, seen: Observation, precision: str) -> Rounding:
        """What rounding explains of a whole run on these ids, with as many rows of logits."""
        key = (seen.ids, 0 if seen.logits is None else len(seen.logits), precision)
        if key not in self._rounding:
            exact = whole(self.model, seen, precision="fp64")
            coarse = whole(self.held(precision), seen, precision=SITES_IN[precision])
            self.effort.did(3 * len(self.model[0].layers))
            both = exact.logits is not None and coarse.logits is not None
            moved = float(np.abs(exact.logits - coarse.logits).max()) if both else None  # type: ignore[operator]
            self._rounding[key] = Rounding(errors(exact, coarse, self.model[0]), moved)
        return self._rounding[key]

    def written(self, ids: Ids, count: int) -> Ids:
        """Ids that our side writes on greedily."""
        if (ids, count) not in self._written:
            self._written[ids, count] = tuple(self.ours.model.generate(list(ids), count).ids)
        return self._written[ids, count]

    def near(self, ids: Ids, piece: Piece, entry: Array | None, kind: str) -> Floor | None:
        """A floor of this piece that was measured on the same ids, and on an input near this one."""
        before, floor = self.floors.get((ids, piece, kind), (None, None))
        if floor is None or (before is None) != (entry is None):
            return None
        if before is not None and entry is not None:
            apart = np.linalg.norm(entry - before, axis=-1)
            return floor if (apart <= NEAR * np.linalg.norm(before, axis=-1)).all() else None
        return floor
