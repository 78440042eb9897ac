"""The one product, x · Wᵀ + b, with each kind of weight that a machine multiplies well by.

Callers ask `linear(x, w)` and never which kind they hold.
"""

from dataclasses import dataclass
from typing import Any, assert_never

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int32, UInt8
from jaxtyping import Int8 as Int8Array

FEW_ROWS = 32  # beyond, turning the codes into bfloat16 pays for itself
LANES = 16  # torch's 8-bit kernel reads whole vectors: at other widths it would read past the end
GROUP = 32  # neighbours that share a scale in 4 bits: the blocks of Q4_0 and Q4_1
TILE = 16  # torch's 4-bit kernel takes outputs by so many


@dataclass(frozen=True, eq=False)
class Dense:
    """A matrix in the precision of the activations, multiplied as torch does by itself."""

    weight: Float[torch.Tensor, "o i"]
    bias: Float[torch.Tensor, "o"] | None = None


@dataclass(frozen=True, eq=False)
class Onednn:
    """A matrix for oneDNN's product on a CPU: plain in float32, laid out in the library's own order in bfloat16.

    Measured on 2 cores with AVX-512, [3072 576], against torch's own choice: 1 row 190 for 430 µs in float32, 61 for
    173 µs in bfloat16; 1,024 rows 7.7 for 17.5 ms and 3.8 for 4.5 ms.
    """

    weight: torch.Tensor  # [o i]
    bias: Float[torch.Tensor, "o"] | None = None


@dataclass(frozen=True, eq=False)
class Int8:
    """A matrix rounded to codes −127 … 127, one scale per output: w ≈ scale · code."""

    codes: Int8Array[torch.Tensor, "o i"]
    scale: Float[torch.Tensor, "o"]
    bias: Float[torch.Tensor, "o"] | None = None


@dataclass(frozen=True, eq=False)
class Int4:
    """A matrix in groups of 32 neighbours of a row: w ≈ scale · (code − 8) + centre, codes 0 … 15.

    codes: two in a byte, in the kernel's order. scales: scale and centre of each group.
    """

    codes: UInt8[torch.Tensor, "o half"]
    scales: Float[torch.Tensor, "groups o 2"]
    bias: Float[torch.Tensor, "o"] | None = None


Linear = Dense | Onednn | Int8 | Int4


def linear(x: Float[torch.Tensor, "*rows i"], w: Linear) -> Float[torch.Tensor, "*rows o"]:
    """x · Wᵀ + b. Differentiable in x."""
    return _Product.apply(x, w) if x.requires_grad else _product(x, w)


def finite(x: Float[torch.Tensor, "..."]) -> bool:
    """Whether the sum is a number: NaN and Inf show in one pass (and so would a sum that overflows)."""
    return bool(torch.isfinite(x.sum()))


def dense(w: Linear) -> Float[torch.Tensor, "o i"]:
    """The numbers that the product multiplies by, as a plain matrix."""
    match w:
        case Dense():
            return w.weight
        case Onednn():
            return w.weight.to_dense()
        case Int8():
            return w.codes * w.scale[:, None]
        case Int4():
            return _int4(torch.eye(GROUP * len(w.scales), dtype=w.scales.dtype, device=w.scales.device), w).t()
        case _:
            assert_never(w)


def plain_bytes(w: Linear) -> int:
    """Bytes of the matrix that `dense` makes anew; 0 where it gives the one that is there."""
    match w:
        case Dense():
            return 0
        case Onednn():
            return 0 if w.weight.dtype is torch.float32 else w.weight.numel() * w.weight.element_size()
        case Int8():
            return w.codes.numel() * w.scale.element_size()
        case Int4():
            return 2 * w.codes.numel() * w.scales.element_size()
        case _:
            assert_never(w)


def _product(x: Float[torch.Tensor, "*rows i"], w: Linear) -> Float[torch.Tensor, "*rows o"]:
    match w:
        case Dense():
            return F.linear(x, w.weight, w.bias)
        case Onednn():
            return torch.ops.mkldnn._linear_pointwise.default(x, w.weight, w.bias, "none", [], "")
        case Int8():
            return _finished(_int8(x.reshape(-1, x.shape[-1]), w), w.bias, x)
        case Int4():
            return _finished(_int4(x.reshape(-1, x.shape[-1]), w), w.bias, x)
        case _:
            assert_never(w)


def _int8(x: Float[torch.Tensor, "n i"], w: Int8) -> Float[torch.Tensor, "n o"]:
    """scale · (x · codesᵀ). Codes are exact in bfloat16, so both ways multiply by the same numbers."""
    if x.shape[0] <= FEW_ROWS and x.shape[1] % LANES == 0:
        return torch._weight_int8pack_mm(x, w.codes, w.scale)
    return F.linear(x, w.codes.to(x.dtype)).mul_(w.scale)


