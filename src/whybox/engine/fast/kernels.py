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

from whybox.engine.fast.grouped import mixed, products
from whybox.engine.fast.keys import NOWHERE, Part
from whybox.engine.fast.stairs import attend_in_stairs, corner
from whybox.engine.fast.tiled import ROWS, Places
from whybox.engine.fast.tiled import sight as reach
from whybox.spec import Attention, Spec

TILED_FROM = 256  # keys: with fewer, tiles are too small to be worth their calls
TILED_PRICE = {torch.bfloat16: 0.55}
"""Seconds that a visible pair costs in tiles, over what it costs in torch's fused product, on a CPU with AVX-512 …"""
OTHER_PRICE = 1.25
"""… and in other types. The fused product pays for hidden pairs as well, except those of a triangle."""

STAIRS_UNTIL = 1536  # keys of a bfloat16 triangle, up to which steps of rows are quicker than tiles
SHARED_FROM = 32  # rows from which repeating the keys that all sequences share costs little beside their scores


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
        near = self.window is None or earliest > int(self._real.max()) - self.window
        return latest <= int(self.query.min()) and near

    @cached_property
    def triangle(self) -> bool:
        """Keys are the rows themselves, in rising order, all of them within the window: a lower triangle."""
        return self.stairs and len(self.key) == 1 and self.key[0].shape == self.query.shape

    @cached_property
    def stairs(self) -> bool:
        """The last keys are the rows themselves, as in a triangle, and every row sees all that come before."""
        rows = self.query.shape[1]
        *_, last = self.key
        if not np.array_equal(last[:, -rows:], self.query) or not (np.diff(self.query, axis=1) > 0).all():
            return False
        before = [*self.key[:-1], last[:, : last.shape[1] - rows]]
        first = self._real.min(axis=1)
        latest = max(int(part.max(initial=-1)) for part in before)
        earliest = min(int(part.min(initial=NOWHERE)) for part in before)
        near = self.window is None or int((self._real.max(axis=1) - np.minimum(first, earliest)).max()) < self.window
        return near and latest <= int(first.min())

    @cached_property
    def corner(self) -> Float[Tensor, "n n"]:
        """What is added to the scores where a step of a triangle meets the diagonal."""
        return corner(self.device)

    @cached_property
    def _real(self) -> Int[np.ndarray, "b q"]:
        """Where padding looks from does not matter: it is counted as its sequence's first row."""
        return np.where(self.query < NOWHERE, self.query, self.query[:, :1])

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

    @cached_property
    def each(self) -> tuple["Sight", ...]:
        """The sight of every part by itself."""
        return tuple(Sight(self.query, (part,), self.window, self.device) for part in self.key)

    @cached_property
    def blind(self) -> Bool[Tensor, "n q"] | None:
        """Rows that see nothing; None where all see something."""
        if self.mask is None or self.triangle:
            return None
        blind = ~self.mask.any(dim=-1)
        return blind if bool(blind.any()) else None

    @cached_property
    def hidden(self) -> Bool[Tensor, "n q k"] | None:
        """True = not visible; None where everything is."""
        return None if self.mask is None else ~self.mask

    @cached_property
    def penalty(self) -> Float[Tensor, "n q k"]:
        """What is added to scores: 0 where a key is visible, else −∞."""
        assert self.mask is not None
        return torch.zeros(self.mask.shape, device=self.device).masked_fill_(~self.mask, -torch.inf)

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
    return len(before) == len(after) and all(map(_equal, before, after))


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    """Asked in every layer, where comparing bytes costs a tenth of `np.array_equal`."""
    return a is b or (a.shape == b.shape and a.tobytes() == b.tobytes())


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
    if sight.stairs and dtype is torch.bfloat16 and keys < STAIRS_UNTIL:
        return Kernel.SDPA
    computed = sight.visible if sight.triangle else rows * keys
    cheaper = sight.visible * TILED_PRICE.get(dtype, OTHER_PRICE) < computed
    return Kernel.TILED if cheaper else Kernel.SDPA


def scores(query: Float[Tensor, "b h q d"], parts: Sequence[Part], spec: Attention) -> Float[Tensor, "b h q k"]:
    """s = scale · q · k over all parts, soft-capped, distance bias not yet added; float32 at least."""
    scaled = query * spec.scale
    each = [products(scaled, part.key) for part in parts]
    found = each[0] if len(parts) == 1 else torch.cat(each, dim=-1)
    found = found.float() if found.dtype.itemsize < 4 else found
    return found if spec.cap is None else torch.tanh(found / spec.cap) * spec.cap


def mix(pattern: Float[Tensor, "b h q k"], parts: Sequence[Part]) -> Float[Tensor, "b h q dv"]:
    """Σ_k pattern · value over all parts."""
    sizes = [part.key.shape[2] for part in parts]
    each = [mixed(own, part.value) for own, part in zip(pattern.split(sizes, dim=-1), parts, strict=True)]
    return each[0] if len(each) == 1 else torch.stack(each).sum(dim=0)


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
    s: Float[Tensor, "b h q k"], sight: Sight, sinks: Float[Tensor, "h"] | None
) -> tuple[Float[Tensor, "b h q k"], Float[Tensor, "b h q"] | None]:
    """The pattern, and the share of the learned sinks. A row that sees nothing is 0 throughout, never NaN."""
    seen = s if sight.hidden is None else s.masked_fill(sight.hidden[:, None], -torch.inf)
    if sinks is not None:
        beside = sinks.to(s.dtype)[None, :, None, None].expand(*s.shape[:-1], 1)
        whole = torch.softmax(torch.cat([seen, beside], dim=-1), dim=-1)
        return whole[..., :-1], whole[..., -1]
    pattern = torch.softmax(seen, dim=-1)
    return pattern if sight.blind is None else pattern.masked_fill(sight.blind[:, None, :, None], 0), None


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


