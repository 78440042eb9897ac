"""How weights are held and products computed: a choice made once, when a model is packed."""

from enum import StrEnum
from typing import assert_never

import torch

from whybox.errors import UsageError


class Precision(StrEnum):
    """How weights are held and products computed."""

    FP64 = "fp64"
    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    INT8 = "int8"
    INT4 = "int4"

    @property
    def compute(self) -> torch.dtype:
        """What activations are held in."""
        match self:
            case Precision.FP64:
                return torch.float64
            case Precision.FP32:
                return torch.float32
            case Precision.BF16 | Precision.INT8 | Precision.INT4:
                return torch.bfloat16
            case Precision.FP16:
                return torch.float16
            case _:
                assert_never(self)

    @property
    def bits(self) -> float:
        """Of one weight, scales and offsets of its group included."""
        match self:
            case Precision.FP64:
                return 64
            case Precision.FP32:
                return 32
            case Precision.BF16 | Precision.FP16:
                return 16
            case Precision.INT8:
                return 8
            case Precision.INT4:
                return 5
            case _:
                assert_never(self)

    @property
    def emulates(self) -> str:
        """What a server that runs this precision does, in one sentence."""
        match self:
            case Precision.FP64:
                return "double precision throughout: what single precision rounds away"
            case Precision.FP32:
                return "single precision throughout: the reference engine's arithmetic in another order of sums"
            case Precision.BF16:
                return "weights, products and residual stream in bfloat16; norms and softmax sum in float32"
            case Precision.FP16:
                return "weights, products and residual stream in float16; norms and softmax sum in float32"
            case Precision.INT8:
                return "weights rounded to 8 bits with one scale per output; activations as in bf16"
            case Precision.INT4:
                return "weights in 4 bits by groups of 32, as in Q4_0 and Q4_1 files, the head in 8; else as bf16"
            case _:
                assert_never(self)

    @property
    def noise(self) -> float:
        """How far a logit may move when the same run is computed another way, as a share of the largest |logit|.

        Another way: behind a cache, in chunks, in a batch, as a counterfactual. Products of other shapes sum in another
        order, and in 8 bits by another kernel, so that rows are rounded otherwise. Measured: docs/engines.md.
        """
        match self:
            case Precision.FP64:
                return 1e-13
            case Precision.FP32:
                return 1e-5
            case Precision.FP16:
                return 1 / 128
            case Precision.BF16:
                return 1 / 20
            case Precision.INT8 | Precision.INT4:
                return 1 / 8
            case _:
                assert_never(self)


CODED = (Precision.INT8, Precision.INT4)
"""Weights are whole numbers times a scale: there is no code for NaN or Inf."""


def require_precision(precision: Precision, device: torch.device) -> None:
    """UsageError for float16 on a CPU."""
    if precision is Precision.FP16 and device.type == "cpu":
        raise UsageError(
            "float16 products are about 100 times slower than float32 on a CPU",
            "use --precision bf16 or int8 here, or fp16 on a GPU",
        )
