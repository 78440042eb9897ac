"""The small steps between the products, on tensors: the formulas of `whybox.parts`."""

from typing import assert_never

import torch
from jaxtyping import Float
from torch.nn import functional

from whybox.spec import Activation, Pairing

Tensor = torch.Tensor


def rotate(
    x: Float[Tensor, "b q h d"], cos: Float[Tensor, "n q p"], sin: Float[Tensor, "n q p"], pairing: Pairing
) -> Float[Tensor, "b q h d"]:
    """(a cos − b sin, a sin + b cos) for each pair (a, b) of the first 2p dimensions; the rest pass unturned.

    Computed in the precision of the angles, float32 at least, and rounded once. Source: arXiv 2104.09864.
    """
    pairs, cos, sin = cos.shape[-1], cos[:, :, None], sin[:, :, None]
    turning, rest = x[..., : 2 * pairs], x[..., 2 * pairs :]
    match pairing:
        case Pairing.HALF:
            a, b = turning[..., :pairs], turning[..., pairs:]
            turned = torch.cat([a * cos - b * sin, a * sin + b * cos], dim=-1)
        case Pairing.INTERLEAVED:
            a, b = turning[..., 0::2], turning[..., 1::2]
            turned = torch.stack([a * cos - b * sin, a * sin + b * cos], dim=-1).flatten(-2)
        case _:
            assert_never(pairing)
    turned = turned.to(x.dtype)
    return turned if rest.shape[-1] == 0 else torch.cat([turned, rest], dim=-1)


def activate(x: Float[Tensor, "*rows f"], kind: Activation) -> Float[Tensor, "*rows f"]:
    """The activation that the spec names."""
    match kind:
        case Activation.RELU:
            return functional.relu(x)
        case Activation.GELU_ERF:
            return functional.gelu(x)
        case Activation.GELU_TANH:
            return functional.gelu(x, approximate="tanh")
        case Activation.SILU:
            return functional.silu(x)
        case _:
            assert_never(kind)
