"""Small random decoders in memory: prime sizes, one for each kind of attention that an engine must obey."""

from dataclasses import replace

import numpy as np

from whybox.engine.reference import ReferenceEngine
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, Norm, NormKind, PlainRope, Spec
from whybox.weights import Weights, parameters

IDS = (2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5)


def spec(layers: int = 3, **attention: object) -> Spec:
    """c 13, v 19, f 17, 6 query heads on 2 kv heads of width 4, RoPE; `attention` overrides fields of each layer."""
    plain = Attention(heads=6, kv_heads=2, head_width=4, scale=0.5, rope=PlainRope(100.0, 4))
    norm = Norm(NormKind.RMS, 1e-5)
    layer = Layer(replace(plain, **attention), Mlp(17, Activation.SILU, gated=True), Layout.PRE, norm)  # type: ignore[arg-type]
    return Spec("random", width=13, vocab=19, context=64, layers=(layer,) * layers, final_norm=norm)


def engine(of: Spec, seed: int = 0, dtype: type = np.float64) -> ReferenceEngine:
    return ReferenceEngine(of, drawn(of, seed, dtype))


def drawn(of: Spec, seed: int = 0, dtype: type = np.float64) -> Weights:
    """Every parameter drawn anew: gains around 1, the rest with variance 1 / fan-in."""
    generator = np.random.default_rng(seed)
    return Weights({role: _drawn(role, shape, generator).astype(dtype) for role, shape in parameters(of).items()})


def _drawn(role: str, shape: tuple[int, ...], generator: np.random.Generator) -> np.ndarray:
    if role.endswith("gain"):
        return 1 + 0.3 * generator.normal(size=shape)
    return generator.normal(size=shape) * (1.0 if role == "embed" else 1.5 / np.sqrt(shape[-1]))
