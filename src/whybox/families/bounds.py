"""Sizes and constants that no model can have: refused by name, before anything is built from them."""

import math
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeGuard

from whybox.errors import FormatError
from whybox.spec import (
    DividedRope,
    Layer,
    LinearRope,
    Llama3Rope,
    LongRope,
    Moe,
    NtkRope,
    PlainRope,
    Rope,
    Spec,
    YarnRope,
)

MOST_LAYERS = 4096
MOST_HEADS = 1 << 16
MOST_EXPERTS = 1 << 16
MOST_OTHER = (1 << 31) - 1

_LAYERS = ("num_hidden_layers", "n_layer", "block_count")
_HEADS = ("num_attention_heads", "n_head", "head_count")
_KV_HEADS = ("num_key_value_heads", "head_count_kv")
_HEAD_WIDTHS = ("head_dim", "key_length", "v_head_dim")
_WIDTHS = ("hidden_size", "n_embd", "embedding_length")
_OTHER = (
    "head_dim",
    "key_length",
    "dimension_count",
    "vocab_size",
    "intermediate_size",
    "feed_forward_length",
    "max_position_embeddings",
    "n_positions",
    "context_length",
    "original_max_position_embeddings",
    "original_context_length",
)
_MOST: Mapping[str, int] = MappingProxyType(
    dict.fromkeys(_LAYERS, MOST_LAYERS)
    | dict.fromkeys((*_HEADS, *_KV_HEADS), MOST_HEADS)
    | dict.fromkeys((*_WIDTHS, *_OTHER), MOST_OTHER)
)


def require_sizes(values: Mapping[str, object], path: object) -> None:
    """Every size in a configuration lies between 1 and what its kind can be. FormatError names the first that does not.

    What is no number at all is left to the reader of the key, who knows which type it must have.
    """
    for key, value in values.items():
        most = _MOST.get(key.rpartition(".")[2])
        if isinstance(value, Mapping):
            require_sizes(value, f"{path}: {key}")
        elif most is not None and _is_number(value) and not 1 <= value <= most:
            raise FormatError(path, key, f"a whole number from 1 to {most}", f"{value}"[:40])
    width, heads = _first(values, _WIDTHS), _first(values, _HEADS)
    if width is not None and heads is not None and width < heads:
        raise FormatError(path, "heads", f"at most the width, {width:g}", f"{heads:g}")
    if width is not None and heads is not None and width % heads and _first(values, _HEAD_WIDTHS) is None:
        raise FormatError(path, "heads", f"a divisor of the width, {width:g}", f"{heads:g}", "or give the head's width")


def require_sound(spec: Spec, path: object) -> None:
    """Constants with which the arithmetic means something. FormatError names the first that has no meaning."""
    for layer in dict.fromkeys(spec.layers):
        for field, expected, value, holds in _claims(layer):
            if not holds:
                raise FormatError(path, field, expected, f"{value}"[:40])
    experts = sum(layer.mlp.experts for layer in spec.layers if isinstance(layer.mlp, Moe))
    if experts > MOST_EXPERTS:
        raise FormatError(path, "experts", f"at most {MOST_EXPERTS} in all layers", str(experts))


Claim = tuple[str, str, float, bool]


def _claims(layer: Layer) -> Iterator[Claim]:
    """(field, what is expected, what is there, whether it holds) of one layer."""
    a, eps = layer.attention, layer.norm.eps
    yield "epsilon of the norm", "a number from 0 to 1", eps, 0 <= eps <= 1
    yield "key/value heads", f"a divisor of {a.heads} heads", a.kv_heads, a.kv_heads > 0 and a.heads % a.kv_heads == 0
    if a.window is not None:
        yield "sliding window", "at least 1 position", a.window, a.window >= 1
    if a.rope is not None:
        yield from _rope_claims(a.rope, a.head_width)
    if isinstance(layer.mlp, Moe):
        experts, active = layer.mlp.experts, layer.mlp.active
        yield "experts used per token", f"from 1 to {experts}", active, 1 <= active <= experts


def _rope_claims(rope: Rope, head_width: int) -> Iterator[Claim]:
    plain = rope if isinstance(rope, PlainRope) else rope.plain
    yield "rotary base (theta)", "a number above 0", plain.base, plain.base > 0
    even = f"an even number from 2 to the head's width, {head_width}"
    yield "rotary width", even, plain.width, 2 <= plain.width <= head_width and plain.width % 2 == 0
    match rope:
        case LinearRope() | NtkRope() | Llama3Rope() | YarnRope():
            yield "rotary scaling factor", "a number above 0", rope.factor, rope.factor > 0
            if isinstance(rope, Llama3Rope):
                yield "high_freq_factor", f"a number above low_freq_factor, {rope.low}", rope.high, rope.high > rope.low
        case LongRope():
            yield "rotary magnitude", "a finite number", rope.magnitude, math.isfinite(rope.magnitude)
            for divisors in (rope.short, rope.long):
                yield from _divisor_claims(divisors, plain.width // 2)
        case DividedRope():
            yield from _divisor_claims(rope.divisors, plain.width // 2)


def _divisor_claims(divisors: tuple[float, ...], pairs: int) -> Iterator[Claim]:
    yield "number of rotary divisors", f"{pairs}, one a pair", len(divisors), len(divisors) == pairs
    yield "rotary divisors", "numbers above 0", min(divisors, default=1.0), all(value > 0 for value in divisors)


def _first(values: Mapping[str, object], names: tuple[str, ...]) -> float | None:
    found = (value for key, value in values.items() if key.rpartition(".")[2] in names)
    return next((value for value in found if _is_number(value)), None)


def _is_number(value: object) -> TypeGuard[int | float]:
    return isinstance(value, int | float) and not isinstance(value, bool)
