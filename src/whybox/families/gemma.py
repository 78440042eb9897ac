"""Gemma: gains stored as 1 + w, the embedding scaled by √c, a gated MLP with the tanh form of GELU, a tied head."""

from dataclasses import replace

from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.rope import rope_from_config
from whybox.families.shared import heads_from_config, rms_from_config, spec_from_config
from whybox.families.transforms import as_stored, plus_one
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, Spec
from whybox.weights import Rule

EMBEDDING = (
    Rule("model.embed_tokens.weight", ("embed",), as_stored),
    Rule("model.norm.weight", ("final_norm.gain",), plus_one),
    Rule("lm_head.weight", ("head",), as_stored),
)
_PRE_NORMS = tuple(replace(rule, transform=plus_one) for rule in hf.PRE_NORMS)


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads, norm = heads_from_config(config), rms_from_config(config)
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_config(config, heads.width),
        bias=(biased := config.get("attention_bias", bool, False)),
        out_bias=biased,
    )
    layer = Layer(attention, geglu_from_config(config), Layout.PRE, norm)
    layers = [layer] * config.need("num_hidden_layers", int)
    return scaled(spec_from_config(config, "gemma", layers, norm, tied=True))


def geglu_from_config(config: Config) -> Mlp:
    """The tanh form, also where an old configuration says "gelu" (its authors meant the tanh form)."""
    forms = ("gelu_pytorch_tanh", "gelu")
    config.must_be("hidden_act", *forms)
    config.must_be("hidden_activation", *forms)
    if "gelu" in (config.values.get("hidden_act"), config.values.get("hidden_activation")):
        config.note('activation: "gelu" in the file, the tanh form is meant and used')
    config.must_be("use_bidirectional_attention", False)
    return Mlp(config.need("intermediate_size", int), Activation.GELU_TANH, gated=True)


def scaled(spec: Spec) -> Spec:
    """The embedding is multiplied by √c in full precision (not rounded to bfloat16)."""
    return replace(spec, embed_scale=spec.width**0.5)


FAMILY = Family(
    name="gemma",
    safetensors=Format(_from_config, (*EMBEDDING, *_PRE_NORMS, *hf.ATTENTION, *hf.GATED_MLP), prefix="model."),
)
