"""What GGUF files of all architectures share: the keys of the sizes, and the tensor names, each with its transform."""

from collections.abc import Sequence
from dataclasses import dataclass

from whybox.families.config import GGUF_NAMESPACES, Config
from whybox.families.hf_names import linear, norm
from whybox.families.shared import Heads
from whybox.families.transforms import (
    as_stored,
    each_expert,
    fused_gate_up,
    fused_query_key_value,
    key_heads,
    key_heads_from_pairs,
    output_heads,
    query_heads,
    query_heads_from_pairs,
)
from whybox.formats import WeightFile
from whybox.spec import Layer, Norm, NormKind, Spec
from whybox.weights import Rule

LAYER = "blk.{l}."
TO = "layers.{l}."

EMBEDDING = (
    Rule("token_embd.weight", ("embed",), as_stored),
    *norm("output_norm", "final_norm"),
    Rule("output.weight", ("head",), as_stored),
    *(
        Rule(f"{name}.weight", (), as_stored, unused="read into the Spec as divisors of the rotary frequencies")
        for name in ("rope_freqs", "rope_factors_long", "rope_factors_short")
    ),
)
PRE_NORMS = (*norm(LAYER + "attn_norm", TO + "attn_norm"), *norm(LAYER + "ffn_norm", TO + "mlp_norm"))
POST_NORMS = (
    *norm(LAYER + "post_attention_norm", TO + "attn_post_norm"),
    *norm(LAYER + "post_ffw_norm", TO + "mlp_post_norm"),
)
QK_NORMS = (
    Rule(LAYER + "attn_q_norm.weight", (TO + "query_norm.gain",), as_stored),
    Rule(LAYER + "attn_k_norm.weight", (TO + "key_norm.gain",), as_stored),
)
OUT = linear(LAYER + "attn_output", TO + "out", output_heads)
_VALUE = linear(LAYER + "attn_v", TO + "value", key_heads, key_heads)
ATTENTION = (
    *linear(LAYER + "attn_q", TO + "query", query_heads, query_heads),
    *linear(LAYER + "attn_k", TO + "key", key_heads, key_heads),
    *_VALUE,
    *OUT,
)
ATTENTION_FROM_PAIRS = (
    *linear(LAYER + "attn_q", TO + "query", query_heads_from_pairs, query_heads_from_pairs),
    *linear(LAYER + "attn_k", TO + "key", key_heads_from_pairs, key_heads_from_pairs),
    *_VALUE,
    *OUT,
)
_FUSED = (TO + "query", TO + "key", TO + "value")
FUSED_ATTENTION = (
    Rule(LAYER + "attn_qkv.weight", _FUSED, fused_query_key_value),
    Rule(LAYER + "attn_qkv.bias", tuple(f"{role}_bias" for role in _FUSED), fused_query_key_value),
    *OUT,
)
DENSE_MLP = (
    *linear(LAYER + "ffn_up", TO + "up", as_stored),
    *linear(LAYER + "ffn_down", TO + "down", as_stored),
)
GATED_MLP = (*linear(LAYER + "ffn_gate", TO + "gate", as_stored), *DENSE_MLP)
FUSED_GATED_MLP = (
    Rule(LAYER + "ffn_up.weight", (TO + "gate", TO + "up"), fused_gate_up),
    Rule(LAYER + "ffn_down.weight", (TO + "down",), as_stored),
)
EXPERTS = (
    Rule(LAYER + "ffn_gate_inp.weight", (TO + "router",), as_stored),
    *(
        rule
        for name in ("gate", "up", "down")
        for rule in (
            Rule(f"{LAYER}ffn_{name}_exps.weight", (f"{TO}experts.{{each}}.{name}",), each_expert),
            Rule(f"{LAYER}ffn_{name}.{{e}}.weight", (f"{TO}experts.{{e}}.{name}",), as_stored),
        )
    ),
)


@dataclass(frozen=True)
class Sizes:
    """The sizes that every architecture writes under its own namespace."""

    layers: int
    width: int
    context: int
    heads: Heads
    norm: Norm


def sizes(config: Config, architecture: str, kind: NormKind = NormKind.RMS) -> Sizes:
    """Reads `ARCHITECTURE.*`; the head's width is `attention.key_length`, else width / heads."""
    under = f"{architecture}."
    width = config.need(under + "embedding_length", int)
    count = config.need(under + "attention.head_count", int)
    head_width = config.get(under + "attention.key_length", int, width // count)
    config.must_be(under + "attention.value_length", head_width)
    epsilon = "layer_norm_rms_epsilon" if kind is NormKind.RMS else "layer_norm_epsilon"
    eps = config.need(f"{under}attention.{epsilon}", float)
    return Sizes(
        layers=config.need(under + "block_count", int),
        width=width,
        context=config.need(under + "context_length", int),
        heads=Heads(count, config.get(under + "attention.head_count_kv", int, count), head_width),
        norm=Norm(kind, eps, bias=kind is NormKind.LAYER),
    )


def spec_from_gguf(
    config: Config, architecture: str, layers: Sequence[Layer], sizes: Sizes, file: WeightFile, tied: bool = False
) -> Spec:
    """The frame around the layers; it ends the accounting, so it comes last.

    tied: whether the architecture always ties; else a file ties by leaving `output.weight` out.
    """
    rows = file.tensors["token_embd.weight"].shape[0] if "token_embd.weight" in file.tensors else 0
    config.must_be(f"{architecture}.vocab_size", rows)
    return Spec(
        family=architecture,
        width=sizes.width,
        vocab=rows,
        context=sizes.context,
        layers=tuple(layers),
        final_norm=sizes.norm,
        tied=tied or "output.weight" not in file.tensors,
        notes=config.finish(namespaces=GGUF_NAMESPACES),
    )
