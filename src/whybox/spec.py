"""The frozen description of a model: everything that steers its arithmetic, and nothing else.

Families turn a file's configuration into a `Spec`; engines read the Spec alone, never a model's name.
Axes: c model width · h query heads · g key/value heads · d head width · f MLP width · e experts · v vocabulary.
"""

from dataclasses import dataclass
from enum import StrEnum


class Pairing(StrEnum):
    """Which two dimensions of a head one rotation turns: (i, i + w/2), or the neighbours (2i, 2i + 1)."""

    HALF = "half"
    INTERLEAVED = "interleaved"


@dataclass(frozen=True)
class PlainRope:
    """RoPE (arXiv 2104.09864): angle of pair i at position p is p · base^(−2i/width)."""

    base: float
    width: int
    pairing: Pairing = Pairing.HALF


@dataclass(frozen=True)
class LinearRope:
    """Positions divided by `factor` (arXiv 2306.15595)."""

    plain: PlainRope
    factor: float


@dataclass(frozen=True)
class NtkRope:
    """NTK-aware base: base · (factor·n/original − factor + 1)^(w/(w−2)) once n > original (dynamic NTK)."""

    plain: PlainRope
    factor: float
    original: int


@dataclass(frozen=True)
class Llama3Rope:
    """Llama 3.1: long wavelengths divided by `factor`, short ones kept, smooth between (low, high)."""

    plain: PlainRope
    factor: float
    low: float
    high: float
    original: int


@dataclass(frozen=True)
class YarnRope:
    """YaRN (arXiv 2309.00071). `magnitude` multiplies cos and sin, so scores get its square; `rule` says whence."""

    plain: PlainRope
    factor: float
    original: int
    beta_fast: float
    beta_slow: float
    magnitude: float
    rule: str
    truncate: bool = True


@dataclass(frozen=True)
class LongRope:
    """LongRoPE (arXiv 2402.13753): per-pair divisors, `short` up to `original` positions, `long` beyond."""

    plain: PlainRope
    short: tuple[float, ...]
    long: tuple[float, ...]
    original: int
    magnitude: float


@dataclass(frozen=True)
class DividedRope:
    """Per-pair divisors carried by the file itself (`rope_freqs.weight` of a GGUF)."""

    plain: PlainRope
    divisors: tuple[float, ...]


Rope = PlainRope | LinearRope | NtkRope | Llama3Rope | YarnRope | LongRope | DividedRope


@dataclass(frozen=True)
class LearnedPositions:
    """A table of `count` rows added to the embedding; token at position p takes row p + offset."""

    count: int
    offset: int = 0


class NormKind(StrEnum):
    RMS = "rms"
    LAYER = "layer"


@dataclass(frozen=True)
class Norm:
    """`gain` is the one quantity used, whatever the file stores (Gemma's 1 + w becomes the gain at load)."""

    kind: NormKind
    eps: float
    bias: bool = False


class QkNorm(StrEnum):
    """Norm of query and key before position: over each head's d, or over the whole projection h·d."""

    PER_HEAD = "per head"
    WHOLE = "whole projection"


class Layout(StrEnum):
    """Where the norms of a block stand. f is attention or MLP."""

    PRE = "x + f(norm(x))"
    POST = "norm(x + f(x))"
    SANDWICH = "x + norm(f(norm(x)))"
    INNER_POST = "x + norm(f(x))"
    PARALLEL = "x + attention(norm(x)) + mlp(norm'(x))"


class Activation(StrEnum):
    RELU = "relu"
    GELU_ERF = "gelu (erf)"
    GELU_TANH = "gelu (tanh)"
    SILU = "silu"


@dataclass(frozen=True)
class Attention:
    """One layer's attention. Query head h reads key/value head h // (heads // kv_heads)."""

    heads: int
    kv_heads: int
    head_width: int
    scale: float
    rope: Rope | None = None
    alibi: tuple[float, ...] | None = None  # slope per head; score − slope · distance
    window: int | None = None  # query i sees keys i−window+1 … i
    cap: float | None = None  # cap · tanh(score / cap), before the mask
    qk_norm: QkNorm | None = None
    qk_norm_eps: float = 1e-6
    sinks: bool = False  # one learned logit per head joins the softmax and carries no value
    bias: bool = False  # on query, key, value
    out_bias: bool = False


@dataclass(frozen=True)
class Mlp:
    """W_down · act(W_up x), or with a gate W_down · (act(W_gate x) ⊙ W_up x)."""

    width: int
    activation: Activation
    gated: bool
    bias: bool = False


@dataclass(frozen=True)
class Moe:
    """`active` of `experts` gated MLPs per token, weighted by the router's softmax."""

    experts: int
    active: int
    width: int
    activation: Activation
    normalise: bool  # chosen weights divided by their sum


@dataclass(frozen=True)
class Layer:
    attention: Attention
    mlp: Mlp | Moe
    layout: Layout
    norm: Norm


@dataclass(frozen=True)
class Spec:
    """A whole decoder. `notes` are the semantic defaults and tables that the file does not state, one line each."""

    family: str
    width: int
    vocab: int
    context: int
    layers: tuple[Layer, ...]
    final_norm: Norm
    embed_scale: float = 1.0
    embed_norm: Norm | None = None
    positions: LearnedPositions | None = None
    tied: bool = True
    head_bias: bool = False
    logit_scale: float = 1.0
    logit_cap: float | None = None
    notes: tuple[str, ...] = ()

    @property
    def length_dependent(self) -> bool:
        """Whether RoPE's frequencies depend on the length of the whole run."""
        return any(isinstance(layer.attention.rope, NtkRope | LongRope) for layer in self.layers)
