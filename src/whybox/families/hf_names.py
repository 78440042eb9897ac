"""Tensor names that most families share in Hugging Face safetensors, each with its transform."""

from whybox.families.transforms import (
    as_stored,
    each_expert,
    each_expert_gate_up,
    key_heads,
    output_heads,
    query_heads,
)
from whybox.weights import Rule, Transform

LAYER = "model.layers.{l}."
TO = "layers.{l}."


def norm(tensor: str, role: str) -> tuple[Rule, Rule]:
    """Gain and bias of a norm; the bias is met in the families that have one."""
    return Rule(f"{tensor}.weight", (f"{role}.gain",), as_stored), Rule(f"{tensor}.bias", (f"{role}.bias",), as_stored)


def linear(tensor: str, role: str, weight: Transform, bias: Transform = as_stored) -> tuple[Rule, Rule]:
    """Weight [out in] and bias [out] of one projection."""
    return Rule(f"{tensor}.weight", (role,), weight), Rule(f"{tensor}.bias", (f"{role}_bias",), bias)


EMBEDDING = (
    Rule("model.embed_tokens.weight", ("embed",), as_stored),
    Rule("model.norm.weight", ("final_norm.gain",), as_stored),
    Rule("lm_head.weight", ("head",), as_stored),
)
PRE_NORMS = (
    Rule(LAYER + "input_layernorm.weight", (TO + "attn_norm.gain",), as_stored),
    Rule(LAYER + "post_attention_layernorm.weight", (TO + "mlp_norm.gain",), as_stored),
)
ATTENTION = (
    *linear(LAYER + "self_attn.q_proj", TO + "query", query_heads, query_heads),
    *linear(LAYER + "self_attn.k_proj", TO + "key", key_heads, key_heads),
    *linear(LAYER + "self_attn.v_proj", TO + "value", key_heads, key_heads),
    *linear(LAYER + "self_attn.o_proj", TO + "out", output_heads),
    Rule(
        LAYER + "self_attn.rotary_emb.inv_freq",
        (),
        as_stored,
        unused="rotary frequencies, computed from the configuration",
    ),
)
QK_NORMS = (
    Rule(LAYER + "self_attn.q_norm.weight", (TO + "query_norm.gain",), as_stored),
    Rule(LAYER + "self_attn.k_norm.weight", (TO + "key_norm.gain",), as_stored),
)
GATED_MLP = tuple(
    rule for name in ("gate", "up", "down") for rule in linear(f"{LAYER}mlp.{name}_proj", TO + name, as_stored)
)


def experts(block: str, gate: str, up: str, down: str) -> tuple[Rule, ...]:
    """The router, and one tensor for each projection of each expert."""
    named = {"gate": gate, "up": up, "down": down}
    return (
        Rule(f"{LAYER}{block}gate.weight", (TO + "router",), as_stored),
        *(
            Rule(f"{LAYER}{block}experts.{{e}}.{tensor}.weight", (f"{TO}experts.{{e}}.{role}",), as_stored)
            for role, tensor in named.items()
        ),
    )


def stacked_experts(block: str) -> tuple[Rule, ...]:
    """All experts in one tensor, as transformers 5 holds them in memory."""
    each = TO + "experts.{each}."
    return (
        Rule(f"{LAYER}{block}gate.weight", (TO + "router",), as_stored),
        Rule(f"{LAYER}{block}experts.gate_up_proj", (each + "gate", each + "up"), each_expert_gate_up),
        Rule(f"{LAYER}{block}experts.down_proj", (each + "down",), each_expert),
    )
