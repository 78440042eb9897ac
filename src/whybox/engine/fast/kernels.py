"""Attention over the parts that a batch can look at: plain, which shows everything, and the fused product of torch.

Query heads h share key/value heads g in groups of r: the r heads of a group become rows of one product, keys and
values are never repeated. Order everywhere: scale → cap → distance bias → mask → softmax → mix.
"""

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn import functional

from whybox.engine.fast.grouped import mixed, products
from whybox.engine.fast.keys import Part
from whybox.engine.fast.sight import Sight, beside
from whybox.engine.fast.stairs import attend_in_stairs
from whybox.spec import Attention

SHARED_FROM = 32  # rows from which repeating the keys that all sequences share costs little beside their scores


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
