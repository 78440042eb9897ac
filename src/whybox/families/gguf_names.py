"""Tensor names of GGUF files, which all architectures share, each with its transform."""

from whybox.families.config import Config
from whybox.families.transforms import (
    as_stored,
    key_heads,
    key_heads_from_pairs,
    output_heads,
    query_heads,
    query_heads_from_pairs,
)
from whybox.formats import WeightFile
from whybox.weights import Rule

LAYER = "blk.{l}."
_TO = "layers.{l}."

EMBEDDING = (
    Rule("token_embd.weight", ("embed",), as_stored),
    Rule("output_norm.weight", ("final_norm.gain",), as_stored),
    Rule("output.weight", ("head",), as_stored),
    Rule("rope_freqs.weight", (), as_stored, unused="read into the Spec as divisors of the rotary frequencies"),
)
PRE_NORMS = (
    Rule(LAYER + "attn_norm.weight", (_TO + "attn_norm.gain",), as_stored),
    Rule(LAYER + "ffn_norm.weight", (_TO + "mlp_norm.gain",), as_stored),
)
_VALUE_AND_OUT = (
    Rule(LAYER + "attn_v.weight", (_TO + "value",), key_heads),
    Rule(LAYER + "attn_v.bias", (_TO + "value_bias",), key_heads),
    Rule(LAYER + "attn_output.weight", (_TO + "out",), output_heads),
    Rule(LAYER + "attn_output.bias", (_TO + "out_bias",), as_stored),
)
ATTENTION = (
    Rule(LAYER + "attn_q.weight", (_TO + "query",), query_heads),
    Rule(LAYER + "attn_k.weight", (_TO + "key",), key_heads),
    Rule(LAYER + "attn_q.bias", (_TO + "query_bias",), query_heads),
    Rule(LAYER + "attn_k.bias", (_TO + "key_bias",), key_heads),
    *_VALUE_AND_OUT,
)
ATTENTION_FROM_PAIRS = (
    Rule(LAYER + "attn_q.weight", (_TO + "query",), query_heads_from_pairs),
    Rule(LAYER + "attn_k.weight", (_TO + "key",), key_heads_from_pairs),
    *_VALUE_AND_OUT,
)
GATED_MLP = tuple(Rule(f"{LAYER}ffn_{name}.weight", (_TO + name,), as_stored) for name in ("gate", "up", "down"))


def vocabulary(config: Config, architecture: str, file: WeightFile) -> int:
    """Rows of the embedding; a stated vocab_size must agree."""
    rows = file.tensors["token_embd.weight"].shape[0] if "token_embd.weight" in file.tensors else 0
    config.must_be(f"{architecture}.vocab_size", rows)
    return rows
