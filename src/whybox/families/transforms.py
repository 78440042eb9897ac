"""The named transforms of the ledger: how a tensor of a file becomes canonical parameters ([out in], heads apart).

Each takes the array as stored and the layer's description, and returns one array per role, or raises ValueError when
the stored shape does not fit.
"""

import numpy as np

from whybox.spec import Layer

Array = np.ndarray
Stored = Array


def as_stored(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[out in] and vectors, unchanged."""
    return (array,)


def transposed(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[in out] (GPT-2's Conv1D) → [out in]."""
    return (array.T,)


def plus_one(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """Gemma's safetensors store w with gain 1 + w."""
    return (array + array.dtype.type(1),)


def query_heads(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[h·d c] → [h d c]; a bias [h·d] → [h d]."""
    attention = _of(layer).attention
    return (rows_to_heads(array, attention.heads, attention.head_width),)


def key_heads(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[g·d c] → [g d c]; for keys and values."""
    attention = _of(layer).attention
    return (rows_to_heads(array, attention.kv_heads, attention.head_width),)


def output_heads(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[c h·d] → [c h d]."""
    attention = _of(layer).attention
    if array.shape[1:] != (attention.heads * attention.head_width,):
        raise ValueError(array.shape)
    return (array.reshape(array.shape[0], attention.heads, attention.head_width),)


def query_heads_from_pairs(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """GGUF of architecture llama stores a0 b0 a1 b1 …; canonical rows are a0 a1 … b0 b1 … (per head)."""
    (heads,) = query_heads(array, layer)
    return (_pairs_to_halves(heads),)


def key_heads_from_pairs(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """As `query_heads_from_pairs`, with the groups of the keys."""
    (heads,) = key_heads(array, layer)
    return (_pairs_to_halves(heads),)


def fused_query_key_value(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[(h + 2g)·d c]: all queries, then all keys, then all values."""
    a = _of(layer).attention
    h, g, d = a.heads, a.kv_heads, a.head_width
    if array.shape[0] != (h + 2 * g) * d:
        raise ValueError(array.shape)
    query, key, value = np.split(array, [h * d, (h + g) * d])
    return rows_to_heads(query, h, d), rows_to_heads(key, g, d), rows_to_heads(value, g, d)


def fused_query_key_value_transposed(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[c 3·h·d] (GPT-2's Conv1D): transposed, then as `fused_query_key_value`."""
    return fused_query_key_value(array.T, layer)


def output_heads_transposed(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[h·d c] (GPT-2's Conv1D) → [c h d]."""
    return output_heads(array.T, layer)


def fused_gate_up(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[2f c]: the gate's rows, then the up rows."""
    f = _of(layer).mlp.width
    if array.shape[0] != 2 * f:
        raise ValueError(array.shape)
    return array[:f], array[f:]


def fused_per_head(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[h·3d c] of GPT-NeoX and BLOOM: each head's query, key and value rows lie together."""
    a = _of(layer).attention
    heads = rows_to_heads(array, a.heads, 3 * a.head_width)
    return tuple(np.split(heads, 3, axis=1))


def each_expert(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[e out in] → one [out in] per expert."""
    return tuple(array)


def each_expert_gate_up(array: Stored, layer: Layer | None) -> tuple[Array, ...]:
    """[e 2f c] → every expert's gate [f c], then every expert's up [f c]."""
    f = _of(layer).mlp.width
    if array.shape[1:2] != (2 * f,):
        raise ValueError(array.shape)
    return (*array[:, :f], *array[:, f:])


def rows_to_heads(array: Array, heads: int, width: int) -> Array:
    """[n·d …] → [n d …]; ValueError when the first axis is not n·d."""
    if array.shape[0] != heads * width:
        raise ValueError(array.shape)
    return array.reshape(heads, width, *array.shape[1:])


def _pairs_to_halves(heads: Array) -> Array:
    n, d, *rest = heads.shape
    return heads.reshape(n, d // 2, 2, *rest).swapaxes(1, 2).reshape(n, d, *rest)


def _of(layer: Layer | None) -> Layer:
    if layer is None:
        raise ValueError("this transform belongs inside a layer")
    return layer
