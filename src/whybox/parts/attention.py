"""Soft lookup: a query scores every key, the scores become weights, the weights mix the values.

Query heads h share key/value heads g in groups of r: head h reads kv head h // r. Keys and values are never repeated:
the r heads of a group become rows of one matrix product. g = h is multi-head, g = 1 multi-query attention.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int

from whybox.errors import UsageError
from whybox.parts.mask import visible
from whybox.parts.position import alibi_bias
from whybox.parts.softmax import softmax
from whybox.spec import Attention


def scores(
    query: Float[np.ndarray, "q h d"], key: Float[np.ndarray, "k g d"], scale: float
) -> Float[np.ndarray, "h q k"]:
    """s = scale · q · k. Source: scaled dot-product attention, arXiv 1706.03762; groups, arXiv 2305.13245."""
    rows, heads, width = query.shape
    per_group = _per_group(heads, key.shape[1])
    # The scale is applied to the query: it has fewer numbers than the scores.
    grouped = (query * float(scale)).reshape(rows, -1, per_group, width).transpose(1, 2, 0, 3)
    product = grouped.reshape(-1, per_group * rows, width) @ key.transpose(1, 2, 0)
    return product.reshape(heads, rows, -1)


def soft_cap(s: Float[np.ndarray, "*rows k"], cap: float) -> Float[np.ndarray, "*rows k"]:
    """cap · tanh(s / cap): leaves small scores alone, holds large ones below the cap. Before the mask."""
    out = s / float(cap)
    np.tanh(out, out=out)
    out *= float(cap)
    return out


def mix(pattern: Float[np.ndarray, "h q k"], value: Float[np.ndarray, "k g d"]) -> Float[np.ndarray, "q h d"]:
    """Σ_k pattern · value: each head's weighted mean of its kv head's values."""
    heads, rows, keys = pattern.shape
    groups, width = value.shape[1:]
    per_group = _per_group(heads, groups)
    mixed = pattern.reshape(groups, per_group * rows, keys) @ value.transpose(1, 0, 2)
    return mixed.reshape(heads, rows, width).transpose(1, 0, 2)


def join_heads(head_out: Float[np.ndarray, "q h d"]) -> Float[np.ndarray, "q hd"]:
    """The heads of a row side by side, head 0 first."""
    return head_out.reshape(head_out.shape[0], -1)


def project_out(head_out: Float[np.ndarray, "q h d"], weight: Float[np.ndarray, "c h d"]) -> Float[np.ndarray, "q c"]:
    """Concat(heads) · W_O = Σ_h head_h · W_O[h]: the one place where heads mix."""
    return join_heads(head_out) @ weight.reshape(weight.shape[0], -1).T


def as_heads(x: Float[np.ndarray, "q hd"], heads: int) -> Float[np.ndarray, "q h d"]:
    """A merged projection seen as heads: the first d columns are head 0. A view."""
    return x.reshape(x.shape[0], heads, _width(x.shape[-1], heads))


def split_heads(x: Float[np.ndarray, "*b q c"], heads: int) -> Float[np.ndarray, "*b h q d"]:
    """Heads as a leading axis, by reshape and transpose. Reshaping straight to h q d would cut rows, not columns."""
    return np.swapaxes(x.reshape(*x.shape[:-1], heads, _width(x.shape[-1], heads)), -3, -2)


@dataclass(frozen=True, eq=False)
class Attended:
    """The stages of one attention, in order."""

    scores: Float[np.ndarray, "h q k"]
    pattern: Float[np.ndarray, "h q k"]
    head_out: Float[np.ndarray, "q h dv"]


def attention(
    query: Float[np.ndarray, "q h d"],
    key: Float[np.ndarray, "k g d"],
    value: Float[np.ndarray, "k g dv"],
    query_pos: Int[np.ndarray, "q"],
    key_pos: Int[np.ndarray, "k"],
    spec: Attention,
    sinks: Float[np.ndarray, "h"] | None = None,
) -> Attended:
    """The plain path, which obeys every setting: scale, cap, ALiBi, window, sinks; query and key come rotated.

    Order: scale → cap → distance bias → mask → softmax → mix.
    """
    s = shaped_scores(query, key, query_pos, key_pos, spec)
    pattern = softmax(s, visible(query_pos, key_pos, spec.window), sinks)
    return Attended(s, pattern, mix(pattern, value))


def shaped_scores(
    query: Float[np.ndarray, "q h d"],
    key: Float[np.ndarray, "k g d"],
    query_pos: Int[np.ndarray, "q"],
    key_pos: Int[np.ndarray, "k"],
    spec: Attention,
) -> Float[np.ndarray, "h q k"]:
    """Scaled, soft-capped, distance bias added: what stands before the mask."""
    s = scores(query, key, spec.scale)
    if spec.cap is not None:
        s = soft_cap(s, spec.cap)
    if spec.alibi is not None:
        s += alibi_bias(np.asarray(spec.alibi, s.dtype), query_pos, key_pos)
    return s


def one_head(
    query: Float[np.ndarray, "q d"],
    key: Float[np.ndarray, "k d"],
    value: Float[np.ndarray, "k dv"],
    seen: Bool[np.ndarray, "q k"] | None = None,
) -> tuple[Float[np.ndarray, "q dv"], Float[np.ndarray, "q k"]]:
    """softmax(QKᵀ/√d)V in one line, with its pattern: the smallest attention there is."""
    pattern = softmax(query @ key.T / float(np.sqrt(query.shape[-1])), seen)
    return pattern @ value, pattern


def _per_group(heads: int, kv_heads: int) -> int:
    if kv_heads == 0 or heads % kv_heads:
        raise UsageError(f"expected query heads = r · kv heads, found {heads} query heads and {kv_heads} kv heads")
    return heads // kv_heads


def _width(merged: int, heads: int) -> int:
    if heads == 0 or merged % heads:
        raise UsageError(f"expected a merged width = heads · d, found width {merged} and {heads} heads")
    return merged // heads
