"""Mixtures of experts with grouped attention: Qwen2-MoE, OLMoE, gpt-oss."""

from whybox.families.bounds import MOST_EXPERTS, MOST_LAYERS
from whybox.families.config import Config
from whybox.families.shared import local_layers
from whybox.size.configs.frame import (
    Frame,
    Stack,
    gated,
    heads,
    outline,
    projection_biases,
    projections,
    size,
)
from whybox.size.outline import Block, Matrix, Outline


def qwen2_moe(config: Config) -> Outline:
    """A shared expert behind a gate of its own beside the routed ones; `decoder_sparse_step` as in Qwen3-MoE."""
    c, a = size(config, "hidden_size"), heads(config)
    attention, vectors = projections(a, c), 2 * c
    if config.get("qkv_bias", bool, True):
        vectors += projection_biases(a)
    dense = gated(c, size(config, "intermediate_size"))
    shared = gated(c, size(config, "shared_expert_intermediate_size"), Stack("shared expert "))
    gate = Matrix("shared expert's gate", 1, c, "mlp")
    experts = (*_routed(config, c, "num_experts", "moe_intermediate_size"), *shared, gate)
    step = config.get("decoder_sparse_step", int, 1)
    plain = config.integers("mlp_only_layers") if config.has("mlp_only_layers") else ()
    config.must_be("use_sliding_window", False)
    blocks = [
        Block(a, (*attention, *(experts if index not in plain and (index + 1) % step == 0 else dense)), vectors)
        for index in range(size(config, "num_hidden_layers", MOST_LAYERS))
    ]
    return outline(
        config, "qwen2_moe", blocks, Frame(vectors=c), ("sliding_window", "max_window_layers", "layer_types")
    )


def olmoe(config: Config) -> Outline:
    """Every layer a mixture; query and key normed over the whole projection."""
    c, a = size(config, "hidden_size"), heads(config)
    vectors = 2 * c + (a.heads + a.kv_heads) * a.width
    if config.get("attention_bias", bool, False):
        vectors += projection_biases(a) + c
    block = Block(a, (*projections(a, c), *_routed(config, c, "num_experts", "intermediate_size")), vectors)
    layers = size(config, "num_hidden_layers", MOST_LAYERS)
    return outline(config, "olmoe", [block] * layers, Frame(vectors=c), ("clip_qkv",))


def gpt_oss(config: Config) -> Outline:
    """Every second layer through a window; sinks, and biases on everything."""
    c, a = size(config, "hidden_size"), heads(config)
    experts, f = size(config, "num_local_experts", MOST_EXPERTS), size(config, "intermediate_size")
    layers = size(config, "num_hidden_layers", MOST_LAYERS)
    vectors = 2 * c + a.heads + experts + experts * (2 * f + c)
    if config.get("attention_bias", bool, True):
        vectors += projection_biases(a) + c
    matrices = (*projections(a, c), *_routed(config, c, "num_local_experts", "intermediate_size"))
    window = size(config, "sliding_window")
    local = local_layers(config, layers, lambda index: index % 2 == 0, "layers 0, 2, 4 … through the window")
    blocks = [Block(a, matrices, vectors, window if here else None) for here in local]
    return outline(config, "gpt_oss", blocks, Frame(vectors=c), ("swiglu_limit", "experts_per_token"))


def _routed(config: Config, c: int, count_key: str, width_key: str) -> tuple[Matrix, ...]:
    experts = size(config, count_key, MOST_EXPERTS)
    used = size(config, "num_experts_per_tok", experts)
    stack = Stack("expert ", experts, used)
    return (Matrix("router", experts, c, "mlp"), *gated(c, size(config, width_key), stack))
