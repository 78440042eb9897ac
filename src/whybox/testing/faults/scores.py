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


_SCALED = "`query_pos` and `key_pos` are exact; every score is off by one factor, which a row of one key does not feel."
_WINDOWED = "Exact up to the window's last position; from there on one key more or less is in view."
_CAPPED = "`query_pos` and `key_pos` are exact; large scores part, small ones do not."


def score_scale(value: float) -> Fault:
    """Every layer's scores multiplied by `value` instead of 1/√d."""
    what = f"scores times {value:g}"
    return Fault("score-scale", what, attention(lambda a: replace(a, scale=value)), why=_SCALED)


def score_scale_times(factor: float) -> Fault:
    """Every layer's scores multiplied by `factor` once more."""
    what = f"scores times {factor:g} of the right scale"
    return Fault("score-scale", what, attention(lambda a: replace(a, scale=a.scale * factor)), why=_SCALED)


def score_cap(value: float | None) -> Fault:
    """Scores held below `value`; None: not held at all."""
    what = "scores without their soft cap" if value is None else f"scores capped at {value:g}"
    return Fault("score-cap", what, attention(lambda a: replace(a, cap=value)), why=_CAPPED)


def window(by: int) -> Fault:
    """Sliding windows `by` tokens wider (or narrower); layers without one stay as they are."""
    change = attention(lambda a: a if a.window is None else _wider(a, by))
    return Fault("window", f"windows {by:+d}", change, why=_WINDOWED)


def _wider(a: Attention, by: int) -> Attention:
    return replace(a, window=(a.window or 0) + by)


def window_everywhere(width: int) -> Fault:
    """A sliding window in layers that have none."""
    what = f"a window of {width} in layers that see everything"
    return Fault("window-everywhere", what, attention(lambda a: replace(a, window=a.window or width)), why=_WINDOWED)


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
    why = f"Scores are exact; weights are numbers of {precision}, made from scores of {precision}."
    return Fault("softmax-precision", f"softmax in {precision}", rewires=(rewire,), rounds=precision, why=why)


NO_SCORE_SCALE = Fault("no-score-scale", "scores without 1/√d", score_scale(1.0).changed, why=_SCALED)
NO_CAP = score_cap(None)
NO_WINDOW = Fault(
    "no-window", "every layer sees everything", attention(lambda a: replace(a, window=None)), why=_WINDOWED
)
WINDOW_OFF_BY_ONE = Fault("window-off-by-one", "windows one token too wide", window(1).changed, why=_WINDOWED)
KV_HEADS_TILED = Fault(
    "kv-heads-tiled",
    "query head h reads kv head h % g instead of h // r",
    _tiled,
    why="Query, key and value are exact; the heads whose h % g is not h // r are other, the rest is exact.",
)
NO_SINKS = Fault(
    "no-sinks",
    "softmax without its learned sinks",
    attention(lambda a: replace(a, sinks=False)),
    why="Scores are exact; every row of weights sums to 1, where a share belongs to the sink.",
)
NO_ALIBI = Fault(
    "no-alibi",
    "scores without the distance bias",
    attention(lambda a: replace(a, alibi=None)),
    why="Scores are off by slope · distance: nothing at distance 0, more the further, another slope in every head.",
)
MASK_AFTER_SOFTMAX = Fault(
    "mask-after-softmax",
    "hidden keys zeroed after the softmax, so that rows do not sum to 1",
    rewires=(Rewire("pattern", _ungapped, ("scores", VISIBLE)),),
    why="Scores are exact; rows sum to less than 1 wherever a later key exists, and the last row is exact.",
)
NO_MASK = Fault(
    "no-mask",
    "every query sees all keys, later ones too",
    rewires=(Rewire("pattern", _unmasked, ("scores",)),),
    why="Scores are exact; weight lies on keys that come later, and the last row is exact.",
)
