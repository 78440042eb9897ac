"""Attention over the parts that a batch can look at: plain, which shows everything, and the fused product of torch.

Query heads h share key/value heads g in groups of r: the r heads of a group become rows of one product, keys and
values are never repeated. Order everywhere: scale → cap → distance bias → mask → softmax → mix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property
from typing import assert_never

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn import functional

from whybox.engine.fast.keys import Part
from whybox.engine.fast.tiled import ROWS, Places
from whybox.engine.fast.tiled import sight as reach
from whybox.spec import Attention, Spec

TILED_FROM = 256  # keys: with fewer, tiles are too small to be worth their calls
TILED_PRICE = {torch.bfloat16: 0.55}
"""Seconds that a visible pair costs in tiles, over what it costs in torch's fused product, on a CPU with AVX-512 …"""
OTHER_PRICE = 1.25
"""… and in other types. The fused product pays for hidden pairs as well, except those of a triangle."""


class Kernel(StrEnum):
    """How attention is computed. Only `plain` makes scores and patterns that can be seen and changed.

    auto: what is quickest for the rows and keys at hand.
    """

    AUTO = "auto"
    PLAIN = "plain"
    TILED = "tiled"
    SDPA = "sdpa"


@dataclass(frozen=True, eq=False)
class Sight:
    """Which keys the rows of a pass can see: a predicate on positions, made a mask only where one is asked for."""

    query: Int[np.ndarray, "n q"]
    key: tuple[Int[np.ndarray, "_m _k"], ...]
    window: int | None
    device: torch.device

    @cached_property
    def everything(self) -> bool:
        """Every row sees every key: no mask is needed."""
        latest = max(int(part.max(initial=-1)) for part in self.key)
        earliest = min(int(part.min(initial=latest)) for part in self.key)
        near = self.window is None or earliest > int(self.query.max()) - self.window
        return latest <= int(self.query.min()) and near

    @cached_property
    def triangle(self) -> bool:
        """Keys are the rows themselves, in rising order, all of them within the window: a lower triangle."""
        if len(self.key) != 1 or not np.array_equal(self.key[0], self.query):
            return False
        near = self.window is None or int((self.query[:, -1] - self.query[:, 0]).max()) < self.window
        return near and bool((np.diff(self.query, axis=1) > 0).all())

    @cached_property
    def places(self) -> Places | None:
        """One row of rising positions, where all sequences of the batch have the same in one part; else None."""
        if len(self.key) != 1 or len(self.key[0]) != len(self.query):
            return None
        plain = all(
            (places == places[:1]).all() and (np.diff(places[0]) >= 0).all() for places in (self.query, *self.key)
        )
        return Places(self.query[0], self.key[0][0]) if plain else None

    @cached_property
    def visible(self) -> int:
        """Pairs of a query and a key that it sees, where all sequences have the same places."""
        assert self.places is not None
        end, oldest = reach(self.places.query, self.places.key, self.window)
        return int((end - oldest).sum())

    @cached_property
    def mask(self) -> Bool[Tensor, "n q k"] | None:
        """True = visible; None where everything is."""
        if self.everything:
            return None
        if self.triangle:
            rows = self.query.shape[1]
            return torch.ones(1, rows, rows, dtype=torch.bool, device=self.device).tril()
        each = [self._part(part) for part in self.key]
        rows = max(map(len, each))
        seen = np.concatenate([np.broadcast_to(part, (rows, *part.shape[1:])) for part in each], axis=-1)
        return torch.from_numpy(seen).to(self.device)

    def _part(self, key: Int[np.ndarray, "m k"]) -> Bool[np.ndarray, "n q k"]:
        query, key = self.query[:, :, None], key[:, None, :]
        seen: Bool[np.ndarray, "n q k"] = key <= query
        return seen if self.window is None else seen & (key > query - self.window)


def beside(parts: Sequence[Int[np.ndarray, "_m _k"]]) -> Int[np.ndarray, "m k"]:
    """The positions of several parts as one axis k; what all rows share is repeated only where others differ."""
    rows = max(map(len, parts))
    return np.concatenate([np.broadcast_to(part, (rows, part.shape[1])) for part in parts], axis=1)


@dataclass
class Sights:
    """The sights of one pass; layers that look at the same places share one."""

    query: Int[np.ndarray, "n q"]
    device: torch.device
    _known: dict[int | None, Sight] = field(default_factory=dict)

    def of(self, parts: Sequence[Part], window: int | None) -> Sight:
        places = tuple(part.positions for part in parts)
        known = self._known.get(window)
        if known is None or not _same(known.key, places):
            known = self._known[window] = Sight(self.query, places, window, self.device)
        return known


def _same(before: Sequence[np.ndarray], after: Sequence[np.ndarray]) -> bool:
    return len(before) == len(after) and all(a is b or np.array_equal(a, b) for a, b in zip(before, after, strict=True))


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
    if sight.device.type != "cpu" or rows < ROWS or keys < TILED_FROM or sight.places is None:
        return Kernel.SDPA
    if not can_fuse(spec, sight) or spec.alibi is not None:
        return Kernel.TILED
    computed = sight.visible if sight.triangle else rows * keys
    cheaper = sight.visible * TILED_PRICE.get(dtype, OTHER_PRICE) < computed
    return Kernel.TILED if cheaper else Kernel.SDPA


