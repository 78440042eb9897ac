"""Faults that real inference code shipped, one at a time, around the reference engine.

Where a fault is another description or other weights it is data: a `Spec` or `Weights` with something replaced. Where
it is another arithmetic it is an engine of `whybox.testing.faulty_engines`. `FAULTS` names those without parameters.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from whybox.engine.choice import NUMPY
from whybox.engine.reference import ReferenceEngine
from whybox.model import Model
from whybox.parts.rope import plain_of
from whybox.spec import (
    Activation,
    Attention,
    DividedRope,
    Layer,
    LinearRope,
    Llama3Rope,
    LongRope,
    Mlp,
    Moe,
    Norm,
    NtkRope,
    PlainRope,
    Rope,
    Spec,
    YarnRope,
)
from whybox.testing.faulty_engines import CacheSlotOffByOne, MaskAfterSoftmax
from whybox.weights import Origin, Weights

Array = np.ndarray
Described = tuple[Spec, Weights]
Changed = Callable[[Spec, Weights], Described]


def _nothing(spec: Spec, weights: Weights) -> Described:
    return spec, weights


@dataclass(frozen=True)
class Fault:
    """name; what goes wrong, in one line; how the description or the weights differ; the engine that runs them."""

    name: str
    what: str
    changed: Changed = _nothing
    engine: type[ReferenceEngine] = ReferenceEngine

    def engine_for(self, spec: Spec, weights: Weights) -> ReferenceEngine:
        """An engine with this fault."""
        return self.engine(*self.changed(spec, weights))

    def of(self, model: Model) -> Model:
        """The same file, run with this fault by a NumPy engine: what it is compared with had better be one as well."""
        return replace(model, engine=self.engine_for(model.spec, model.weights), way=NUMPY)


def score_scale(value: float) -> Fault:
    """Every layer's scores multiplied by `value` instead of 1/√d."""
    return Fault("score-scale", f"scores times {value:g}", _attention(lambda a: replace(a, scale=value)))


def window(by: int) -> Fault:
    """Sliding windows `by` tokens wider (or narrower); layers without one stay as they are."""
    return Fault("window", f"windows {by:+d}", _attention(lambda a: a if a.window is None else _wider(a, by)))


def _wider(attention: Attention, by: int) -> Attention:
    return replace(attention, window=(attention.window or 0) + by)


def theta(base: float) -> Fault:
    """The base of RoPE replaced in every layer."""
    return Fault("theta", f"RoPE base {base:g}", _attention(lambda a: _rebased(a, base)))


def local_theta(base: float) -> Fault:
    """The base of RoPE replaced in layers with a sliding window."""
    return Fault("local-theta", f"RoPE base {base:g} in local layers", _attention(lambda a: _local(a, base)))


def _local(attention: Attention, base: float) -> Attention:
    return attention if attention.window is None else _rebased(attention, base)


def _rebased(attention: Attention, base: float) -> Attention:
    return attention if attention.rope is None else replace(attention, rope=_with_base(attention.rope, base))


def _with_base(rope: Rope, base: float) -> Rope:
    plain = replace(plain_of(rope), base=base)
    match rope:
        case PlainRope():
            return plain
        case LinearRope() | NtkRope() | Llama3Rope() | YarnRope() | LongRope() | DividedRope():
            return replace(rope, plain=plain)


def positions_divided(by: float) -> Fault:
    """Positions divided in layers without a sliding window, as larger members of a family have it."""
    return Fault("positions", f"global positions divided by {by:g}", _attention(lambda a: _slower(a, by)))


def _slower(attention: Attention, by: float) -> Attention:
    if attention.window is not None or attention.rope is None:
        return attention
    return replace(attention, rope=LinearRope(plain_of(attention.rope), by))


def eps(value: float) -> Fault:
    """The ε of every norm replaced."""
    return Fault("eps", f"ε {value:g} in every norm", lambda spec, weights: (_with_eps(spec, value), weights))


def _with_eps(spec: Spec, value: float) -> Spec:
    def norm(old: Norm) -> Norm:
        return replace(old, eps=value)

    layers = tuple(
        replace(layer, norm=norm(layer.norm), attention=replace(layer.attention, qk_norm_eps=value))
        for layer in spec.layers
    )
    embed = None if spec.embed_norm is None else norm(spec.embed_norm)
    return replace(spec, layers=layers, final_norm=norm(spec.final_norm), embed_norm=embed)


def embed_scale(value: float) -> Fault:
    """Embeddings multiplied by `value`."""
    return Fault("embed-scale", f"embeddings times {value:g}", lambda spec, w: (replace(spec, embed_scale=value), w))


