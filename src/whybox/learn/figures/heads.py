"""Several heads, fewer keys: parameters, groups, memory order, and what settings of attention change."""

from dataclasses import replace

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.attention import as_heads, attention, mix, scores
from whybox.parts.position import rope_angles, rotate
from whybox.parts.softmax import softmax
from whybox.size.outline import Grouped
from whybox.spec import Attention, LinearRope, Pairing, PlainRope, Rope

Array = np.ndarray
N, H, G, D = 7, 6, 2, 8


def _attention_parameters(width: int) -> tuple[int, int]:
    """One of query, key, value and output; all four."""
    return width * width, 4 * width * width


def _kv_parameters(*kv_heads: int) -> Value:
    """2 · g · d · c for c = 4,096 and d = 128."""
    return tuple(float(2 * g * 128 * 4096) for g in kv_heads)


def _cache_ratios() -> Value:
    """Cache with a key for each of 32 query heads, over that with 1 and with 8 keys."""
    kept = [2 * a.kv_heads * a.width for a in (Grouped(32, g, 128) for g in (32, 1, 8))]
    return kept[0] / kept[1], kept[0] / kept[2]


def _groups() -> Value:
    """Of 32 query heads and 8 key/value heads: groups, and heads in each."""
    group_of = np.arange(32) // (32 // 8)
    return float(len(set(group_of.tolist()))), float((group_of == 0).sum())


def _drawn() -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(0)
    query, key, value = (rng.normal(size=(N, heads, D)) for heads in (H, G, G))
    return query, key, value


def _without_copies() -> Value:
    """Grouped attention against attention on keys and values that were repeated."""
    query, key, value = _drawn()
    grouped = mix(softmax(scores(query, key, 0.5)), value)
    key, value = (np.repeat(each, H // G, axis=1) for each in (key, value))
    return float(np.abs(grouped - mix(softmax(scores(query, key, 0.5)), value)).max())


def _memory_order() -> Value:
    """Of a transposed array: whether a view as rows is refused, and whether reshape makes a copy by itself."""
    turned = np.arange(24.0).reshape(2, 3, 4).swapaxes(0, 1)
    joined = turned.reshape(3, 8)
    view = turned.view()
    try:
        view.shape = (3, 8)
    except AttributeError:
        return 1.0, float(not np.shares_memory(joined, turned))
    return 0.0, float(not np.shares_memory(joined, turned))


def _products(heads: int) -> tuple[float, float]:
    """FLOPs of scores and mix for n = 64 and c = 512, and score entries, counted on the arrays."""
    x = np.zeros((64, 512))
    query = as_heads(x, heads)
    s = scores(query, query, 1.0)
    return float(2 * 2 * s.size * query.shape[-1]), float(s.size)


def _changing_settings() -> Value:
    """How many of six settings that industry adds change the result of the same attention by more than 0.001."""
    plain = Attention(heads=H, kv_heads=H, head_width=D, scale=D**-0.5, rope=PlainRope(1e4, D))
    base = _run(plain)
    others = [
        _run(replace(plain, cap=1.0)),
        _run(replace(plain, window=3)),
        _run(replace(plain, sinks=True), np.zeros(H)),
        _run(replace(plain, rope=LinearRope(PlainRope(1e4, D), 4.0))),
        _run(replace(plain, kv_heads=G)),
        _run(plain, normed=True),
    ]
    return float(sum(np.abs(other - base).max() > 1e-3 for other in others)), float(len(others))


def _run(spec: Attention, sinks: Array | None = None, normed: bool = False) -> Array:
    """normed: query and key of length √d, as qk-norm makes them."""
    rng, places = np.random.default_rng(0), np.arange(N)
    query, key, value = (rng.normal(size=(N, H, D)) for _ in range(3))
    key, value = (each[:, :: H // spec.kv_heads] for each in (key, value))
    if normed:
        query, key = (x / np.sqrt((x**2).mean(axis=-1, keepdims=True)) for x in (query, key))
    query, key = (_turned(x, spec.rope) for x in (query, key))
    return attention(query, key, value, places, places, spec, sinks).head_out


def _turned(x: Array, rope: Rope | None) -> Array:
    return x if rope is None else rotate(x, *rope_angles(rope, np.arange(N), N), Pairing.HALF)


TOYS: Toys = {
    "heads.parameters": lambda: tuple(map(float, _attention_parameters(512))),
    "heads.head_width": lambda: 512 / 8,
    "heads.parameters_2048": lambda: float(_attention_parameters(2048)[1]),
    "heads.kv_parameters": lambda: _kv_parameters(32, 1, 8),
    "heads.cache_ratios": _cache_ratios,
    "heads.groups": _groups,
    "heads.repeated": lambda: tuple(map(float, np.repeat(np.arange(2), 3))),
    "heads.tiled": lambda: tuple(map(float, np.tile(np.arange(2), 3))),
    "heads.grouped_error": _without_copies,
    "heads.memory_order": _memory_order,
    "heads.products": lambda: (_products(1)[0], _products(8)[0]),
    "heads.score_ratio": lambda: _products(8)[1] / _products(1)[1],
    "heads.changing_settings": _changing_settings,
}
