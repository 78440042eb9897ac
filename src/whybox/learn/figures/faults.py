"""What one thing wrong does to the likelihood of text A: mean NLL in nats."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from whybox.engine.edit import Edit, cut, zero
from whybox.engine.rewired import VISIBLE, Rewire
from whybox.learn.figures.figure import OnModel, OnModels, Value
from whybox.learn.ground import Ground, chance, nll
from whybox.parts.attention import as_heads
from whybox.parts.flash import flash_attention, tiles
from whybox.parts.softmax import softmax
from whybox.spec import Attention, DividedRope, Layout, PlainRope, Rope, Spec
from whybox.testing import faults
from whybox.testing.faults import Fault
from whybox.testing.faults.fault import Described, in_layers, with_arrays, with_layers
from whybox.weights import Weights

Array = np.ndarray
AWAY = 8192
SINK_FROM = 8
TILE = 128


def _model_wide(plain: PlainRope) -> Rope:
    """Frequencies base^(−2i/c), of the model's width c = 576, on the pairs of a head."""
    pairs = np.arange(plain.width // 2)
    return DividedRope(plain, tuple(map(float, plain.base ** (2 * pairs / 576 - 2 * pairs / plain.width))))


def _renormalised(value: Array, before: Mapping[str, Array]) -> Array:
    late = softmax(before["scores"]) * before[VISIBLE]
    return np.asarray(late / late.sum(axis=-1, keepdims=True))


def _without_output_matrix(spec: Spec, weights: Weights) -> Described:
    """W_O = I in every layer: the heads side by side are what is added."""
    one = as_heads(np.eye(spec.width, dtype=weights.dtype), spec.layers[0].attention.heads)
    return spec, with_arrays(weights, dict.fromkeys(in_layers("out")(spec), one))


def _in_tiles(value: Array, before: Mapping[str, Array]) -> Array:
    """The same attention, keys in tiles of 128."""
    query, key, held = before["query_pos"], before["key_pos"], before["value"]
    places, width = np.arange(len(query)), query.shape[-1]
    spec = Attention(heads=query.shape[1], kv_heads=key.shape[1], head_width=width, scale=width**-0.5)
    return flash_attention(query, places, tiles(key, held, places, TILE), spec)


WIDE_ROPE = faults.rope_scaled("by the model's width", _model_wide)
RENORMALISED = Fault("", "", rewires=(Rewire("pattern", _renormalised, ("scores", VISIBLE)),))
POST_NORM = Fault("", "", lambda spec, w: (with_layers(spec, lambda at: replace(at, layout=Layout.POST)), w))
NO_OUTPUT_MATRIX = Fault("", "", _without_output_matrix)
TILED = Fault("", "", rewires=(Rewire("head_out", _in_tiles, ("query_pos", "key_pos", "value")),))


def _with(fault: Fault) -> OnModel:
    return OnModel(lambda ground: ground.text_a.with_fault(fault))


def _moved_away(ground: Ground) -> Value:
    """NLL with every position 8,192 further on."""
    text, engine = ground.text_a, ground.model.on_reference().engine
    far = replace(engine.fresh_cache(len(text.ids)), seen=AWAY)
    return nll(engine.run(text.ids, (), (), far).logits, text.ids)


def other_eps(ground: Ground) -> float:
    """NLL with ε 1e-6 in place of 1e-5."""
    return ground.text_a.with_fault(faults.eps(1e-6))


def _eps_change(ground: Ground) -> Value:
    return abs(ground.once(other_eps) - ground.text_a.nll)


def _no_final_norm(ground: Ground) -> Value:
    """The last stream goes into the head as it is. The default model's head has no bias, scale or cap."""
    text, spec, weights = ground.text_a, ground.model.spec, ground.model.weights
    stream = text.base["resid_post", len(spec.layers) - 1]
    return nll(stream @ weights["embed" if spec.tied else "head"].T, text.ids)


def _cached(ground: Ground) -> Value:
    """Largest distance of logits between one pass and two, the second behind the first one's cache."""
    text, engine = ground.text_a, ground.model.engine
    half = len(text.ids) // 2
    first = engine.run(text.ids[:half], (), (), engine.fresh_cache(len(text.ids)), tail=1)
    second = engine.run(text.ids[half:], (), (), first.cache)
    return float(np.abs(second.logits - text.base.logits[half:]).max())


def _tiled(ground: Ground) -> Value:
    """In float32, stored against tiles: largest distance of logits, and how many of 512 first choices differ."""
    model, text = ground.model, ground.text_a
    logits = TILED.engine_for(model.spec, model.weights).run(text.ids).logits
    flips = logits.argmax(axis=1) != text.base.logits.argmax(axis=1)
    return float(np.abs(logits - text.base.logits).max()), float(flips.sum())


def _without_sink(edit: Edit) -> OnModel:
    """Change of NLL, from the 9th row on, when no query but the first sees key 0."""

    def change(ground: Ground) -> Value:
        text = ground.text_a
        logits = ground.model.engine.run(text.ids, (), (edit,)).logits
        return nll(logits, text.ids, SINK_FROM) - nll(text.base.logits, text.ids, SINK_FROM)

    return OnModel(change)


ON_MODEL: OnModels = {
    "faults.none": OnModel(lambda ground: ground.text_a.nll, runs=0),
    "faults.chance": OnModel(lambda ground: chance(ground.model.spec.vocab), runs=0),
    "faults.moved_away": OnModel(_moved_away),
    "faults.no_rope": _with(faults.NO_ROPE),
    "faults.rope_of_model_width": _with(WIDE_ROPE),
    "faults.rope_base_1e4": _with(faults.theta(1e4)),
    "faults.rope_pairing": _with(faults.ROPE_PAIRING),
    "faults.unscaled": _with(faults.NO_SCORE_SCALE),
    "faults.late_mask": _with(faults.MASK_AFTER_SOFTMAX),
    "faults.late_mask_renormalised": _with(RENORMALISED),
    "faults.tiled_heads": _with(faults.KV_HEADS_TILED),
    "faults.eps": OnModel(_eps_change),
    "faults.mean_subtracted": _with(faults.NORM_KIND),
    "faults.gain_plus_one": _with(faults.GAIN_TWICE),
    "faults.post_norm": _with(POST_NORM),
    "faults.no_final_norm": OnModel(_no_final_norm, runs=0),
    "faults.gate_and_up": _with(faults.GATE_UP_EXCHANGED),
    "faults.no_output_matrix": _with(NO_OUTPUT_MATRIX),
    "faults.cached": OnModel(_cached),
    "faults.tiled": OnModel(_tiled),
    "faults.no_sink": _without_sink(cut(q=slice(1, None), k=0)),
    "faults.no_sink_not_renormalised": _without_sink(zero("pattern", q=slice(1, None), k=0)),
}
