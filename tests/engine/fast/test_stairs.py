"""A bfloat16 triangle in steps: the same attention, whatever the number of rows."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from whybox.engine.fast.kernels import _stairs
from whybox.engine.fast.keys import Part
from whybox.engine.fast.sight import STAIR, Sight
from whybox.spec import Attention


@pytest.mark.parametrize("rows", [2, STAIR - 1, STAIR, STAIR + 1, 2 * STAIR + 3])
def test_steps_are_causal_attention(rows: int) -> None:
    """Two texts, 3 groups of 2 heads of width 5; torch in double precision is the oracle. 2⁻⁷: scores and pattern."""
    generator = torch.Generator().manual_seed(rows)
    query, key, value = (
        torch.randn(2, heads, rows, 5, generator=generator, dtype=torch.float64).bfloat16() for heads in (6, 3, 3)
    )
    places = np.arange(rows)[None].repeat(2, 0)
    sight = Sight(places, (places,), None, torch.device("cpu"))
    spec = Attention(6, 3, 5, scale=1 / math.sqrt(5))
    found = _stairs(query, Part(key, value, places), sight.corner, spec)
    exact = functional.scaled_dot_product_attention(
        query.double(), key.double(), value.double(), is_causal=True, scale=spec.scale, enable_gqa=True
    )
    error = (found.double() - exact).abs().max() / value.abs().max()
    assert 1e-5 < error < 2.0**-6
