"""The small steps against the parts that they repeat."""

import numpy as np
import pytest
import torch

from whybox.engine.fast.arithmetic import activate, gated, rotate_heads, turn
from whybox.parts import mlp, position
from whybox.spec import Activation, LinearRope, Pairing, PlainRope, YarnRope

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


def test_in_bfloat16_a_turn_rounds_three_times() -> None:
    """cos, sin and the products are rounded to 8 bits: within 2⁻⁷ of the pair's length."""
    x = torch.from_numpy(drawn(3, 5, 10)).bfloat16()
    ours = rotate_heads(x, turn(PlainRope(100.0, 10), POSITIONS[1], 2000, torch.bfloat16, CPU))
    exact = rotate_heads(x.double(), turn(PlainRope(100.0, 10), POSITIONS[1], 2000, torch.float64, CPU))
    assert ours.dtype is torch.bfloat16
    length = x.double().unflatten(-1, (2, 5)).norm(dim=-2).repeat(1, 1, 2)
    error = (ours.double() - exact).abs() / length
    assert 1e-4 < error.max() < 2.0**-7


@pytest.mark.parametrize("kind", list(Activation))
def test_activations_are_those_of_the_parts(kind: Activation) -> None:
    x = 3 * drawn(2, 3, 14)
    np.testing.assert_allclose(activate(torch.from_numpy(x), kind).numpy(), mlp.activate(x, kind), rtol=0, atol=1e-14)
    expected = mlp.activate(x[..., :7], kind) * x[..., 7:]
    np.testing.assert_allclose(gated(torch.from_numpy(x), kind).numpy(), expected, rtol=0, atol=1e-13)


@pytest.mark.parametrize("kind", list(Activation))
def test_gates_can_be_differentiated(kind: Activation) -> None:
    x = torch.from_numpy(drawn(3, 14)).requires_grad_()
    assert torch.autograd.gradcheck(lambda v: gated(v, kind), (x,))
