"""What the readers share: sizes within their bounds, the usual matrices, the frame around the layers."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from whybox.errors import FormatError
from whybox.families.bounds import MOST_HEADS, MOST_OTHER
from whybox.families.config import IRRELEVANT, Config
from whybox.size.outline import Block, Grouped, Matrix, Outline, Sublayer

WITHOUT_SIZE = (
    *IRRELEVANT,
    "hidden_act", "activation", "activation_function", "hidden_activation", "rms_norm_eps", "layer_norm_eps",
    "layer_norm_epsilon", "norm_epsilon", "rope_theta", "rope_scaling", "rope_parameters", "rope_interleaved",
    "partial_rotary_factor", "rotary_dim", "rotary", "residual_dropout", "embedding_dropout", "initial_context_length",
    "router_aux_loss_coef", "output_router_logits", "norm_topk_prob", "logit_scale", "hidden_dropout_rate",
    "attn_dropout", "use_return_dict", "gradient_checkpointing_enable",
)  # fmt: skip
"""Keys that touch what a model computes, or how it was trained, and none of its sizes."""


def size(config: Config, key: str, most: int = MOST_OTHER) -> int:
    """A whole number from 1 to `most` that must be there."""
    value = config.need(key, int)
    if not 1 <= value <= most:
        raise FormatError(config.path, key, f"a whole number from 1 to {most:,}", f"{value}"[:40])
    return value


def heads(config: Config, kv_key: str = "num_key_value_heads") -> Grouped:
    """Heads and their width; key/value heads as many as heads where they are not told."""
    count = size(config, "num_attention_heads", MOST_HEADS)
    kv = size(config, kv_key, MOST_HEADS) if config.has(kv_key) else count
    return grouped(config, count, kv, size(config, "head_dim") if config.has("head_dim") else None)


def grouped(config: Config, count: int, kv: int, width: int | None = None, of: str = "hidden_size") -> Grouped:
    """FormatError where the heads divide neither the width nor one another."""
    if count % kv:
        raise FormatError(config.path, "key/value heads", f"a divisor of {count} heads", str(kv))
    whole = size(config, of)
    if width is None and whole % count:
        raise FormatError(config.path, of, f"a multiple of {count} heads", str(whole), "or give head_dim")
    return Grouped(count, kv, width or whole // count)


def projections(a: Grouped, c: int) -> tuple[Matrix, ...]:
    """Query, key, value, out."""
    wide, narrow = a.heads * a.width, a.kv_heads * a.width
    return (
        Matrix("query", wide, c, "attention"),
        Matrix("key", narrow, c, "attention"),
        Matrix("value", narrow, c, "attention"),
        Matrix("out", c, wide, "attention"),
    )


def projection_biases(a: Grouped) -> int:
    return (a.heads + 2 * a.kv_heads) * a.width


@dataclass(frozen=True)
class Stack:
    """So many MLPs of one shape, of which a token passes some."""

    prefix: str = ""
    copies: int = 1
    used: int = 1


ONE = Stack()


def gated(c: int, f: int, stack: Stack = ONE) -> tuple[Matrix, ...]:
    return (_mlp("gate", f, c, stack), *plain(c, f, stack))


def plain(c: int, f: int, stack: Stack = ONE) -> tuple[Matrix, ...]:
    return (_mlp("up", f, c, stack), _mlp("down", c, f, stack))


def _mlp(name: str, out: int, into: int, stack: Stack) -> Matrix:
    sublayer: Sublayer = "mlp"
    return Matrix(f"{stack.prefix}{name}", out, into, sublayer, stack.copies, stack.used)


@dataclass(frozen=True)
class Frame:
    """vectors: outside the layers. tied: what the key means where it is absent. context_key: of the trained length."""

    vectors: int
    tied: bool = False
    width_key: str = "hidden_size"
    context_key: str = "max_position_embeddings"
    positions: int = 0


def outline(
    config: Config, family: str, blocks: Iterable[Block], frame: Frame, irrelevant: Sequence[str] = ()
) -> Outline:
    """The whole; it ends the accounting of keys, so it comes last."""
    return Outline(
        family=family,
        width=size(config, frame.width_key),
        vocab=size(config, "vocab_size"),
        context=size(config, frame.context_key) if config.has(frame.context_key) else None,
        blocks=tuple(blocks),
        vectors=frame.vectors,
        tied=config.get("tie_word_embeddings", bool, frame.tied),
        positions=frame.positions,
        notes=config.finish((*WITHOUT_SIZE, *irrelevant)),
    )
