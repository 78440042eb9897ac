"""GPT-2: learned positions, LayerNorm before each sublayer, one fused projection, Conv1D weights stored [in out]."""

from dataclasses import replace

from whybox.families import gguf_names as gguf
from whybox.families.config import IRRELEVANT, Config
from whybox.families.family import Family, Format
from whybox.families.hf_names import linear, norm
from whybox.families.shared import activation_from_config
from whybox.families.transforms import (
    as_stored,
    fused_query_key_value,
    fused_query_key_value_transposed,
    output_heads_transposed,
    transposed,
)
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, LearnedPositions, Mlp, Norm, NormKind, Spec
from whybox.weights import Rule

_IRRELEVANT = ("n_ctx", "reorder_and_upcast_attn")
_FROM, _TO = "transformer.h.{l}.", "layers.{l}."
_FUSED = (_TO + "query", _TO + "key", _TO + "value")

_RULES = (
    Rule("transformer.wte.weight", ("embed",), as_stored),
    Rule("transformer.wpe.weight", ("positions",), as_stored),
    *norm("transformer.ln_f", "final_norm"),
    Rule("lm_head.weight", ("head",), as_stored),
    *norm(_FROM + "ln_1", _TO + "attn_norm"),
    *norm(_FROM + "ln_2", _TO + "mlp_norm"),
    Rule(_FROM + "attn.c_attn.weight", _FUSED, fused_query_key_value_transposed),
    Rule(_FROM + "attn.c_attn.bias", tuple(f"{role}_bias" for role in _FUSED), fused_query_key_value),
    *linear(_FROM + "attn.c_proj", _TO + "out", output_heads_transposed),
    *linear(_FROM + "mlp.c_fc", _TO + "up", transposed),
    *linear(_FROM + "mlp.c_proj", _TO + "down", transposed),
    Rule(_FROM + "attn.bias", (), as_stored, unused="a stored causal mask"),
    Rule(_FROM + "attn.masked_bias", (), as_stored, unused="a stored constant of the causal mask"),
)


def _from_config(config: Config, file: WeightFile) -> Spec:
    width, heads, count = (config.need(key, int) for key in ("n_embd", "n_head", "n_layer"))
    config.must_be("add_cross_attention", False)
    attention = _attention(heads, width, scaled=config.get("scale_attn_weights", bool, True))
    mlp = Mlp(
        width=config.optional("n_inner", int) or 4 * width,
        activation=activation_from_config(config, "activation_function", "gelu_new"),
        gated=False,
        bias=True,
    )
    final = Norm(NormKind.LAYER, config.get("layer_norm_epsilon", float, 1e-5), bias=True)
    by_layer = config.get("scale_attn_by_inverse_layer_idx", bool, False)
    layers = tuple(
        Layer(replace(attention, scale=attention.scale / (index + 1 if by_layer else 1)), mlp, Layout.PRE, final)
        for index in range(count)
    )
    context = config.need("n_positions", int)
    return Spec(
        family="gpt2",
        width=width,
        vocab=config.need("vocab_size", int),
        context=context,
        layers=layers,
        final_norm=final,
        positions=LearnedPositions(context),
        tied=config.get("tie_word_embeddings", bool, True),
        notes=config.finish((*IRRELEVANT, *_IRRELEVANT)),
    )


def _attention(heads: int, width: int, scaled: bool = True) -> Attention:
    head_width = width // heads
    scale = head_width**-0.5 if scaled else 1.0
    return Attention(heads, heads, head_width, scale, bias=True, out_bias=True)


def _from_gguf(config: Config, file: WeightFile) -> Spec:
    sizes = gguf.sizes(config, "gpt2", NormKind.LAYER)
    config.note("activation: the tanh form of GELU (not in the file; the family's)")
    mlp = Mlp(config.need("gpt2.feed_forward_length", int), Activation.GELU_TANH, gated=False, bias=True)
    layer = Layer(_attention(sizes.heads.count, sizes.width), mlp, Layout.PRE, sizes.norm)
    spec = gguf.spec_from_gguf(config, "gpt2", [layer] * sizes.layers, sizes, file, tied=True)
    return replace(spec, positions=LearnedPositions(sizes.context))


FAMILY = Family(
    name="gpt2",
    safetensors=Format(_from_config, _RULES, prefix="transformer."),
    gguf=Format(
        _from_gguf,
        (
            *gguf.EMBEDDING,
            Rule("position_embd.weight", ("positions",), as_stored),
            *gguf.PRE_NORMS,
            *gguf.FUSED_ATTENTION,
            *gguf.DENSE_MLP,
        ),
    ),
    gguf_name="gpt2",
)
