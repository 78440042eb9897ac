"""OPT: learned positions that start at row 2, LayerNorm before each sublayer, ReLU. The post-norm sizes are refused."""

from dataclasses import replace

from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.hf_names import linear, norm
from whybox.families.shared import activation_from_config, spec_from_config
from whybox.families.transforms import as_stored, output_heads, query_heads
from whybox.formats import WeightFile
from whybox.spec import Attention, Layer, Layout, LearnedPositions, Mlp, Norm, NormKind, Spec
from whybox.weights import Rule

OFFSET = 2
_IRRELEVANT = ("init_std", "layerdrop", "dropout", "activation_dropout")
_FROM, _TO = "model.decoder.layers.{l}.", "layers.{l}."

_RULES = (
    Rule("model.decoder.embed_tokens.weight", ("embed",), as_stored),
    Rule("model.decoder.embed_positions.weight", ("positions",), as_stored),
    *norm("model.decoder.final_layer_norm", "final_norm"),
    Rule("lm_head.weight", ("head",), as_stored),
    *norm(_FROM + "self_attn_layer_norm", _TO + "attn_norm"),
    *norm(_FROM + "final_layer_norm", _TO + "mlp_norm"),
    *(
        rule
        for letter, role in (("q", "query"), ("k", "key"), ("v", "value"))
        for rule in linear(f"{_FROM}self_attn.{letter}_proj", _TO + role, query_heads, query_heads)
    ),
    *linear(_FROM + "self_attn.out_proj", _TO + "out", output_heads),
    *linear(_FROM + "fc1", _TO + "up", as_stored),
    *linear(_FROM + "fc2", _TO + "down", as_stored),
)


def _from_config(config: Config, file: WeightFile) -> Spec:
    width, heads = config.need("hidden_size", int), config.need("num_attention_heads", int)
    config.must_be("do_layer_norm_before", True)
    config.must_be("_remove_final_layer_norm", False)
    config.must_be("word_embed_proj_dim", width)
    config.must_be("layer_norm_elementwise_affine", True)
    biased = config.get("enable_bias", bool, True)
    attention = Attention(
        heads=heads,
        kv_heads=heads,
        head_width=width // heads,
        scale=(width // heads) ** -0.5,
        bias=biased,
        out_bias=biased,
    )
    activation = activation_from_config(config, "activation_function", "relu")
    mlp = Mlp(config.need("ffn_dim", int), activation, gated=False, bias=biased)
    config.note("norm eps = 1e-05 (not in the file; the family's)")
    final = Norm(NormKind.LAYER, 1e-5, bias=True)
    layers = [Layer(attention, mlp, Layout.PRE, final)] * config.need("num_hidden_layers", int)
    spec = spec_from_config(config, "opt", layers, final, tied=True, irrelevant=_IRRELEVANT)
    return replace(spec, positions=LearnedPositions(spec.context + OFFSET, offset=OFFSET))


FAMILY = Family(name="opt", safetensors=Format(_from_config, _RULES, prefix="model."))
