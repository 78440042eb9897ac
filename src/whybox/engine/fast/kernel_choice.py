"""Which kernel computes a layer's attention: the one asked for, or by the prices of the rows and keys at hand."""

from enum import StrEnum
from typing import assert_never

import torch

from whybox.engine.fast.sight import Sight
from whybox.spec import Attention, Spec

TILED_FROM = 256  # keys: with fewer, tiles are too small to be worth their calls …
TILED_ROWS = 96  # … and with fewer rows
TILED_PRICE = {torch.bfloat16: 0.55}
"""Seconds that a visible pair costs in tiles, over what it costs in torch's fused product, on a CPU with AVX-512 …"""
OTHER_PRICE = 1.25
"""… and in other types. The fused product pays for hidden pairs as well, except those of a triangle."""

STAIRS_UNTIL = 1536  # keys of a bfloat16 triangle, up to which steps of rows are quicker than tiles


class Kernel(StrEnum):
    """How attention is computed. Only `plain` makes scores and patterns that can be seen and changed.

    auto: what is quickest for the rows and keys at hand.
    """

    AUTO = "auto"
    PLAIN = "plain"
    TILED = "tiled"
    SDPA = "sdpa"


def chosen(asked: Kernel, spec: Attention, sight: Sight, dtype: torch.dtype) -> Kernel:
    """The kernel that runs: the one asked for where it obeys this layer's settings, else plain."""
    match asked:
        case Kernel.AUTO:
            return chosen(_quickest(spec, sight, dtype), spec, sight, dtype)
        case Kernel.TILED:
            return Kernel.PLAIN if sight.places is None else Kernel.TILED
        case Kernel.SDPA:
            return Kernel.SDPA if can_fuse(spec, sight) else Kernel.PLAIN
        case Kernel.PLAIN:
            return Kernel.PLAIN
        case _:
            assert_never(asked)


def described(asked: Kernel, device: str) -> str:
    """In words, what was asked for."""
    if asked is not Kernel.AUTO:
        return f"{asked.value} attention on {device}"
    return f"sdpa attention on {device}" + (", tiled where that is quicker" if device == "cpu" else "")


def _quickest(spec: Attention, sight: Sight, dtype: torch.dtype) -> Kernel:
    """By the prices; and tiled where anything else would hold numbers for every pair."""
    rows, keys = sight.query.shape[1], sight.key[0].shape[1]
    if sight.device.type != "cpu" or rows < TILED_ROWS or keys < TILED_FROM or sight.places is None:
        return Kernel.SDPA
    if not can_fuse(spec, sight) or spec.alibi is not None:
        return Kernel.TILED
    if sight.stairs and dtype is torch.bfloat16 and keys < STAIRS_UNTIL:
        return Kernel.SDPA
    computed = sight.visible if sight.triangle else rows * keys
    cheaper = sight.visible * TILED_PRICE.get(dtype, OTHER_PRICE) < computed
    return Kernel.TILED if cheaper else Kernel.SDPA


def holds_scores(asked: Kernel, spec: Spec) -> bool:
    """Whether a long run holds the scores of a layer: in plain attention, and where the fused product knows no way."""
    fusable = all(layer.attention.cap is None and not layer.attention.sinks for layer in spec.layers)
    return asked is Kernel.PLAIN or (asked is Kernel.SDPA and not fusable)


def can_fuse(spec: Attention, sight: Sight) -> bool:
    """Whether fused attention obeys this layer's settings.

    It knows no cap and no sinks; a distance bias, gradients and other devices than a CPU only in one part.
    """
    if spec.cap is not None or spec.sinks:
        return False
    on_cpu = sight.device.type == "cpu"
    return len(sight.key) == 1 or (on_cpu and spec.alibi is None and not torch.is_grad_enabled())
