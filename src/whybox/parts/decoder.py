"""The smallest whole decoder: embedding + sinusoid, pre-norm blocks of attention and SwiGLU, last norm, tied head.

Untrained, it shows the route from ids to logits and nothing about language: with its small initial weights the
position code drowns the token, so that its next token hardly depends on the prompt.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float, Int

from whybox.parts.attention import as_heads, attention, join_heads
from whybox.parts.block import Sublayer, block
from whybox.parts.embedding import lookup
from whybox.parts.linear import linear
from whybox.parts.mlp import gated
from whybox.parts.norm import rms_norm
from whybox.parts.position import sinusoid
from whybox.spec import Activation, Attention, Layout

EPS = 1e-6


@dataclass(frozen=True, eq=False)
class Block:
    """The weights of one block, [out in]."""

    query: Float[np.ndarray, "hd c"]
    key: Float[np.ndarray, "hd c"]
    value: Float[np.ndarray, "hd c"]
    out: Float[np.ndarray, "c hd"]
    up: Float[np.ndarray, "f c"]
    gate: Float[np.ndarray, "f c"]
    down: Float[np.ndarray, "c f"]
    attention_gain: Float[np.ndarray, "c"]
    mlp_gain: Float[np.ndarray, "c"]


@dataclass(frozen=True, eq=False)
class Decoder:
    """Embedding (also the head), blocks, the gain of the last norm, and the number of heads."""

    embedding: Float[np.ndarray, "v c"]
    blocks: tuple[Block, ...]
    final_gain: Float[np.ndarray, "c"]
    heads: int

    @property
    def parameters(self) -> int:
        """Numbers stored; the tied head counts once."""
        inside = sum(weight.size for b in self.blocks for weight in vars(b).values())
        return int(self.embedding.size + self.final_gain.size + inside)


def draw_decoder(
    generator: np.random.RandomState, vocab: int = 256, width: int = 64, heads: int = 4, mlp_width: int = 128
) -> Decoder:
    """Two blocks of normal weights times 0.02; the MLP is narrowed to ⅔ since a gate makes it three matrices.

    The legacy generator is asked for, and matrices are drawn [in out], so that seed 42 gives the known decoder.
    """
    gated_width = int(mlp_width * 2 / 3)

    def draw(rows: int, columns: int) -> np.ndarray:
        return generator.randn(rows, columns) * 0.02

    def draw_block() -> Block:
        query, key, value, out = (draw(width, width).T for _ in range(4))
        up, gate, down = draw(width, gated_width).T, draw(width, gated_width).T, draw(gated_width, width).T
        return Block(query, key, value, out, up, gate, down, np.ones(width), np.ones(width))

    embedding = draw(vocab, width)
    return Decoder(embedding, tuple(draw_block() for _ in range(2)), np.ones(width), heads)


def forward(decoder: Decoder, ids: Int[np.ndarray, "q"]) -> Float[np.ndarray, "q v"]:
    """Logits after each position."""
    x = lookup(ids, decoder.embedding)
    x = x + sinusoid(*x.shape)
    for weights in decoder.blocks:
        attend = Sublayer(partial(_attend, weights=weights, heads=decoder.heads), _norm(weights.attention_gain))
        think = Sublayer(partial(_think, weights=weights), _norm(weights.mlp_gain))
        x = block(x, attend, think, Layout.PRE).resid_post
    return linear(rms_norm(x, decoder.final_gain, EPS), decoder.embedding)


def _norm(gain: Float[np.ndarray, "c"]) -> "partial[np.ndarray]":
    return partial(rms_norm, gain=gain, eps=EPS)


def _attend(x: Float[np.ndarray, "q c"], weights: Block, heads: int) -> Float[np.ndarray, "q c"]:
    query, key, value = (as_heads(linear(x, w), heads) for w in (weights.query, weights.key, weights.value))
    width, places = query.shape[-1], np.arange(len(x))
    spec = Attention(heads=heads, kv_heads=heads, head_width=width, scale=width**-0.5)
    return linear(join_heads(attention(query, key, value, places, places, spec).head_out), weights.out)


def _think(x: Float[np.ndarray, "q c"], weights: Block) -> Float[np.ndarray, "q c"]:
    return gated(x, weights.gate, weights.up, weights.down, Activation.SILU)
