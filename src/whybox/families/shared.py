"""What most configurations say in the same words: heads, activation, windows, and the frame around the layers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whybox.errors import FormatError, UnsupportedError
from whybox.families.config import IRRELEVANT, Config
from whybox.spec import Activation, Layer, Mlp, Norm, NormKind, Spec

ACTIVATIONS = {
    "relu": Activation.RELU,
    "gelu": Activation.GELU_ERF,
    "gelu_python": Activation.GELU_ERF,
    "gelu_new": Activation.GELU_TANH,
    "gelu_fast": Activation.GELU_TANH,
    "gelu_pytorch_tanh": Activation.GELU_TANH,
    "silu": Activation.SILU,
    "swish": Activation.SILU,
}
"""Names in config.json and the forms that they mean."""

LOCAL, GLOBAL = "sliding_attention", "full_attention"


@dataclass(frozen=True)
class Heads:
    """`count` query heads, `kv` key/value heads, each `width` wide."""

    count: int
    kv: int
    width: int


def heads_from_config(config: Config) -> Heads:
    """`head_dim` where it is given, else hidden_size / heads."""
    count = config.need("num_attention_heads", int)
    kv = config.get("num_key_value_heads", int, count)
    return Heads(count, kv, config.optional("head_dim", int) or config.need("hidden_size", int) // count)


def rms_from_config(config: Config, default: float = 1e-6) -> Norm:
    return Norm(NormKind.RMS, config.get("rms_norm_eps", float, default))


def swiglu_from_config(config: Config, bias: bool = False) -> Mlp:
    """The gated MLP with SiLU; another activation is refused by name."""
    config.must_be("hidden_act", "silu", "swish")
    return Mlp(config.need("intermediate_size", int), Activation.SILU, gated=True, bias=bias)


def activation_from_config(config: Config, key: str, default: str) -> Activation:
    """The form that a name means. UnsupportedError for a name that is not in the table."""
    name = config.get(key, str, default)
    if name not in ACTIVATIONS:
        raise UnsupportedError(
            f"{config.path}: {key} = {name!r} is not implemented", f"implemented: {', '.join(ACTIVATIONS)}"
        )
    return ACTIVATIONS[name]


def window_from_config(config: Config, default: int | None = None) -> int | None:
    """`sliding_window`: null is none; where the key itself is absent the family's default holds, and is said."""
    if "sliding_window" in config.values or default is None:
        return config.optional("sliding_window", int)
    return config.get("sliding_window", int, default)


def local_layers(config: Config, count: int, rule: Callable[[int], bool], said: str) -> tuple[bool, ...]:
    """Which layers look through the window: `layer_types`, or the family's rule where the file lacks the list."""
    if not config.has("layer_types"):
        config.note(f"layer_types: {said} (not in the file; the family's rule)")
        return tuple(rule(index) for index in range(count))
    kinds = config.strings("layer_types")
    if len(kinds) != count or not set(kinds) <= {LOCAL, GLOBAL}:
        raise FormatError(config.path, "layer_types", f"{count} of {LOCAL} or {GLOBAL}", f"{len(kinds)}: {set(kinds)}")
    return tuple(kind == LOCAL for kind in kinds)


def spec_from_config(
    config: Config,
    family: str,
    layers: Sequence[Layer],
    norm: Norm,
    tied: bool = False,
    irrelevant: Sequence[str] = (),
) -> Spec:
    """The frame with the keys that most families share; it ends the accounting, so it comes last.

    tied: what `tie_word_embeddings` means where it is absent.
    """
    return Spec(
        family=family,
        width=config.need("hidden_size", int),
        vocab=config.need("vocab_size", int),
        context=config.need("max_position_embeddings", int),
        layers=tuple(layers),
        final_norm=norm,
        tied=config.get("tie_word_embeddings", bool, tied),
        notes=config.finish((*IRRELEVANT, *irrelevant)),
    )
