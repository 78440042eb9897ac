"""Both engines on one set of weights, for models of every kind that a Spec can describe."""

from dataclasses import replace

import numpy as np
import torch

from tests.engine.random_models import drawn, spec
from whybox.engine.fast import FastEngine, Kernel, Precision, pack
from whybox.engine.reference import ReferenceEngine
from whybox.spec import (
    Activation,
    DividedRope,
    Layer,
    Layout,
    LearnedPositions,
    LinearRope,
    LongRope,
    Mlp,
    Moe,
    Norm,
    NormKind,
    NtkRope,
    Pairing,
    PlainRope,
    QkNorm,
    Spec,
)

CPU = torch.device("cpu")
_ROPE = PlainRope(100.0, 4)
_LAYER_NORM = Norm(NormKind.LAYER, 1e-5, bias=True)


def _layers(of: Spec, **changes: object) -> Spec:
    return replace(of, layers=tuple(replace(layer, **changes) for layer in of.layers))  # type: ignore[arg-type]


def _alternating(first: Spec, second: Spec) -> Spec:
    mixed: list[Layer] = [(first, second)[i % 2].layers[i] for i in range(len(first.layers))]
    return replace(first, layers=tuple(mixed))


KINDS: dict[str, Spec] = {
    "plain": spec(),
    "multi-head": spec(heads=5, kv_heads=5),
    "multi-query": spec(heads=5, kv_heads=1),
    "window 5": spec(window=5),
    "window 1": spec(window=1),
    "global and local": _alternating(spec(), spec(window=4, rope=PlainRope(10.0, 4))),
    "cap": spec(cap=0.7),
    "sinks": spec(sinks=True),
    "sinks, window": spec(sinks=True, window=3),
    "alibi": spec(rope=None, alibi=(0.5, 0.25, 0.125, 0.4, 0.3, 0.2)),
    "alibi, window": spec(rope=None, alibi=(0.5, 0.25, 0.125, 0.4, 0.3, 0.2), window=5),
    "biases": spec(bias=True, out_bias=True),
    "qk-norm per head": spec(qk_norm=QkNorm.PER_HEAD),
    "qk-norm whole": spec(qk_norm=QkNorm.WHOLE),
    "interleaved": spec(rope=PlainRope(100.0, 4, Pairing.INTERLEAVED)),
    "partial rotary": spec(rope=PlainRope(100.0, 2)),
    "linear rope": spec(rope=LinearRope(_ROPE, 4.0)),
    "dynamic ntk": spec(rope=NtkRope(_ROPE, 2.0, 8)),
    "long rope": spec(rope=LongRope(_ROPE, (1.0, 1.5), (2.0, 4.0), 8, 1.2)),
    "divided rope": spec(rope=DividedRope(_ROPE, (1.0, 3.0))),
    "layer norm, post": _layers(spec(), layout=Layout.POST, norm=_LAYER_NORM),
    "sandwich": _layers(spec(), layout=Layout.SANDWICH),
    "inner post": _layers(spec(), layout=Layout.INNER_POST),
    "parallel": _layers(spec(), layout=Layout.PARALLEL, norm=_LAYER_NORM),
    "dense mlp with bias": _layers(spec(), mlp=Mlp(17, Activation.GELU_TANH, gated=False, bias=True)),
    "gated mlp with bias": _layers(spec(), mlp=Mlp(17, Activation.GELU_ERF, gated=True, bias=True)),
    "gated relu": _layers(spec(), mlp=Mlp(17, Activation.RELU, gated=True)),
    "relu": _layers(spec(), mlp=Mlp(17, Activation.RELU, gated=False)),
    "experts": _layers(spec(), mlp=Moe(5, 2, 7, Activation.SILU, normalise=True)),
    "experts, not normalised": _layers(spec(), mlp=Moe(5, 3, 7, Activation.SILU, normalise=False)),
    "learned positions": replace(spec(rope=None), positions=LearnedPositions(41, offset=2), embed_norm=_LAYER_NORM),
    "own head": replace(spec(), tied=False, head_bias=True, logit_scale=0.25, logit_cap=3.0, embed_scale=3.6),
}


def reference(of: Spec, seed: int = 0, dtype: type = np.float64) -> ReferenceEngine:
    return ReferenceEngine(of, drawn(of, seed, dtype))


def fast(of: Spec, precision: Precision = Precision.FP64, seed: int = 0, kernel: Kernel = Kernel.SDPA) -> FastEngine:
    dtype = np.float64 if precision is Precision.FP64 else np.float32
    return FastEngine(pack(of, drawn(of, seed, dtype), precision, CPU), kernel)
