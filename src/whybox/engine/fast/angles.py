"""The turns of RoPE, computed once for each run length and looked up by position."""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Int

from whybox.engine.fast.keys import NOWHERE
from whybox.engine.fast.turning import Turn, turn
from whybox.spec import Rope

_STEP = 256  # a table grows by at least so many positions


@dataclass
class AngleTables:
    """The turns of each rope, for runs of one length; in float32 also where activations have fewer bits."""

    length: int
    dtype: torch.dtype
    device: torch.device
    _tables: dict[Rope, Turn] = field(default_factory=dict)

    def at(self, rope: Rope, positions: Int[np.ndarray, "n q"]) -> Turn:
        """The turn of each row [n q]. A row that is nowhere turns like position 0: nobody sees it."""
        if positions.size == 1:  # a view costs less than a search
            first = int(positions[0, 0])
            return self._table(rope, first).rows(slice(first, first + 1))
        places = np.where(positions < NOWHERE, positions, 0)
        return self._table(rope, int(places.max())).rows(torch.from_numpy(places).to(self.device))

    def _table(self, rope: Rope, last: int) -> Turn:
        found = self._tables.get(rope)
        if found is None or len(found.cos) <= last:
            positions = np.arange(max(last + 1, self.length) + _STEP)
            with torch.inference_mode(False):  # so that a run with gradients may use what a plain run has made
                found = turn(rope, positions, self.length, self.dtype, self.device)
            self._tables[rope] = found  # of two threads the later one wins: each goes on with its own
        return found
