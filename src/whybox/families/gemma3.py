"""Gemma 3 (text): five local layers to each global one, each kind with a RoPE of its own; query and key normed."""

from dataclasses import replace

from whybox.families import gguf_names as gguf
from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.gemma import EMBEDDING, geglu_from_config, scaled
from whybox.families.gemma2 import SANDWICH_NORMS, cap, scale_from_table
from whybox.families.rope import rope_from_config, rope_from_gguf, rope_of_part
from whybox.families.shared import (
    GLOBAL,
    LOCAL,
    heads_from_config,
    local_layers,
    rms_from_config,
    spec_from_config,
    window_from_config,
)
from whybox.families.transforms import plus_one
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, Norm, PlainRope, QkNorm, Rope, Spec

LOCAL_BASE, GLOBAL_BASE, PERIOD = 1e4, 1e6, 6
_SCALARS = {62: 168.0}
"""Layers → query_pre_attn_scalar where it is not the head's width (27B); GGUF files do not state it."""

_QK_NORMS = tuple(replace(rule, transform=plus_one) for rule in hf.QK_NORMS)


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads, norm = heads_from_config(config), rms_from_config(config)
    config.must_be("attn_logit_softcapping", None)
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=config.get("query_pre_attn_scalar", float, 256.0) ** -0.5,
        qk_norm=QkNorm.PER_HEAD,
        qk_norm_eps=norm.eps,
        bias=(biased := config.get("attention_bias", bool, False)),
        out_bias=biased,
    )
    window, ropes = window_from_config(config, default=4096), _ropes(config, heads.width)
    mlp, logit_cap = geglu_from_config(config), cap(config, "final_logit_softcapping", None)
    layers = _layers(attention, mlp, norm, _local(config), window, ropes)
    return replace(scaled(spec_from_config(config, "gemma3_text", layers, norm, tied=True)), logit_cap=logit_cap)


def _local(config: Config) -> tuple[bool, ...]:
    key = "_sliding_window_pattern" if config.has("_sliding_window_pattern") else "sliding_window_pattern"
    period = config.optional(key, int) or PERIOD
    config.used.add("sliding_window_pattern")
    rule = f"layers {period - 1}, {2 * period - 1} … global, the others through the window"
    return local_layers(config, config.need("num_hidden_layers", int), lambda layer: (layer + 1) % period != 0, rule)


def _ropes(config: Config, width: int) -> tuple[Rope, Rope]:
    """(local, global): nested `rope_parameters`, or the older keys, whose scaling is the global layers' alone."""
    if config.has("rope_parameters"):
        both = config.part("rope_parameters")
        ropes = tuple(
            rope_of_part(config, both.part(kind), PlainRope(base, width))
            for kind, base in ((LOCAL, LOCAL_BASE), (GLOBAL, GLOBAL_BASE))
        )
        config.notes.extend(both.finish())
        return ropes[0], ropes[1]
    local = PlainRope(config.get("rope_local_base_freq", float, LOCAL_BASE), width)
    return local, rope_from_config(config, width, base=GLOBAL_BASE)


def _layers(
    attention: Attention,
    mlp: Mlp,
    norm: Norm,
    local: tuple[bool, ...],
    window: int | None,
    ropes: tuple[Rope, Rope],
) -> list[Layer]:
    near = replace(attention, window=window, rope=ropes[0])
    far = replace(attention, rope=ropes[1])
    return [Layer(near if here else far, mlp, Layout.SANDWICH, norm) for here in local]


def _from_gguf(config: Config, file: WeightFile) -> Spec:
    sizes = gguf.sizes(config, "gemma3")
    heads = sizes.heads
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=scale_from_table(config, sizes.layers, _SCALARS, heads.width),
        qk_norm=QkNorm.PER_HEAD,
        qk_norm_eps=sizes.norm.eps,
    )
    mlp = Mlp(config.need("gemma3.feed_forward_length", int), Activation.GELU_TANH, gated=True)
    near = PlainRope(config.get("gemma3.rope.freq_base_swa", float, LOCAL_BASE), heads.width)
    ropes = near, rope_from_gguf(config, "gemma3", heads.width, file, base=GLOBAL_BASE)
    window = config.need("gemma3.attention.sliding_window", int)
    config.note("layers 5, 11, 17 … global, the others through the window (not in the file; the family's rule)")
    local = tuple((index + 1) % PERIOD != 0 for index in range(sizes.layers))
    logit_cap = config.optional("gemma3.final_logit_softcapping", float)
    layers = _layers(attention, mlp, sizes.norm, local, window, ropes)
    return replace(scaled(gguf.spec_from_gguf(config, "gemma3", layers, sizes, file)), logit_cap=logit_cap)


FAMILY = Family(
    name="gemma3_text",
    safetensors=Format(
        _from_config, (*EMBEDDING, *SANDWICH_NORMS, *hf.ATTENTION, *_QK_NORMS, *hf.GATED_MLP), prefix="model."
    ),
    gguf=Format(
        _from_gguf,
        (*gguf.EMBEDDING, *gguf.PRE_NORMS, *gguf.POST_NORMS, *gguf.ATTENTION, *gguf.QK_NORMS, *gguf.GATED_MLP),
    ),
    gguf_name="gemma3",
)