def _gains(name: str, what: str, shift: float) -> Fault:
    def changed(spec: Spec, weights: Weights) -> Described:
        moved = {role: array + array.dtype.type(shift) for role, array in weights.items() if role.endswith(".gain")}
        return spec, _with_arrays(weights, moved)

    return Fault(name, what, changed)


def _attention(change: Callable[[Attention], Attention]) -> Changed:
    return lambda spec, weights: (_layers(spec, lambda at: replace(at, attention=change(at.attention))), weights)


def _layers(spec: Spec, change: Callable[[Layer], Layer]) -> Spec:
    return replace(spec, layers=tuple(map(change, spec.layers)))


def _with_arrays(weights: Weights, changed: dict[str, Array]) -> Weights:
    return replace(weights, arrays={**weights.arrays, **changed}, origin=Origin())


def _tiled(spec: Spec, weights: Weights) -> Described:
    """Query head h reads key/value head h % g: the same as key/value heads laid out anew, one for each query head."""
    arrays: dict[str, Array] = {}
    for index, layer in enumerate(spec.layers):
        heads, groups = layer.attention.heads, layer.attention.kv_heads
        order = np.arange(heads) % groups
        roles = ("key", "value", "key_bias", "value_bias") if layer.attention.bias else ("key", "value")
        arrays |= {name: weights[name][order] for role in roles if (name := f"layers.{index}.{role}")}
    ungrouped = _layers(spec, lambda at: replace(at, attention=replace(at.attention, kv_heads=at.attention.heads)))
    return ungrouped, _with_arrays(weights, arrays)


def _in_pairs(*roles: str) -> Changed:
    """Rows a0 a1 … b0 b1 … put back into the order a0 b0 a1 b1 … in which some files store them."""

    def changed(spec: Spec, weights: Weights) -> Described:
        names = [f"layers.{index}.{role}" for index in range(len(spec.layers)) for role in roles]
        return spec, _with_arrays(weights, {name: _paired(weights[name]) for name in names})

    return changed


def _paired(rows: Array) -> Array:
    heads, width, *rest = rows.shape
    return np.ascontiguousarray(rows.reshape(heads, 2, width // 2, *rest).swapaxes(1, 2).reshape(rows.shape))


def _final_gain_one(spec: Spec, weights: Weights) -> Described:
    return spec, _with_arrays(weights, {"final_norm.gain": np.ones_like(weights["final_norm.gain"])})


def _erf(spec: Spec, weights: Weights) -> Described:
    return _layers(spec, lambda at: replace(at, mlp=_with_erf(at.mlp))), weights


def _with_erf(mlp: Mlp | Moe) -> Mlp | Moe:
    return replace(mlp, activation=Activation.GELU_ERF) if mlp.activation is Activation.GELU_TANH else mlp


NO_SCORE_SCALE = Fault("no-score-scale", "scores without 1/√d", score_scale(1.0).changed)
NO_WINDOW = Fault("no-window", "every layer sees everything", _attention(lambda a: replace(a, window=None)))
KV_HEADS_TILED = Fault("kv-heads-tiled", "query head h reads kv head h % g instead of h // r", _tiled)
ROPE_ROWS = Fault("rope-rows", "query and key rows left in the file's pair order", _in_pairs("query", "key"))
ROPE_ROWS_OF_KEYS = Fault("rope-rows-of-keys", "key rows left in the file's pair order", _in_pairs("key"))
FINAL_GAIN_ONE = Fault("final-gain-one", "final norm without its gain", _final_gain_one)
GAIN_TWICE = _gains("gain-plus-one-twice", "one added to every norm's gain once more", 1.0)
GAIN_NEVER = _gains("gain-plus-one-never", "the one of every norm's gain left out", -1.0)
EMBEDDING_UNSCALED = Fault("embedding-unscaled", "embeddings as stored", embed_scale(1.0).changed)
ERF_GELU = Fault("erf-gelu", "exact GELU for the tanh form", _erf)
MASK_AFTER_SOFTMAX = Fault(
    "mask-after-softmax", "hidden keys zeroed after the softmax, so that rows do not sum to 1", engine=MaskAfterSoftmax
)
CACHE_SLOT = Fault("cache-slot", "new keys and values overwrite the last slot", engine=CacheSlotOffByOne)
WINDOW_OFF_BY_ONE = Fault("window-off-by-one", "windows one token too wide", window(1).changed)

FAULTS = {
    fault.name: fault
    for fault in (
        MASK_AFTER_SOFTMAX, NO_SCORE_SCALE, CACHE_SLOT, WINDOW_OFF_BY_ONE, NO_WINDOW, KV_HEADS_TILED, ROPE_ROWS,
        ROPE_ROWS_OF_KEYS, FINAL_GAIN_ONE, GAIN_TWICE, GAIN_NEVER, EMBEDDING_UNSCALED, ERF_GELU,
    )
}  # fmt: skip