def fused(
    query: Float[Tensor, "b h q d"],
    parts: Sequence[Part],
    sight: Sight,
    bias: Float[Tensor, "n h q k"] | None,
    spec: Attention,
) -> Float[Tensor, "b h q dv"]:
    """torch's fused attention, in one product or in one for each part; on a CPU its better for a bfloat16 triangle."""
    if bias is None and _on_stairs(query, parts, sight):
        return attend_in_stairs(query, parts, sight.corner, spec)
    if len(parts) > 1:
        return merged([_partial(query, part, each, spec) for part, each in zip(parts, sight.each, strict=True)])
    if query.shape[2] == 1:
        return _single(query, parts[0], sight, bias, spec)
    return _whole(query, parts[0], sight, bias, spec)


def _on_stairs(query: Float[Tensor, "b h q d"], parts: Sequence[Part], sight: Sight) -> bool:
    enough = query.shape[2] >= (2 if len(parts) == 1 else SHARED_FROM)
    return enough and query.dtype is torch.bfloat16 and query.device.type == "cpu" and sight.stairs


def _whole(
    query: Float[Tensor, "b h q d"], part: Part, sight: Sight, bias: Float[Tensor, "n h q k"] | None, spec: Attention
) -> Float[Tensor, "b h q dv"]:
    """torch's scaled_dot_product_attention; a lower triangle goes as such, so that its upper half is skipped."""
    causal = sight.triangle and not sight.everything and bias is None
    mask = None if causal or sight.mask is None else sight.mask[:, None]
    found: Tensor = functional.scaled_dot_product_attention(
        query,
        part.key,
        part.value,
        attn_mask=_with(bias, mask, query.dtype),
        is_causal=causal,
        scale=spec.scale,
        enable_gqa=part.key.shape[1] != query.shape[1],
    )
    return found


def _single(
    query: Float[Tensor, "b h 1 d"], part: Part, sight: Sight, bias: Float[Tensor, "n h 1 k"] | None, spec: Attention
) -> Float[Tensor, "b h 1 dv"]:
    """One row: the r heads of a group see the same keys, so that they are rows of one product."""
    groups = part.key.shape[1]
    mask = None if sight.mask is None else sight.mask[:, None]
    found = functional.scaled_dot_product_attention(
        query.reshape(query.shape[0], groups, -1, query.shape[-1]),
        part.key,
        part.value,
        attn_mask=_with(None if bias is None else bias.squeeze(2).unflatten(1, (groups, -1)), mask, query.dtype),
        scale=spec.scale,
    )
    return found.reshape(*query.shape[:3], -1)


def _with(bias: Tensor | None, mask: Tensor | None, dtype: torch.dtype) -> Tensor | None:
    """A distance bias and a mask as one."""
    if bias is None:
        return mask
    return (bias if mask is None else bias.masked_fill(~mask, -torch.inf)).to(dtype)


Mixed = tuple[Float[Tensor, "b h q dv"], Float[Tensor, "b h q"]]


def _partial(query: Float[Tensor, "b h q d"], part: Part, sight: Sight, spec: Attention) -> Mixed:
    """Attention over one part, and ln Σ e^score of each row: its weight among the parts."""
    batch, heads, rows, width = query.shape
    own, groups = part.key.shape[:2]
    if own == batch and rows > 1:
        return _flash(query, part, sight, spec)
    if own == 1 and sight.everything:
        grouped = query.unflatten(1, (groups, -1)).transpose(0, 1).reshape(1, groups, -1, width)
        found = _flash(grouped, part, sight, spec)
        mixed, weight = (x.view(groups, batch, -1, *x.shape[3:]).transpose(0, 1) for x in found)
        return mixed.reshape(batch, heads, rows, -1), weight.reshape(batch, heads, rows)
    if own != batch:
        key, value = (x.expand(batch, -1, -1, -1) for x in (part.key, part.value))
        return _partial(query, Part(key, value, part.positions), sight, spec)
    mixed, weight = _flash(query.squeeze(2).unflatten(1, (groups, -1)), part, sight, spec)
    return mixed.flatten(1, 2).unsqueeze(2), weight.flatten(1, 2).unsqueeze(2)


def _flash(query: Float[Tensor, "b h q d"], part: Part, sight: Sight, spec: Attention) -> Mixed:
    """torch's fused attention on a CPU, which tells the weight too. A row that sees nothing weighs −∞."""
    causal = sight.triangle and not sight.everything
    mask = None if causal or sight.everything else sight.penalty.to(query.dtype)[:, None]
    mixed, weight = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
        query,
        part.key,
        part.value,
        is_causal=causal,
        attn_mask=None if mask is None else mask.expand(-1, -1, query.shape[2], -1),
        scale=spec.scale,
    )
    return mixed, weight if sight.blind is None else weight.masked_fill(sight.blind[:, None], -torch.inf)


def merged(parts: Sequence[Mixed]) -> Float[Tensor, "b h q dv"]:
    """Σ_i out_i · e^(w_i) / Σ_i e^(w_i), as online softmax joins its blocks; in float32 at least."""
    mixed, weights = zip(*parts, strict=True)
    shares = torch.softmax(torch.stack(weights), dim=0)[..., None]
    whole: Tensor = sum(share * own for share, own in zip(shares, mixed, strict=True))
    return whole.to(mixed[0].dtype)
