"""RoPE in three passes over query and key heads together: at one row it is the number of passes that costs.

The formula is that of `parts.position.rotate`.
"""

from dataclasses import dataclass
from typing import assert_never

import numpy as np
import torch
from jaxtyping import Float, Int

from whybox.parts.position import rope_angles
from whybox.parts.rope import plain_of
from whybox.spec import Pairing, Rope


@dataclass(frozen=True, eq=False)
class Turn:
    """How far each pair of dimensions turns at each position: w = 2p dimensions take part.

    cos: [*rows 1 w]. sin: the same, negative where it belongs to a pair's first member.
    """

    cos: Float[torch.Tensor, "*rows 1 w"]
    sin: Float[torch.Tensor, "*rows 1 w"]
    pairing: Pairing

    def rows(self, chosen: slice | Int[torch.Tensor, "*rows"]) -> "Turn":
        """Those of some rows of a table [n 1 w]."""
        return Turn(self.cos[chosen], self.sin[chosen], self.pairing)


def turn(
    rope: Rope, positions: Int[np.ndarray, "*rows"], length: int, dtype: torch.dtype, device: torch.device
) -> Turn:
    """The turns at these positions, for a run of `length` tokens in all; angles are computed in double precision."""
    cos, sin = rope_angles(rope, positions.reshape(-1), length)
    pairing = plain_of(rope).pairing
    rows = (*positions.shape, 1, 2 * cos.shape[-1])
    both = (_paired(cos, cos, pairing), _paired(-sin, sin, pairing))
    wide_cos, wide_sin = (torch.from_numpy(part).reshape(rows).to(device, dtype) for part in both)
    return Turn(wide_cos, wide_sin, pairing)


def rotate_heads(x: Float[torch.Tensor, "*rows h d"], by: Turn) -> Float[torch.Tensor, "*rows h d"]:
    """(a cos − b sin, a sin + b cos) for each pair (a, b), as x · cos + swapped(x) · sin; the rest pass unturned.

    Query and key heads of a row can be turned in one go. Computed in the precision of the angles, rounded once.
    """
    width = by.cos.shape[-1]
    if width < x.shape[-1]:
        return torch.cat([rotate_heads(x[..., :width], by), x[..., width:]], -1)
    wide = x.to(by.cos.dtype)
    return torch.addcmul(wide * by.cos, _swapped(wide, by.pairing), by.sin).to(x.dtype)


def _paired(first: np.ndarray, second: np.ndarray, pairing: Pairing) -> np.ndarray:
    """Numbers of the pairs' two members, where the members lie."""
    match pairing:
        case Pairing.HALF:
            return np.concatenate([first, second], axis=-1)
        case Pairing.INTERLEAVED:
            return np.stack([first, second], axis=-1)
        case _:
            assert_never(pairing)


def _swapped(x: Float[torch.Tensor, "*rows w"], pairing: Pairing) -> Float[torch.Tensor, "*rows w"]:
    """Each dimension's partner in its place."""
    match pairing:
        case Pairing.HALF:
            return x.roll(x.shape[-1] // 2, -1)
        case Pairing.INTERLEAVED:
            return x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
        case _:
            assert_never(pairing)
