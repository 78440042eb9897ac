"""Llama 2, 3, 3.x and everything of the same shape (SmolLM2): RMSNorm before each sublayer, RoPE, GQA, SwiGLU."""

from whybox.families import gguf_names as gguf
from whybox.families import hf_names as hf
from whybox.families.config import GGUF_NAMESPACES, IRRELEVANT, Config
from whybox.families.family import Family, Format
from whybox.families.head import tied_in_folder, tied_in_gguf
from whybox.families.rope import rope_from_config, rope_from_gguf
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, Norm, NormKind, Spec


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads = config.need("num_attention_heads", int)
    width = config.need("hidden_size", int)
    head_width = config.optional("head_dim", int) or width // heads
    config.must_be("hidden_act", "silu")
    attention = Attention(
        heads=heads,
        kv_heads=config.optional("num_key_value_heads", int) or heads,
        head_width=head_width,
        scale=head_width**-0.5,
        rope=rope_from_config(config, head_width),
        bias=(biased := config.get("attention_bias", bool, False)),
        out_bias=biased,
    )
    mlp = Mlp(
        config.need("intermediate_size", int), Activation.SILU, gated=True, bias=config.get("mlp_bias", bool, False)
    )
    norm = Norm(NormKind.RMS, config.get("rms_norm_eps", float, 1e-6))
    layers = config.need("num_hidden_layers", int)
    return Spec(
        family="llama",
        width=width,
        vocab=config.need("vocab_size", int),
        context=config.need("max_position_embeddings", int),
        layers=(Layer(attention, mlp, Layout.PRE, norm),) * layers,
        final_norm=norm,
        tied=tied_in_folder(config, file, default=False),
        notes=config.finish(IRRELEVANT),
    )


def _from_gguf(config: Config, file: WeightFile) -> Spec:
    heads = config.need("llama.attention.head_count", int)
    width = config.need("llama.embedding_length", int)
    head_width = config.optional("llama.attention.key_length", int) or width // heads
    config.must_be("llama.attention.value_length", head_width)
    attention = Attention(
        heads=heads,
        kv_heads=config.optional("llama.attention.head_count_kv", int) or heads,
        head_width=head_width,
        scale=head_width**-0.5,
        rope=rope_from_gguf(config, "llama", head_width, file),
    )
    mlp = Mlp(config.need("llama.feed_forward_length", int), Activation.SILU, gated=True)
    norm = Norm(NormKind.RMS, config.need("llama.attention.layer_norm_rms_epsilon", float))
    layers = config.need("llama.block_count", int)
    return Spec(
        family="llama",
        width=width,
        vocab=gguf.vocabulary(config, "llama", file),
        context=config.need("llama.context_length", int),
        layers=(Layer(attention, mlp, Layout.PRE, norm),) * layers,
        final_norm=norm,
        tied=tied_in_gguf(config, file),
        notes=config.finish(namespaces=GGUF_NAMESPACES),
    )


FAMILY = Family(
    name="llama",
    safetensors=Format(_from_config, (*hf.EMBEDDING, *hf.PRE_NORMS, *hf.ATTENTION, *hf.GATED_MLP)),
    gguf=Format(_from_gguf, (*gguf.EMBEDDING, *gguf.PRE_NORMS, *gguf.ATTENTION_FROM_PAIRS, *gguf.GATED_MLP)),
    gguf_name="llama",
)
