"""Dense decoders with MHA, GQA or MQA: Falcon, StarCoder and its like (GPT-BigCode), StarCoder2, Phi, GPT-J, Command R,
Granite.
"""

from whybox.families.bounds import MOST_HEADS, MOST_LAYERS
from whybox.families.config import Config
from whybox.families.shared import window_from_config
from whybox.size.configs.frame import (
    Frame,
    gated,
    grouped,
    heads,
    outline,
    plain,
    projection_biases,
    projections,
    size,
)
from whybox.size.outline import Block, Outline

_OF_BIGCODE = ("scale_attn_weights", "scale_attention_softmax_in_fp32", "attention_softmax_in_fp32")


def falcon(config: Config) -> Outline:
    """7B: one kv head (`multi_query`). 40B, 180B: `new_decoder_architecture` with num_kv_heads. Tied; f = 4 · c."""
    c, count = size(config, "hidden_size"), size(config, "num_attention_heads", MOST_HEADS)
    new = config.get("new_decoder_architecture", bool, False)
    if new:
        kv = size(config, "num_kv_heads", MOST_HEADS) if config.has("num_kv_heads") else count
    else:
        kv = 1 if config.get("multi_query", bool, True) else count
        config.used.add("num_kv_heads")  # of the older form it says nothing
    a = grouped(config, count, kv)
    f = size(config, "ffn_hidden_size") if config.has("ffn_hidden_size") else 4 * c
    norms = 2 if new or not config.get("parallel_attn", bool, True) else 1
    if config.has("num_ln_in_parallel_attn") and new:
        norms = size(config, "num_ln_in_parallel_attn", 2)
    vectors = norms * 2 * c
    if config.get("bias", bool, False):
        vectors += projection_biases(a) + c + f + c
    block = Block(a, (*projections(a, c), *plain(c, f)), vectors)
    layers = size(config, "num_hidden_layers", MOST_LAYERS)
    ignored = (
        "alibi",
        "multi_query",
        "parallel_attn",
        "apply_residual_connection_post_layernorm",
        "num_ln_in_parallel_attn",
    )
    return outline(config, "falcon", [block] * layers, Frame(vectors=2 * c, tied=True), ignored)


def gpt_bigcode(config: Config) -> Outline:
    """GPT-2 with one kv head (`multi_query`)."""
    c, count = size(config, "n_embd"), size(config, "n_head", MOST_HEADS)
    a = grouped(config, count, 1 if config.get("multi_query", bool, True) else count, of="n_embd")
    f = size(config, "n_inner") if config.has("n_inner") else 4 * c
    vectors = 4 * c + projection_biases(a) + c + f + c
    block = Block(a, (*projections(a, c), *plain(c, f)), vectors)
    frame = Frame(
        2 * c, tied=True, width_key="n_embd", context_key="n_positions", positions=size(config, "n_positions")
    )
    ignored = (
        *_OF_BIGCODE, "inference_runner", "validate_runner_input", "pre_allocate_kv_cache", "max_sequence_length",
        "max_batch_size", "pad_key_length",
    )  # fmt: skip
    return outline(config, "gpt_bigcode", [block] * size(config, "n_layer", MOST_LAYERS), frame, ignored)


def gptj(config: Config) -> Outline:
    """No biases in attention; the head is untied and has a bias."""
    c = size(config, "n_embd")
    a = grouped(config, count := size(config, "n_head", MOST_HEADS), count, of="n_embd")
    f = size(config, "n_inner") if config.has("n_inner") else 4 * c
    block = Block(a, (*projections(a, c), *plain(c, f)), 2 * c + f + c)
    frame = Frame(2 * c + size(config, "vocab_size"), width_key="n_embd", context_key="n_positions")
    return outline(config, "gptj", [block] * size(config, "n_layer", MOST_LAYERS), frame, ("scale_attn_weights",))


def starcoder2(config: Config) -> Outline:
    """LayerNorm, a plain MLP, biases on everything; a window where one is given."""
    c, a, f = size(config, "hidden_size"), heads(config), size(config, "intermediate_size")
    vectors = 4 * c
    if config.get("use_bias", bool, True):
        vectors += projection_biases(a) + c + f + c
    config.must_be("norm_type", "layer_norm")
    config.must_be("mlp_type", "default")
    block = Block(a, (*projections(a, c), *plain(c, f)), vectors, window_from_config(config))
    layers = size(config, "num_hidden_layers", MOST_LAYERS)
    return outline(config, "starcoder2", [block] * layers, Frame(vectors=2 * c, tied=True), _OF_BIGCODE)


def phi(config: Config) -> Outline:
    """Phi-1.5, Phi-2: attention and MLP side by side behind one LayerNorm, biases everywhere, on the head too."""
    c, a, f = size(config, "hidden_size"), heads(config), size(config, "intermediate_size")
    vectors = 2 * c + projection_biases(a) + c + f + c
    if config.get("qk_layernorm", bool, False):
        vectors += 4 * a.width
    block = Block(a, (*projections(a, c), *plain(c, f)), vectors)
    layers = size(config, "num_hidden_layers", MOST_LAYERS)
    frame = Frame(vectors=2 * c + size(config, "vocab_size"))
    return outline(config, "phi", [block] * layers, frame)


def cohere(config: Config) -> Outline:
    """Command R: side by side behind one norm without bias; tied."""
    c, a = size(config, "hidden_size"), heads(config)
    vectors = c
    if config.get("use_qk_norm", bool, False):
        vectors += (a.heads + a.kv_heads) * a.width
    if config.get("attention_bias", bool, False):
        vectors += projection_biases(a) + c
    block = Block(a, (*projections(a, c), *gated(c, size(config, "intermediate_size"))), vectors)
    layers = size(config, "num_hidden_layers", MOST_LAYERS)
    return outline(config, "cohere", [block] * layers, Frame(vectors=c, tied=True))


def granite(config: Config) -> Outline:
    """Llama with four multipliers, which have no size."""
    c, a = size(config, "hidden_size"), heads(config)
    f, vectors = size(config, "intermediate_size"), 2 * c
    if config.get("attention_bias", bool, False):
        vectors += projection_biases(a) + c
    if config.get("mlp_bias", bool, False):
        vectors += 2 * f + c
    block = Block(a, (*projections(a, c), *gated(c, f)), vectors)
    layers = size(config, "num_hidden_layers", MOST_LAYERS)
    multipliers = ("attention_multiplier", "embedding_multiplier", "logits_scaling", "residual_multiplier")
    return outline(config, "granite", [block] * layers, Frame(vectors=c), multipliers)
