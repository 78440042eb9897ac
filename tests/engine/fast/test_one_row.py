"""One row for each of several sequences: the same attention as the plain one, in one part or behind a shared one."""

import math

import numpy as np
import pytest
import torch

from whybox.engine.fast import kernels
from whybox.engine.fast.kernels import Sight
from whybox.engine.fast.keys import NOWHERE, Part
from whybox.engine.fast.one_row import attend_one_row
from whybox.spec import Attention

CPU = torch.device("cpu")
BATCH, SHARED, OWN = 5, 11, 7


def drawn(shared: int, query: list[int], window: int | None) -> tuple[torch.Tensor, list[Part], Sight]:
    """3 groups of 2 heads of width 13; each sequence has seven keys of its own, the last of the second is padding."""
    generator = torch.Generator().manual_seed(shared)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, 13, generator=generator, dtype=torch.float64).bfloat16()

    places = shared + np.arange(OWN)[None].repeat(BATCH, 0)
    places[1, -1] = NOWHERE
    parts = [Part(draw(BATCH, 3, OWN), draw(BATCH, 3, OWN), places)]
    if shared:
        parts.insert(0, Part(draw(1, 3, shared), draw(1, 3, shared), np.arange(shared)[None]))
    rows = np.array(query)[:, None]
    return draw(BATCH, 6, 1), parts, Sight(rows, tuple(part.positions for part in parts), window, CPU)


@pytest.mark.parametrize("shared", [0, SHARED])
@pytest.mark.parametrize("window", [None, 4])
@pytest.mark.parametrize("blind", [False, True])
def test_it_is_plain_attention(shared: int, window: int | None, blind: bool) -> None:
    """In double precision; scores and pattern are rounded to 2⁻⁸ of themselves. A row that sees nothing is 0."""
    last = shared + OWN - 1
    spec = Attention(6, 3, 13, scale=1 / math.sqrt(13))
    query, parts, sight = drawn(shared, [last, last - 1, last, -1 if blind else last, last], window)
    found = attend_one_row(query, parts, sight.lowered, sight.blind, spec)
    wide = [Part(part.key.double(), part.value.double(), part.positions) for part in parts]
    pattern, _ = kernels.softmax(kernels.scores(query.double(), wide, spec), sight, None)
    error = (found.double() - kernels.mix(pattern, wide)).abs().max()
    assert 1e-5 < error < 2.0**-6 * max(float(part.value.abs().max()) for part in parts)
    assert bool((found[3] == 0).all()) == blind
    assert torch.equal(kernels.fused(query, parts, sight, None, spec), found)