def _int4(x: Float[torch.Tensor, "n i"], w: Int4) -> Float[torch.Tensor, "n o"]:
    return torch.ops.aten._weight_int4pack_mm_for_cpu.default(x, w.codes, GROUP, w.scales)


def _finished(
    out: Float[torch.Tensor, "n o"], bias: Float[torch.Tensor, "o"] | None, x: Float[torch.Tensor, "*rows i"]
) -> Float[torch.Tensor, "*rows o"]:
    """With its bias, under the leading axes of x."""
    out = out if bias is None else out.add_(bias)
    return out.view(x.shape[:-1] + out.shape[-1:])


class _Product(torch.autograd.Function):  # type: ignore[misc]
    """The packed kernels know no gradients: the one of a product is the product with the transpose."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, w: Linear) -> torch.Tensor:
        ctx.w = w
        return _product(x, w)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        transposed = dense(ctx.w).t()
        back = Onednn(transposed) if isinstance(ctx.w, Onednn) else Dense(transposed)
        return _product(gradient, back), None


def laid_out(weight: Float[torch.Tensor, "o i"], bias: Float[torch.Tensor, "o"] | None) -> Linear:
    """For the quickest product that this machine has. Only float32 keeps its memory shared with the weights."""
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return Dense(weight, bias)
    if weight.dtype is torch.float32:
        return Onednn(weight, bias)
    if weight.dtype is torch.bfloat16 and torch.ops.mkldnn._is_mkldnn_bf16_supported():
        return Onednn(torch.ops.mkldnn._reorder_linear_weight(weight), bias)
    return Dense(weight, bias)


def quantised(weight: Float[torch.Tensor, "o i"], bias: Float[torch.Tensor, "o"] | None) -> Int8:
    """code = round(w / scale), scale = max|row| / 127 in bfloat16; a row of zeros has scale 1."""
    weight = weight.float()
    largest = weight.abs().amax(dim=1)
    scale = torch.where(largest > 0, largest / 127, 1.0).bfloat16()
    codes = torch.round(weight / scale.float()[:, None]).clamp_(-127, 127).to(torch.int8)
    return Int8(codes, scale, bias)


def quantised_4bit(weight: Float[torch.Tensor, "o i"], bias: Float[torch.Tensor, "o"] | None) -> Linear:
    """For each group the better of two grids: from least to largest, as Q4_1; around 0, as Q4_0.

    So files of both types keep their codes; scales are rounded to bfloat16. Matrices that the kernel cannot take are
    rounded to 8 bits.
    """
    o, i = weight.shape
    if weight.device.type != "cpu" or o % TILE or i % GROUP:
        return quantised(weight, bias)
    grouped = weight.float().unflatten(1, (-1, GROUP))
    between, around = _fitted(grouped, *_between(grouped)), _fitted(grouped, *_around(grouped))
    better = (between.error <= around.error)[..., None]
    codes = torch.where(better, between.codes, around.codes).flatten(1)
    scales = torch.where(better, between.scales, around.scales).transpose(0, 1).contiguous()
    return Int4(torch.ops.aten._convert_weight_to_int4pack_for_cpu(codes, 1), scales, bias)


@dataclass(frozen=True, eq=False)
class _Grid:
    """Groups on one grid: codes, scale and centre, and the squared error of each group."""

    codes: Int32[torch.Tensor, "o groups n"]
    scales: Float[torch.Tensor, "o groups 2"]
    error: Float[torch.Tensor, "o groups"]


def _between(grouped: Float[torch.Tensor, "o groups n"]) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale and centre with code 0 at the least number and code 15 at the largest."""
    least, largest = grouped.amin(-1), grouped.amax(-1)
    scale = (largest - least) / 15
    return scale, least + 8 * scale


def _around(grouped: Float[torch.Tensor, "o groups n"]) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale and centre with code 8 at zero and code 0 at the number farthest from it, whatever its sign."""
    farthest = grouped.gather(-1, grouped.abs().argmax(-1, keepdim=True))[..., 0]
    return -farthest / 8, torch.zeros_like(farthest)


def _fitted(grouped: Float[torch.Tensor, "o groups n"], scale: torch.Tensor, centre: torch.Tensor) -> _Grid:
    """The nearest codes on the grid as it will be stored: scale and centre already rounded to bfloat16."""
    stored = torch.stack([scale, centre], dim=-1).bfloat16()
    step, middle = stored.float()[..., None].unbind(-2)
    codes = torch.round((grouped - middle) / torch.where(step == 0, 1.0, step)).add_(8).clamp_(0, 15)
    error = (step * (codes - 8) + middle - grouped).square().sum(-1)
    return _Grid(codes.int(), stored, error)
