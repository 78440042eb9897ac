"""Turning all heads at once is the rotation of the parts."""

import numpy as np
import pytest
import torch

from whybox.engine.fast.turning import rotate_heads, turn
from whybox.parts import position
from whybox.spec import LinearRope, Pairing, PlainRope, YarnRope

CPU = torch.device("cpu")
POSITIONS = np.array([[0, 1, 5], [7, 1000, 3]])


def drawn(*shape: int) -> np.ndarray:
    return np.random.default_rng(len(shape)).normal(size=shape)


@pytest.mark.parametrize("width", [4, 10])
@pytest.mark.parametrize("pairing", list(Pairing))
def test_rotation_is_that_of_the_parts(pairing: Pairing, width: int) -> None:
    """Two rows of a batch at their own positions, 5 heads of width 10, all or some dimensions turning."""
    rope = PlainRope(100.0, width, pairing)
    x = drawn(2, 3, 5, 10)
    ours = rotate_heads(torch.from_numpy(x), turn(rope, POSITIONS, 2000, torch.float64, CPU))
    for row, places in enumerate(POSITIONS):
        expected = position.rotate(x[row], *position.rope_angles(rope, places, 2000), pairing)
        np.testing.assert_allclose(ours[row].numpy(), expected, rtol=0, atol=1e-13)


def test_heads_turned_together_turn_as_alone() -> None:
    by = turn(PlainRope(100.0, 10), POSITIONS[0], 10, torch.float32, CPU)
    x = torch.from_numpy(drawn(3, 5, 10)).float()
    together = rotate_heads(x, by)
    assert torch.equal(together[:, 2:3], rotate_heads(x[:, 2:3], by))


def test_every_variant_of_rope_is_the_parts_business() -> None:
    for rope in (LinearRope(PlainRope(100.0, 4), 2.0), YarnRope(PlainRope(100.0, 4), 4.0, 8, 32.0, 1.0, 1.3, "given")):
        by = turn(rope, POSITIONS[0], 64, torch.float64, CPU)
        cos, sin = position.rope_angles(rope, POSITIONS[0], 64)
        np.testing.assert_array_equal(by.cos[:, 0].numpy(), np.concatenate([cos, cos], -1))
        np.testing.assert_array_equal(by.sin[:, 0].numpy(), np.concatenate([-sin, sin], -1))


def test_the_precision_of_the_angles_rules() -> None:
    """bfloat16 heads turned by float32 angles are rounded once, by bfloat16 angles three times (2⁻⁷ of the pair)."""
    x = torch.from_numpy(drawn(3, 5, 10)).bfloat16()
    rope, places = PlainRope(100.0, 10), POSITIONS[1]
    once, thrice = (rotate_heads(x, turn(rope, places, 2000, t, CPU)) for t in (torch.float32, torch.bfloat16))
    exact = rotate_heads(x.double(), turn(rope, places, 2000, torch.float64, CPU))
    assert once.dtype is thrice.dtype is torch.bfloat16
    assert torch.equal(once, exact.bfloat16())
    length = x.double().unflatten(-1, (2, 5)).norm(dim=-2).repeat(1, 1, 2)
    error = (thrice.double() - exact).abs() / length
    assert 1e-4 < error.max() < 2.0**-7
