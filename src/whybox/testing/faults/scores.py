"""Faults of attention: scale, cap, window, mask, softmax, and which key/value head a query head reads."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from whybox.engine.rewired import VISIBLE, Rewire
from whybox.parts.rounding import rounded
from whybox.parts.softmax import softmax
from whybox.spec import Attention, Spec
from whybox.testing.faults.fault import Described, Fault, attention, with_arrays, with_layers
from whybox.weights import Weights

Array = np.ndarray


def score_scale(value: float) -> Fault:
    """Every layer's scores multiplied by `value` instead of 1/√d."""
    return Fault("score-scale", f"scores times {value:g}", attention(lambda a: replace(a, scale=value)))


def score_scale_times(factor: float) -> Fault:
    """Every layer's scores multiplied by `factor` once more."""
    what = f"scores times {factor:g} of the right scale"
    return Fault("score-scale", what, attention(lambda a: replace(a, scale=a.scale * factor)))


def score_cap(value: float | None) -> Fault:
    """Scores held below `value`; None: not held at all."""
    what = "scores without their soft cap" if value is None else f"scores capped at {value:g}"
    return Fault("score-cap", what, attention(lambda a: replace(a, cap=value)))


def window(by: int) -> Fault:
    """Sliding windows `by` tokens wider (or narrower); layers without one stay as they are."""
    return Fault("window", f"windows {by:+d}", attention(lambda a: a if a.window is None else _wider(a, by)))


def _wider(a: Attention, by: int) -> Attention:
    return replace(a, window=(a.window or 0) + by)


def window_everywhere(width: int) -> Fault:
    """A sliding window in layers that have none."""
    what = f"a window of {width} in layers that see everything"
    return Fault("window-everywhere", what, attention(lambda a: replace(a, window=a.window or width)))


def _tiled(spec: Spec, weights: Weights) -> Described:
    """Query head h reads key/value head h % g: the same as key/value heads laid out anew, one for each query head."""
    arrays: dict[str, Array] = {}
    for index, layer in enumerate(spec.layers):
        heads, groups = layer.attention.heads, layer.attention.kv_heads
        order = np.arange(heads) % groups
        roles = ("key", "value", "key_bias", "value_bias") if layer.attention.bias else ("key", "value")
        arrays |= {name: weights[name][order] for role in roles if (name := f"layers.{index}.{role}")}
    ungrouped = with_layers(spec, lambda at: replace(at, attention=replace(at.attention, kv_heads=at.attention.heads)))
    return ungrouped, with_arrays(weights, arrays)


def _ungapped(value: Array, before: Mapping[str, Array]) -> Array:
    return np.asarray(softmax(before["scores"]) * before[VISIBLE])


def _unmasked(value: Array, before: Mapping[str, Array]) -> Array:
    return np.asarray(softmax(before["scores"]))


def softmax_in(precision: str) -> Fault:
    """The softmax computed in a low precision: scores and weights are rounded to it."""

    def coarse(value: Array, before: Mapping[str, Array]) -> Array:
        coarse_scores = rounded(before["scores"], precision)
        return np.asarray(rounded(softmax(coarse_scores, before[VISIBLE]), precision))

    rewire = Rewire("pattern", coarse, ("scores", VISIBLE))
    return Fault("softmax-precision", f"softmax in {precision}", rewires=(rewire,))


NO_SCORE_SCALE = Fault("no-score-scale", "scores without 1/√d", score_scale(1.0).changed)
NO_CAP = score_cap(None)
NO_WINDOW = Fault("no-window", "every layer sees everything", attention(lambda a: replace(a, window=None)))
WINDOW_OFF_BY_ONE = Fault("window-off-by-one", "windows one token too wide", window(1).changed)
KV_HEADS_TILED = Fault("kv-heads-tiled", "query head h reads kv head h % g instead of h // r", _tiled)
NO_SINKS = Fault("no-sinks", "softmax without its learned sinks", attention(lambda a: replace(a, sinks=False)))
NO_ALIBI = Fault("no-alibi", "scores without the distance bias", attention(lambda a: replace(a, alibi=None)))
MASK_AFTER_SOFTMAX = Fault(
    "mask-after-softmax",
    "hidden keys zeroed after the softmax, so that rows do not sum to 1",
    rewires=(Rewire("pattern", _ungapped, ("scores", VISIBLE)),),
)
NO_MASK = Fault(
    "no-mask", "every query sees all keys, later ones too", rewires=(Rewire("pattern", _unmasked, ("scores",)),)
)
