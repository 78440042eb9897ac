"""What sizes follow from: the matrices, vectors, attention and window of every layer, and the tables around them.

Axes: c model width · h query heads · g key/value heads · d head width · f MLP width · e experts · v vocabulary.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, assert_never

from whybox.spec import Layer, Moe, Spec
from whybox.weights import parameters

Sublayer = Literal["attention", "mlp"]


@dataclass(frozen=True)
class Matrix:
    """W [out into]. copies: how many of that shape a layer has (experts). used: how many of them one token passes."""

    name: str
    out: int
    into: int
    sublayer: Sublayer
    copies: int = 1
    used: int = 1

    @property
    def parameters(self) -> int:
        return self.copies * self.out * self.into


@dataclass(frozen=True)
class Grouped:
    """MHA (g = h), GQA or MQA (g = 1): every key/value head keeps one key and one value of width d."""

    heads: int
    kv_heads: int
    width: int

    @property
    def kind(self) -> str:
        if self.kv_heads == self.heads:
            return "MHA"
        return "MQA" if self.kv_heads == 1 else "GQA"


@dataclass(frozen=True)
class Latent:
    """MLA (arXiv 2405.04434): one latent and one rotated key for all heads are kept; keys and values follow from them.

    rank: of the latent. plain, turned: width of a key without and with RoPE. value: width of a value.
    """

    heads: int
    rank: int
    plain: int
    turned: int
    value: int
    kind = "MLA"


Attention = Grouped | Latent


@dataclass(frozen=True)
class Block:
    """One layer. window: how many keys a query sees, itself among them. vectors: gains, biases and sinks."""

    attention: Attention
    matrices: tuple[Matrix, ...]
    vectors: int
    window: int | None = None

    @property
    def parameters(self) -> int:
        return sum(matrix.parameters for matrix in self.matrices) + self.vectors

    def kept(self, tokens: int) -> int:
        """Tokens whose keys and values are still needed."""
        return min(tokens, self.window or tokens)


@dataclass(frozen=True)
class Outline:
    """A whole decoder. positions: rows of a learned table. context: None where the configuration does not say it.

    vectors: gains and biases outside the layers.
    """

    family: str
    width: int
    vocab: int
    context: int | None
    blocks: tuple[Block, ...]
    vectors: int
    tied: bool
    positions: int = 0
    notes: tuple[str, ...] = ()

    @cached_property
    def kinds(self) -> Mapping[Block, int]:
        """Layers that are alike, and how many."""
        return Counter(self.blocks)

    @property
    def heads(self) -> int:
        """Query heads of all layers."""
        return sum(count * block.attention.heads for block, count in self.kinds.items())


def cached_numbers(attention: Attention) -> tuple[int, ...]:
    """Numbers that a layer keeps for one token, as factors."""
    match attention:
        case Grouped():
            return 2, attention.kv_heads, attention.width
        case Latent():
            return (attention.rank + attention.turned,)
        case _:
            assert_never(attention)


def pair_widths(attention: Attention, cached: bool) -> tuple[int, int]:
    """(h, width of score + width of mix) of one query with one key.

    cached: of a latent cache, whose heads work on the latent itself (the up-projections move to query and output).
    """
    match attention:
        case Grouped():
            return attention.heads, 2 * attention.width
        case Latent() if cached:
            return attention.heads, 2 * attention.rank + attention.turned
        case Latent():
            return attention.heads, attention.plain + attention.turned + attention.value
        case _:
            assert_never(attention)


# From a Spec

_MLP_ROLES = ("gate", "up", "down", "router")
_NO_MATRIX = (".gain", "bias", "sinks")


def of_spec(spec: Spec) -> Outline:
    """The outline of a model that whybox runs; the shapes are those that its weights must have."""
    built = {layer: _block(spec, layer) for layer in dict.fromkeys(spec.layers)}
    outside = {role: math.prod(shape) for role, shape in parameters(replace(spec, layers=())).items()}
    return Outline(
        family=spec.family,
        width=spec.width,
        vocab=spec.vocab,
        context=spec.context,
        blocks=tuple(built[layer] for layer in spec.layers),
        vectors=sum(size for role, size in outside.items() if role not in ("embed", "positions", "head")),
        tied=spec.tied,
        positions=spec.positions.count if spec.positions else 0,
        notes=spec.notes,
    )


def _block(spec: Spec, layer: Layer) -> Block:
    a = layer.attention
    shapes = {
        role.removeprefix("layers.0."): shape
        for role, shape in parameters(replace(spec, layers=(layer,))).items()
        if role.startswith("layers.0.")
    }
    vectors = sum(math.prod(shape) for role, shape in shapes.items() if role.endswith(_NO_MATRIX))
    matrices = {role: shape for role, shape in shapes.items() if not role.endswith(_NO_MATRIX)}
    return Block(Grouped(a.heads, a.kv_heads, a.head_width), tuple(_matrices(matrices, layer)), vectors, a.window)


def _matrices(shapes: Mapping[str, tuple[int, ...]], layer: Layer) -> Iterator[Matrix]:
    """[h d c] reads c; [c h d] writes c; of the experts, one stands for all."""
    for role, shape in shapes.items():
        if role.startswith("experts."):
            _, index, name = role.split(".")
            if index == "0" and isinstance(layer.mlp, Moe):
                yield Matrix(f"expert {name}", shape[0], shape[1], "mlp", layer.mlp.experts, layer.mlp.active)
            continue
        out, into = (shape[0], math.prod(shape[1:])) if role == "out" else (math.prod(shape[:-1]), shape[-1])
        yield Matrix(role, out, into, "mlp" if role in _MLP_ROLES else "attention")
