"""The angles of RoPE, computed once for each run length and looked up by position."""

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from whybox.engine.fast.keys import NOWHERE
from whybox.parts.position import rope_angles
from whybox.spec import Rope

_STEP = 256  # a table grows by at least so many positions


@dataclass
class AngleTables:
    """cos and sin for each rope, for runs of one length; in float32 also where activations have fewer bits."""

    length: int
    dtype: torch.dtype
    device: torch.device
    _tables: dict[Rope, tuple[Tensor, Tensor]] = field(default_factory=dict)

    def at(
        self, rope: Rope, positions: Int[np.ndarray, "n q"]
    ) -> tuple[Float[Tensor, "n q p"], Float[Tensor, "n q p"]]:
        """cos and sin of each row. A row that is nowhere turns like position 0: nobody sees it."""
        if positions.shape == (1, 1):
            first = int(positions[0, 0])
            cos, sin = self._table(rope, first)
            return cos[None, first : first + 1], sin[None, first : first + 1]
        places = np.where(positions < NOWHERE, positions, 0)
        cos, sin = self._table(rope, int(places.max()))
        where = torch.from_numpy(places).to(self.device)
        return cos[where], sin[where]

    def _table(self, rope: Rope, last: int) -> tuple[Tensor, Tensor]:
        if rope not in self._tables or len(self._tables[rope][0]) <= last:
            cos, sin = rope_angles(rope, np.arange(max(last + 1, self.length) + _STEP), self.length)
            self._tables[rope] = self._tensor(cos), self._tensor(sin)
        return self._tables[rope]

    def _tensor(self, values: np.ndarray) -> Tensor:
        with torch.inference_mode(False):  # so that a run with gradients may use what a plain run has made
            return torch.from_numpy(values).to(self.device, self.dtype)
