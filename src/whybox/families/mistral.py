"""Mistral: Llama's block with a sliding window on every layer, where the configuration gives one."""

from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.rope import rope_from_config
from whybox.families.shared import (
    heads_from_config,
    rms_from_config,
    spec_from_config,
    swiglu_from_config,
    window_from_config,
)
from whybox.formats import WeightFile
from whybox.spec import Attention, Layer, Layout, Spec


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads = heads_from_config(config)
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_config(config, heads.width),
        window=window_from_config(config, default=4096),
    )
    norm = rms_from_config(config)
    layer = Layer(attention, swiglu_from_config(config), Layout.PRE, norm)
    return spec_from_config(config, "mistral", [layer] * config.need("num_hidden_layers", int), norm)


FAMILY = Family(
    name="mistral",
    safetensors=Format(_from_config, (*hf.EMBEDDING, *hf.PRE_NORMS, *hf.ATTENTION, *hf.GATED_MLP), prefix="model."),
)
