"""Gemma 2: norms before and after each sublayer, capped scores and logits, every other layer through a window."""

from collections.abc import Mapping
from dataclasses import replace

from whybox.families import gguf_names as gguf
from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.gemma import EMBEDDING, geglu_from_config, scaled
from whybox.families.rope import rope_from_config, rope_from_gguf
from whybox.families.shared import (
    heads_from_config,
    local_layers,
    rms_from_config,
    spec_from_config,
    window_from_config,
)
from whybox.families.transforms import plus_one
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, Spec
from whybox.weights import Rule

_NORMS = {
    "input_layernorm": "attn_norm",
    "post_attention_layernorm": "attn_post_norm",
    "pre_feedforward_layernorm": "mlp_norm",
    "post_feedforward_layernorm": "mlp_post_norm",
}
SANDWICH_NORMS = tuple(
    Rule(f"{hf.LAYER}{tensor}.weight", (f"{hf.TO}{role}.gain",), plus_one) for tensor, role in _NORMS.items()
)
_SCALARS = {46: 144.0}
"""Layers → query_pre_attn_scalar where it is not the head's width (27B); GGUF files do not state it."""


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads, norm = heads_from_config(config), rms_from_config(config)
    count = config.need("num_hidden_layers", int)
    window = window_from_config(config, default=4096)
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=config.get("query_pre_attn_scalar", float, 256.0) ** -0.5,
        rope=rope_from_config(config, heads.width),
        cap=cap(config, "attn_logit_softcapping", 50.0),
        bias=(biased := config.get("attention_bias", bool, False)),
        out_bias=biased,
    )
    mlp, logit_cap = geglu_from_config(config), cap(config, "final_logit_softcapping", 30.0)
    layers = [
        Layer(replace(attention, window=window if local else None), mlp, Layout.SANDWICH, norm)
        for local in local_layers(config, count, _is_local, "layers 0, 2, 4 … through the window")
    ]
    return replace(scaled(spec_from_config(config, "gemma2", layers, norm, tied=True)), logit_cap=logit_cap)


def cap(config: Config, key: str, default: float | None) -> float | None:
    """A soft cap: null is none; where the key itself is absent the family's default holds, and is said."""
    if key in config.values or default is None:
        return config.optional(key, float)
    return config.get(key, float, default)


def _is_local(layer: int) -> bool:
    return layer % 2 == 0


def scale_from_table(config: Config, layers: int, scalars: Mapping[int, float], head_width: int) -> float:
    """scalar^(−1/2) from the family's table: the head's width but for the sizes listed."""
    scalar = scalars.get(layers, float(head_width))
    config.note(f"query_pre_attn_scalar = {scalar:g} (not in the file; by the table of {layers} layers)")
    return float(scalar**-0.5)


def _from_gguf(config: Config, file: WeightFile) -> Spec:
    sizes = gguf.sizes(config, "gemma2")
    heads = sizes.heads
    window = config.need("gemma2.attention.sliding_window", int)
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=scale_from_table(config, sizes.layers, _SCALARS, heads.width),
        rope=rope_from_gguf(config, "gemma2", heads.width, file),
        cap=config.get("gemma2.attn_logit_softcapping", float, 50.0),
    )
    logit_cap = config.get("gemma2.final_logit_softcapping", float, 30.0)
    mlp = Mlp(config.need("gemma2.feed_forward_length", int), Activation.GELU_TANH, gated=True)
    config.note("layers 0, 2, 4 … through the window (not in the file; the family's rule)")
    layers = [
        Layer(replace(attention, window=window if _is_local(index) else None), mlp, Layout.SANDWICH, sizes.norm)
        for index in range(sizes.layers)
    ]
    return replace(scaled(gguf.spec_from_gguf(config, "gemma2", layers, sizes, file)), logit_cap=logit_cap)


FAMILY = Family(
    name="gemma2",
    safetensors=Format(_from_config, (*EMBEDDING, *SANDWICH_NORMS, *hf.ATTENTION, *hf.GATED_MLP), prefix="model."),
    gguf=Format(_from_gguf, (*gguf.EMBEDDING, *gguf.PRE_NORMS, *gguf.POST_NORMS, *gguf.ATTENTION, *gguf.GATED_MLP)),
    gguf_name="gemma2",
)
