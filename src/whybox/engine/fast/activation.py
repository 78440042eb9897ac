"""Activations on tensors."""

from typing import assert_never

from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

from whybox.spec import Activation


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
