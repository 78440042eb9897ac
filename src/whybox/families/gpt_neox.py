"""GPT-NeoX and Pythia: attention and MLP side by side (or in turn), RoPE on a quarter of each head, LayerNorm."""

from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.hf_names import linear, norm
from whybox.families.rope import rope_from_config
from whybox.families.shared import activation_from_config, spec_from_config
from whybox.families.transforms import as_stored, fused_per_head, output_heads
from whybox.formats import WeightFile
from whybox.spec import Attention, Layer, Layout, Mlp, Norm, NormKind, PlainRope, Rope, Spec
from whybox.weights import Rule

_IRRELEVANT = ("is_decoder",)
_FROM, _TO = "gpt_neox.layers.{l}.", "layers.{l}."
_FUSED = (_TO + "query", _TO + "key", _TO + "value")

_RULES = (
    Rule("gpt_neox.embed_in.weight", ("embed",), as_stored),
    *norm("gpt_neox.final_layer_norm", "final_norm"),
    Rule("embed_out.weight", ("head",), as_stored),
    *norm(_FROM + "input_layernorm", _TO + "attn_norm"),
    *norm(_FROM + "post_attention_layernorm", _TO + "mlp_norm"),
    Rule(_FROM + "attention.query_key_value.weight", _FUSED, fused_per_head),
    Rule(_FROM + "attention.query_key_value.bias", tuple(f"{role}_bias" for role in _FUSED), fused_per_head),
    *linear(_FROM + "attention.dense", _TO + "out", output_heads),
    *linear(_FROM + "mlp.dense_h_to_4h", _TO + "up", as_stored),
    *linear(_FROM + "mlp.dense_4h_to_h", _TO + "down", as_stored),
    Rule(_FROM + "attention.bias", (), as_stored, unused="a stored causal mask"),
    Rule(_FROM + "attention.masked_bias", (), as_stored, unused="a stored constant of the causal mask"),
    Rule(
        _FROM + "attention.rotary_emb.inv_freq",
        (),
        as_stored,
        unused="rotary frequencies, computed from the configuration",
    ),
)


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads = config.need("num_attention_heads", int)
    width = config.need("hidden_size", int) // heads
    attention = Attention(
        heads=heads,
        kv_heads=heads,
        head_width=width,
        scale=width**-0.5,
        rope=_rope(config, width),
        bias=(biased := config.get("attention_bias", bool, True)),
        out_bias=biased,
    )
    mlp = Mlp(
        width=config.need("intermediate_size", int),
        activation=activation_from_config(config, "hidden_act", "gelu"),
        gated=False,
        bias=True,
    )
    layout = Layout.PARALLEL if config.get("use_parallel_residual", bool, True) else Layout.PRE
    final = Norm(NormKind.LAYER, config.get("layer_norm_eps", float, 1e-5), bias=True)
    layers = [Layer(attention, mlp, layout, final)] * config.need("num_hidden_layers", int)
    return spec_from_config(config, "gpt_neox", layers, final, irrelevant=_IRRELEVANT)


def _rope(config: Config, width: int) -> Rope:
    """Old configurations say `rotary_pct` and `rotary_emb_base`."""
    if config.has("rope_parameters"):
        return rope_from_config(config, width, partial=0.25)
    config.must_be("rope_scaling", None)
    share = config.get("rotary_pct", float, 0.25)
    return PlainRope(config.get("rotary_emb_base", float, 1e4), int(width * share))


FAMILY = Family(name="gpt_neox", safetensors=Format(_from_config, _RULES, prefix="gpt_neox."))
