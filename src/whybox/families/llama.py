"""Llama 2, 3, 3.x and everything of the same shape (SmolLM2): RMSNorm before each sublayer, RoPE, GQA, SwiGLU.

GGUF files of Mistral and Mixtral carry the architecture name `llama` too; those with experts are mixtures.
"""

from whybox.families import gguf_names as gguf
from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.rope import rope_from_config, rope_from_gguf
from whybox.families.shared import heads_from_config, rms_from_config, spec_from_config, swiglu_from_config
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, Moe, Spec


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads = heads_from_config(config)
    config.must_be("rope_interleaved", False)
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_config(config, heads.width),
        bias=(biased := config.get("attention_bias", bool, False)),
        out_bias=biased,
    )
    norm = rms_from_config(config)
    layer = Layer(attention, swiglu_from_config(config, bias=config.get("mlp_bias", bool, False)), Layout.PRE, norm)
    return spec_from_config(config, "llama", [layer] * config.need("num_hidden_layers", int), norm)


def _from_gguf(config: Config, file: WeightFile) -> Spec:
    sizes = gguf.sizes(config, "llama")
    heads = sizes.heads
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_gguf(config, "llama", heads.width, file),
    )
    layer = Layer(attention, _mlp_from_gguf(config), Layout.PRE, sizes.norm)
    return gguf.spec_from_gguf(config, "llama", [layer] * sizes.layers, sizes, file)


def _mlp_from_gguf(config: Config) -> Mlp | Moe:
    width = config.need("llama.feed_forward_length", int)
    experts = config.optional("llama.expert_count", int)
    if not experts:
        return Mlp(width, Activation.SILU, gated=True)
    config.note("experts: the chosen weights are divided by their sum (Mixtral's rule; not in the file)")
    return Moe(experts, config.need("llama.expert_used_count", int), width, Activation.SILU, normalise=True)


FAMILY = Family(
    name="llama",
    safetensors=Format(_from_config, (*hf.EMBEDDING, *hf.PRE_NORMS, *hf.ATTENTION, *hf.GATED_MLP), prefix="model."),
    gguf=Format(
        _from_gguf,
        (*gguf.EMBEDDING, *gguf.PRE_NORMS, *gguf.ATTENTION_FROM_PAIRS, *gguf.GATED_MLP, *gguf.EXPERTS),
    ),
    gguf_name="llama",
)