def scores(query: Float[Tensor, "b h q d"], parts: Sequence[Part], spec: Attention) -> Float[Tensor, "b h q k"]:
    """s = scale · q · k over all parts, soft-capped, distance bias not yet added; float32 at least."""
    scaled = query * spec.scale
    found = torch.cat([_products(scaled, part.key) for part in parts], dim=-1)
    found = found.float() if found.dtype.itemsize < 4 else found
    return found if spec.cap is None else torch.tanh(found / spec.cap) * spec.cap


def _products(query: Float[Tensor, "b h q d"], key: Float[Tensor, "n g k d"]) -> Float[Tensor, "b h q k"]:
    batch, heads, rows, width = query.shape
    own, groups, keys, _ = key.shape
    if own == batch:
        grouped = query.reshape(batch, groups, heads // groups * rows, width)
        return (grouped @ key.transpose(-1, -2)).reshape(batch, heads, rows, keys)
    grouped = query.unflatten(1, (groups, -1)).transpose(0, 1).reshape(groups, -1, width)
    product = grouped @ key[0].transpose(-1, -2)
    return product.reshape(groups, batch, heads // groups, rows, keys).transpose(0, 1).reshape(batch, heads, rows, keys)


def mix(pattern: Float[Tensor, "b h q k"], parts: Sequence[Part]) -> Float[Tensor, "b h q dv"]:
    """Σ_k pattern · value over all parts."""
    sizes = [part.key.shape[2] for part in parts]
    mixed = [_mixed(own, part.value) for own, part in zip(pattern.split(sizes, dim=-1), parts, strict=True)]
    return mixed[0] if len(mixed) == 1 else torch.stack(mixed).sum(dim=0)


def _mixed(pattern: Float[Tensor, "b h q k"], value: Float[Tensor, "n g k dv"]) -> Float[Tensor, "b h q dv"]:
    batch, heads, rows, keys = pattern.shape
    own, groups, _, width = value.shape
    pattern = pattern.to(value.dtype)
    if own == batch:
        grouped = pattern.reshape(batch, groups, heads // groups * rows, keys)
        return (grouped @ value).reshape(batch, heads, rows, width)
    grouped = pattern.unflatten(1, (groups, -1)).transpose(0, 1).reshape(groups, -1, keys)
    product = (grouped @ value[0]).reshape(groups, batch, heads // groups, rows, width)
    return product.transpose(0, 1).reshape(batch, heads, rows, width)


def distance_bias(
    spec: Attention, query: Int[np.ndarray, "n q"], parts: Sequence[Part]
) -> Float[Tensor, "n h q k"] | None:
    """ALiBi: −slope · |query position − key position|, in float32 at least."""
    if spec.alibi is None:
        return None
    dtype, device = torch.promote_types(parts[0].key.dtype, torch.float32), parts[0].key.device
    slopes = torch.tensor(spec.alibi, dtype=dtype, device=device)[:, None, None]
    distance = np.abs(query[:, :, None] - beside([part.positions for part in parts])[:, None, :])
    return -slopes * torch.from_numpy(distance).to(device, dtype)[:, None]


def softmax(
    s: Float[Tensor, "b h q k"], visible: Bool[Tensor, "n q k"] | None, sinks: Float[Tensor, "h"] | None
) -> tuple[Float[Tensor, "b h q k"], Float[Tensor, "b h q"] | None]:
    """The pattern, and the share of the learned sinks. A row that sees nothing is 0 throughout, never NaN."""
    hidden = s if visible is None else s.masked_fill(~visible[:, None], -torch.inf)
    if sinks is not None:
        beside = sinks.to(s.dtype)[None, :, None, None].expand(*s.shape[:-1], 1)
        whole = torch.softmax(torch.cat([hidden, beside], dim=-1), dim=-1)
        return whole[..., :-1], whole[..., -1]
    pattern = torch.softmax(hidden, dim=-1)
    if visible is None:
        return pattern, None
    return pattern.masked_fill(~visible.any(dim=-1)[:, None, :, None], 0), None


def holds_scores(asked: Kernel, spec: Spec) -> bool:
    """Whether a long run holds the scores of a layer: in plain attention, and where the fused product knows no way."""
    fusable = all(layer.attention.cap is None and not layer.attention.sinks for layer in spec.layers)
    return asked is Kernel.PLAIN or (asked is Kernel.SDPA and not fusable)


def can_fuse(spec: Attention, sight: Sight) -> bool:
    """Whether torch's fused attention obeys this layer's settings: it knows no cap and no sinks, and one part only."""
    return spec.cap is None and not spec.sinks and len(sight.key) == 1


def fused(
    query: Float[Tensor, "b h q d"], part: Part, sight: Sight, bias: Float[Tensor, "b h q k"] | None, spec: Attention
) -> Float[Tensor, "b h q dv"]:
    """torch's scaled_dot_product_attention; a lower triangle goes as such, so that its upper half is skipped."""
    causal = sight.triangle and not sight.everything and bias is None
    mask = None if causal or sight.mask is None else sight.mask[:, None]
    if bias is not None:
        mask = (bias if mask is None else bias.masked_fill(~mask, -torch.inf)).to(query.dtype)
    found: Tensor = functional.scaled_dot_product_attention(
        query,
        part.key,
        part.value,
        attn_mask=mask,
        is_causal=causal,
        scale=spec.scale,
        enable_gqa=part.key.shape[1] != query.shape[1],
    )
    return found
