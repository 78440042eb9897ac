"""BLOOM: no positions but ALiBi's penalty on distance, a norm on the embedding, LayerNorm, query-key-value per head."""

from whybox.families.config import IRRELEVANT, Config
from whybox.families.family import Family, Format
from whybox.families.hf_names import linear, norm
from whybox.families.transforms import as_stored, fused_per_head, output_heads
from whybox.formats import WeightFile
from whybox.parts.position import alibi_slopes
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, Norm, NormKind, Spec
from whybox.weights import Rule

_IRRELEVANT = (
    "slow_but_exact",  # the same sums in another order
    "attention_softmax_in_fp32",
    "masked_softmax_fusion",
    "bias_dropout_fusion",
    "skip_bias_add",
    "skip_bias_add_qkv",
    "offset_alibi",  # a constant per row of scores, which the softmax cancels
)
_FROM, _TO = "transformer.h.{l}.", "layers.{l}."
_FUSED = (_TO + "query", _TO + "key", _TO + "value")

_RULES = (
    Rule("transformer.word_embeddings.weight", ("embed",), as_stored),
    *norm("transformer.word_embeddings_layernorm", "embed_norm"),
    *norm("transformer.ln_f", "final_norm"),
    Rule("lm_head.weight", ("head",), as_stored),
    *norm(_FROM + "input_layernorm", _TO + "attn_norm"),
    *norm(_FROM + "post_attention_layernorm", _TO + "mlp_norm"),
    Rule(_FROM + "self_attention.query_key_value.weight", _FUSED, fused_per_head),
    Rule(_FROM + "self_attention.query_key_value.bias", tuple(f"{role}_bias" for role in _FUSED), fused_per_head),
    *linear(_FROM + "self_attention.dense", _TO + "out", output_heads),
    *linear(_FROM + "mlp.dense_h_to_4h", _TO + "up", as_stored),
    *linear(_FROM + "mlp.dense_4h_to_h", _TO + "down", as_stored),
)


def _from_config(config: Config, file: WeightFile) -> Spec:
    width = config.need("n_embed" if config.has("n_embed") else "hidden_size", int)
    heads, count = (
        _either(config, *keys) for keys in (("n_head", "num_attention_heads"), ("n_layer", "num_hidden_layers"))
    )
    config.must_be("apply_residual_connection_post_layernorm", False)
    config.must_be("n_inner", 4 * width)
    attention = Attention(
        heads=heads,
        kv_heads=heads,
        head_width=width // heads,
        scale=(width // heads) ** -0.5,
        alibi=tuple(alibi_slopes(heads).tolist()),
        bias=True,
        out_bias=True,
    )
    final = Norm(NormKind.LAYER, config.get("layer_norm_epsilon", float, 1e-5), bias=True)
    mlp = Mlp(4 * width, Activation.GELU_TANH, gated=False, bias=True)
    return Spec(
        family="bloom",
        width=width,
        vocab=config.need("vocab_size", int),
        context=config.get("seq_length", int, 2048),
        layers=(Layer(attention, mlp, Layout.PRE, final),) * count,
        final_norm=final,
        embed_norm=final,
        tied=config.get("tie_word_embeddings", bool, True),
        notes=config.finish((*IRRELEVANT, *_IRRELEVANT)),
    )


def _either(config: Config, key: str, older: str) -> int:
    return config.need(key if config.has(key) else older, int)


FAMILY = Family(name="bloom", safetensors=Format(_from_config, _RULES, prefix="transformer."))
