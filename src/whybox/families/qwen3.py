"""Qwen3: Llama's block with an RMSNorm on each query and key head before position."""

from whybox.families import gguf_names as gguf
from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.qwen2 import windows
from whybox.families.rope import rope_from_config, rope_from_gguf
from whybox.families.shared import heads_from_config, rms_from_config, spec_from_config, swiglu_from_config
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, QkNorm, Spec


def _from_config(config: Config, file: WeightFile) -> Spec:
    norm, mlp = rms_from_config(config), swiglu_from_config(config)
    layers = [Layer(attention, mlp, Layout.PRE, norm) for attention in attentions(config, norm.eps, windows(config))]
    return spec_from_config(config, "qwen3", layers, norm)


def attentions(config: Config, eps: float, per_layer: tuple[int | None, ...]) -> list[Attention]:
    """Each layer's attention; the mixtures of the family share it."""
    heads = heads_from_config(config)
    rope, biased = rope_from_config(config, heads.width), config.get("attention_bias", bool, False)
    return [
        Attention(
            heads=heads.count,
            kv_heads=heads.kv,
            head_width=heads.width,
            scale=heads.width**-0.5,
            rope=rope,
            window=window,
            qk_norm=QkNorm.PER_HEAD,
            qk_norm_eps=eps,
            bias=biased,
            out_bias=biased,
        )
        for window in per_layer
    ]


def _from_gguf(config: Config, file: WeightFile) -> Spec:
    sizes = gguf.sizes(config, "qwen3")
    heads = sizes.heads
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_gguf(config, "qwen3", heads.width, file),
        qk_norm=QkNorm.PER_HEAD,
        qk_norm_eps=sizes.norm.eps,
    )
    mlp = Mlp(config.need("qwen3.feed_forward_length", int), Activation.SILU, gated=True)
    layer = Layer(attention, mlp, Layout.PRE, sizes.norm)
    return gguf.spec_from_gguf(config, "qwen3", [layer] * sizes.layers, sizes, file)


FAMILY = Family(
    name="qwen3",
    safetensors=Format(
        _from_config,
        (*hf.EMBEDDING, *hf.PRE_NORMS, *hf.ATTENTION, *hf.QK_NORMS, *hf.GATED_MLP),
        prefix="model.",
    ),
    gguf=Format(_from_gguf, (*gguf.EMBEDDING, *gguf.PRE_NORMS, *gguf.ATTENTION, *gguf.QK_NORMS, *gguf.GATED_MLP)),
    gguf_name="qwen3",
)
