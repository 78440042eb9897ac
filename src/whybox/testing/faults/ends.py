"""Faults at both ends: the embedding's scale, the head, its scale and cap."""

from dataclasses import replace

import numpy as np

from whybox.spec import Spec
from whybox.testing.faults.fault import Described, Fault, with_arrays
from whybox.weights import Weights


def embed_scale(value: float) -> Fault:
    """Embeddings multiplied by `value`."""
    why = "`embed`, before the first layer, is off by one factor at every position and channel."
    return Fault(
        "embed-scale", f"embeddings times {value:g}", lambda spec, w: (replace(spec, embed_scale=value), w), why=why
    )


def logit_scale(value: float) -> Fault:
    """Logits multiplied by `value`."""
    why = "`final` is exact; every logit is off by one factor."
    return Fault(
        "logit-scale", f"logits times {value:g}", lambda spec, w: (replace(spec, logit_scale=value), w), why=why
    )


def logit_cap(value: float | None) -> Fault:
    """Logits held below `value`; None: not held at all."""
    what = "logits without their soft cap" if value is None else f"logits capped at {value:g}"
    why = "`final` is exact; large logits part and small ones do not, as cap · tanh(z / cap) has it."
    return Fault("logit-cap", what, lambda spec, w: (replace(spec, logit_cap=value), w), why=why)


def _tied(spec: Spec, weights: Weights) -> Described:
    return replace(spec, tied=True), weights


def corrupt(role: str, rows: slice, seed: int = 0) -> Fault:
    """Some rows of one tensor exchanged for noise of the same size."""

    def changed(spec: Spec, weights: Weights) -> Described:
        array = weights[role].copy()
        noise = np.random.default_rng(seed).standard_normal(array[rows].shape)
        array[rows] = noise.astype(array.dtype) * array[rows].std()
        return spec, with_arrays(weights, {role: array})

    why = "Exact up to the product with that tensor; with both files at hand the tensor itself is another."
    return Fault("corrupt-tensor", f"rows {rows.start}:{rows.stop} of {role} are noise", changed, why=why)


EMBEDDING_UNSCALED = Fault(
    "embedding-unscaled", "embeddings as stored", embed_scale(1.0).changed, why="`embed` is the table's row itself."
)
NO_EMBED_NORM = Fault(
    "no-embed-norm",
    "embeddings without their norm",
    lambda spec, weights: (replace(spec, embed_norm=None), weights),
    why="`embed` is the table's row before its norm.",
)
HEAD_TIED = Fault(
    "head-tied",
    "the embedding used as head, though the file has its own",
    _tied,
    why="`final` is exact; logits are its products with the embedding's rows.",
)
