"""Tensor names that most families share in Hugging Face safetensors, each with its transform."""

from whybox.families.transforms import as_stored, key_heads, output_heads, query_heads
from whybox.weights import Rule

LAYER = "model.layers.{l}."
_TO = "layers.{l}."

EMBEDDING = (
    Rule("model.embed_tokens.weight", ("embed",), as_stored),
    Rule("model.norm.weight", ("final_norm.gain",), as_stored),
    Rule("lm_head.weight", ("head",), as_stored),
)
PRE_NORMS = (
    Rule(LAYER + "input_layernorm.weight", (_TO + "attn_norm.gain",), as_stored),
    Rule(LAYER + "post_attention_layernorm.weight", (_TO + "mlp_norm.gain",), as_stored),
)
ATTENTION = (
    Rule(LAYER + "self_attn.q_proj.weight", (_TO + "query",), query_heads),
    Rule(LAYER + "self_attn.k_proj.weight", (_TO + "key",), key_heads),
    Rule(LAYER + "self_attn.v_proj.weight", (_TO + "value",), key_heads),
    Rule(LAYER + "self_attn.o_proj.weight", (_TO + "out",), output_heads),
    Rule(LAYER + "self_attn.q_proj.bias", (_TO + "query_bias",), query_heads),
    Rule(LAYER + "self_attn.k_proj.bias", (_TO + "key_bias",), key_heads),
    Rule(LAYER + "self_attn.v_proj.bias", (_TO + "value_bias",), key_heads),
    Rule(LAYER + "self_attn.o_proj.bias", (_TO + "out_bias",), as_stored),
)
GATED_MLP = tuple(
    Rule(f"{LAYER}mlp.{name}_proj.{kind}", (f"{_TO}{name}{suffix}",), as_stored)
    for name in ("gate", "up", "down")
    for kind, suffix in (("weight", ""), ("bias", "_bias"))
)
