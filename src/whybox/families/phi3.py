"""Phi-3 and Phi-4-mini: Llama's block with fused projections, RoPE on part of the head, LongRoPE in the long files."""

from whybox.families import gguf_names as gguf
from whybox.families import hf_names as hf
from whybox.families.config import Config
from whybox.families.family import Family, Format
from whybox.families.rope import rope_from_config, rope_from_gguf
from whybox.families.shared import (
    heads_from_config,
    rms_from_config,
    spec_from_config,
    swiglu_from_config,
    window_from_config,
)
from whybox.families.transforms import as_stored, fused_gate_up, fused_query_key_value
from whybox.formats import WeightFile
from whybox.spec import Activation, Attention, Layer, Layout, Mlp, Spec
from whybox.weights import Rule

_FUSED = (hf.TO + "query", hf.TO + "key", hf.TO + "value")
_LAYER_RULES = (
    Rule(hf.LAYER + "self_attn.qkv_proj.weight", _FUSED, fused_query_key_value),
    *(rule for rule in hf.ATTENTION if "o_proj" in rule.tensor or rule.unused),
    Rule(hf.LAYER + "mlp.gate_up_proj.weight", (hf.TO + "gate", hf.TO + "up"), fused_gate_up),
    Rule(hf.LAYER + "mlp.down_proj.weight", (hf.TO + "down",), as_stored),
)


def _from_config(config: Config, file: WeightFile) -> Spec:
    heads, norm = heads_from_config(config), rms_from_config(config, default=1e-5)
    for key in ("attention_bias", "mlp_bias", "lm_head_bias"):
        config.must_be(key, False)
    for key in ("full_attn_mod", "interpolate_factor"):
        config.must_be(key, 1)
    config.used.add("original_max_position_embeddings")
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_config(config, heads.width),
        window=window_from_config(config),
    )
    layer = Layer(attention, swiglu_from_config(config), Layout.PRE, norm)
    return spec_from_config(config, "phi3", [layer] * config.need("num_hidden_layers", int), norm)


def _from_gguf(config: Config, file: WeightFile) -> Spec:
    sizes = gguf.sizes(config, "phi3")
    heads = sizes.heads
    config.used.add("phi3.rope.scaling.original_context_length")
    attention = Attention(
        heads=heads.count,
        kv_heads=heads.kv,
        head_width=heads.width,
        scale=heads.width**-0.5,
        rope=rope_from_gguf(config, "phi3", heads.width, file),
        window=config.optional("phi3.attention.sliding_window", int) or None,  # 0 is none
    )
    mlp = Mlp(config.need("phi3.feed_forward_length", int), Activation.SILU, gated=True)
    layer = Layer(attention, mlp, Layout.PRE, sizes.norm)
    return gguf.spec_from_gguf(config, "phi3", [layer] * sizes.layers, sizes, file)


FAMILY = Family(
    name="phi3",
    safetensors=Format(_from_config, (*hf.EMBEDDING, *hf.PRE_NORMS, *_LAYER_RULES), prefix="model."),
    gguf=Format(_from_gguf, (*gguf.EMBEDDING, *gguf.PRE_NORMS, *gguf.FUSED_ATTENTION, *gguf.FUSED_GATED_MLP)),
    gguf_name="phi3",
)
