"""Faults at both ends: the embedding's scale, the head, its scale and cap."""

from dataclasses import replace

import numpy as np

from whybox.spec import Spec
from whybox.testing.faults.fault import Described, Fault, with_arrays
from whybox.weights import Weights


def embed_scale(value: float) -> Fault:
    """Embeddings multiplied by `value`."""
    return Fault("embed-scale", f"embeddings times {value:g}", lambda spec, w: (replace(spec, embed_scale=value), w))


def logit_scale(value: float) -> Fault:
    """Logits multiplied by `value`."""
    return Fault("logit-scale", f"logits times {value:g}", lambda spec, w: (replace(spec, logit_scale=value), w))


def logit_cap(value: float | None) -> Fault:
    """Logits held below `value`; None: not held at all."""
    what = "logits without their soft cap" if value is None else f"logits capped at {value:g}"
    return Fault("logit-cap", what, lambda spec, w: (replace(spec, logit_cap=value), w))


def _tied(spec: Spec, weights: Weights) -> Described:
    return replace(spec, tied=True), weights


def corrupt(role: str, rows: slice, seed: int = 0) -> Fault:
    """Some rows of one tensor exchanged for noise of the same size."""

    def changed(spec: Spec, weights: Weights) -> Described:
        array = weights[role].copy()
        noise = np.random.default_rng(seed).standard_normal(array[rows].shape)
        array[rows] = noise.astype(array.dtype) * array[rows].std()
        return spec, with_arrays(weights, {role: array})

    return Fault("corrupt-tensor", f"rows {rows.start}:{rows.stop} of {role} are noise", changed)


EMBEDDING_UNSCALED = Fault("embedding-unscaled", "embeddings as stored", embed_scale(1.0).changed)
NO_EMBED_NORM = Fault(
    "no-embed-norm", "embeddings without their norm", lambda spec, weights: (replace(spec, embed_norm=None), weights)
)
HEAD_TIED = Fault("head-tied", "the embedding used as head, though the file has its own", _tied)
