"""Qwen2 and 2.5: Llama's block with biases on query, key and value, and a window on the upper layers if switched on."""

from whybox.families import gguf_names as gguf
from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.rope import rope_from_config, rope_from_gguf
from whybox.families.shared import (
    heads_from_config,
    local_layers,
    rms_from_config,
    spec_from_config,
    swiglu_from_config,
    window_from_config,
)
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, Spec


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads, norm = heads_from_config(config), rms_from_config(config)
    config.must_be("use_mrope", False)
    rope, mlp = rope_from_config(config, heads.width), swiglu_from_config(config)
    layers = [
        Layer(
            Attention(heads.count, heads.kv, heads.width, heads.width**-0.5, rope, window=window, bias=True),
            mlp,
            Layout.PRE,
            norm,
        )
        for window in windows(config)
    ]
    return spec_from_config(config, "qwen2", layers, norm)


def windows(config: Config) -> tuple[int | None, ...]:
    """The window of each layer: only with `use_sliding_window`, and from layer `max_window_layers` on."""
    count = config.need("num_hidden_layers", int)
    first = config.optional("max_window_layers", int)
    config.used |= {"sliding_window", "layer_types"}
    if not config.optional("use_sliding_window", bool):
        return (None,) * count
    first = 28 if first is None else first
    window = window_from_config(config, default=4096)
    local = local_layers(config, count, lambda index: index >= first, f"sliding from layer {first} on")
    return tuple(window if here else None for here in local)


def _from_gguf(config: Config, file: WeightFile) -> Spec:
    sizes = gguf.sizes(config, "qwen2")
    heads = sizes.heads
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_gguf(config, "qwen2", heads.width, file),
        bias=True,
    )
    mlp = Mlp(config.need("qwen2.feed_forward_length", int), Activation.SILU, gated=True)
    layer = Layer(attention, mlp, Layout.PRE, sizes.norm)
    return gguf.spec_from_gguf(config, "qwen2", [layer] * sizes.layers, sizes, file)


FAMILY = Family(
    name="qwen2",
    safetensors=Format(_from_config, (*hf.EMBEDDING, *hf.PRE_NORMS, *hf.ATTENTION, *hf.GATED_MLP), prefix="model."),
    gguf=Format(_from_gguf, (*gguf.EMBEDDING, *gguf.PRE_NORMS, *gguf.ATTENTION, *gguf.GATED_MLP)),
    gguf_name="qwen2",
)
