"""Turning the smallest decoder into a Llama: the real one from parts, its likely half-way states, and the grading.

Two small random Llamas come first, in which every difference is felt and can be named; then the default model.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from whybox.learn.course.chapters import mini
from whybox.learn.course.comparing import Both, equal, found, unlike
from whybox.learn.course.computed import Arrays, Remark, Task
from whybox.learn.ground import Ground
from whybox.parts.attention import as_heads, attention, join_heads
from whybox.parts.block import Sublayer, block
from whybox.parts.embedding import lookup
from whybox.parts.linear import linear
from whybox.parts.mlp import gated
from whybox.parts.norm import rms_norm
from whybox.parts.position import rope_angles, rotate, sinusoid
from whybox.spec import Activation, Attention, Layout, Pairing, PlainRope

Array = np.ndarray
Turn = Callable[[Array], Array]
EPS_OF_MINI = 1e-6
CAPITAL = "The capital of France is"
NLL, NLL_WITHIN = 2.7617, 0.005
PARIS, PARIS_WITHIN = 0.7725, 0.001
TINY = {
    "own": (mini.Sizes(width=14, heads=6, kv_heads=2, head_width=10, mlp_width=23, vocab=101, blocks=3), 50.0, 0.01),
    "tied": (mini.Sizes(width=22, heads=4, kv_heads=4, head_width=6, mlp_width=31, vocab=53, blocks=2), 1e4, 1e-5),
}
"""Sizes, RoPE's base and ε."""


@dataclass(frozen=True, eq=False)
class Llama:
    """Weights by name, and all that a half-finished decoder may have otherwise."""

    arrays: Arrays
    enter: Turn
    turn: Turn
    reads: Array
    eps: float
    head: Array


def llama_of(arrays: Arrays, base: float, eps: float) -> Llama:
    """The finished one. A tied head has no weights of its own."""
    heads, groups = int(arrays["heads"]), int(arrays["kv_heads"])
    turn = partial(_turned, rope=PlainRope(base, len(arrays["0.query"]) // heads))
    reads = np.arange(heads) // (heads // groups)
    return Llama(arrays, _as_is, turn, reads, eps, arrays.get("head", arrays["embedding"]))


def logits(llama: Llama, ids: Array) -> Array:
    """After each position, [q v]."""
    x = llama.enter(lookup(ids, llama.arrays["embedding"]))
    for index in range(_blocks(llama.arrays)):
        weights = mini.of({f"w.{k}": v for k, v in llama.arrays.items()}, f"w.{index}")
        attend = Sublayer(partial(_attend, llama=llama, weights=weights), _norm(llama, weights["attention_gain"]))
        think = Sublayer(partial(_think, weights=weights), _norm(llama, weights["mlp_gain"]))
        x = block(x, attend, think, Layout.PRE).resid_post
    return linear(_norm(llama, llama.arrays["final_gain"])(x), llama.head)


def half_finished(llama: Llama, base: float) -> Iterator[tuple[Both, Llama]]:
    """One step left out, or made wrong, each with its name."""
    width, heads = len(llama.arrays["0.query"]) // len(llama.reads), len(llama.reads)
    groups = int(llama.arrays["kv_heads"])
    yield EPS_LEFT, replace(llama, eps=EPS_OF_MINI)
    yield SINUSOID_LEFT, replace(llama, enter=_with_sinusoid)
    yield SINUSOID_ONLY, replace(llama, enter=_with_sinusoid, turn=_as_is)
    yield NO_POSITION, replace(llama, turn=_as_is)
    neighbours = PlainRope(base, width, Pairing.INTERLEAVED)
    yield NEIGHBOURS, replace(llama, turn=partial(_turned, rope=neighbours))
    if base != 1e4:
        yield OTHER_BASE, replace(llama, turn=partial(_turned, rope=PlainRope(1e4, width)))
    if 1 < groups < heads:
        yield TILED, replace(llama, reads=np.arange(heads) % groups)
    if llama.head is not llama.arrays["embedding"]:
        yield TIED, replace(llama, head=llama.arrays["embedding"])


EPS_LEFT: Both = ('ε is still the mini decoder\'s; model["eps"] says which', 'ε 还是迷你 decoder 的；应取 model["eps"]')
SINUSOID_LEFT: Both = ("the sinusoid is still added to the embedding", "嵌入上还加着正弦编码")
SINUSOID_ONLY: Both = (
    "positions are still the sinusoid's: query and key are not turned",
    "位置还是正弦编码的：Q 和 K 没有旋转",
)
NO_POSITION: Both = ("query and key are not turned: no position at all", "Q 和 K 没有旋转：完全没有位置信息")
NEIGHBOURS: Both = (
    "neighbours (2i, 2i + 1) are turned together; these weights pair i with i + d/2",
    "转的是相邻的一对 (2i, 2i + 1)；这些权重把 i 和 i + d/2 配对",
)
OTHER_BASE: Both = ('RoPE\'s base is 10,000; model["base"] says which', 'RoPE 的底数用了 10,000；应取 model["base"]')
TILED: Both = ("head h reads key/value head h % g; it is h // r", "头 h 读了第 h % g 个 KV 头；应是 h // r")
TIED: Both = (
    'the embedding was used as head, though model["head"] is there',
    '明明有 model["head"]，却把嵌入当输出头用了',
)


def _as_is(x: Array) -> Array:
    return x


def _with_sinusoid(x: Array) -> Array:
    return np.asarray(x + sinusoid(*x.shape))


def _turned(x: Array, rope: PlainRope) -> Array:
    return rotate(x, *rope_angles(rope, np.arange(len(x)), len(x)), rope.pairing)


def _blocks(arrays: Arrays) -> int:
    return 1 + max(int(name.partition(".")[0]) for name in arrays if "." in name)


def _norm(llama: Llama, gain: Array) -> "partial[Array]":
    return partial(rms_norm, gain=gain, eps=llama.eps)


def _attend(x: Array, llama: Llama, weights: Arrays) -> Array:
    heads, groups = len(llama.reads), int(llama.arrays["kv_heads"])
    query = as_heads(linear(x, weights["query"]), heads)
    key, value = (as_heads(linear(x, weights[role]), groups) for role in ("key", "value"))
    query, key, places = llama.turn(query), llama.turn(key), np.arange(len(x))
    width = query.shape[-1]
    spec = Attention(heads=heads, kv_heads=heads, head_width=width, scale=width**-0.5)
    read, mixed = key[:, llama.reads], value[:, llama.reads]
    return linear(join_heads(attention(query, read, mixed, places, places, spec).head_out), weights["out"])


def _think(x: Array, weights: Arrays) -> Array:
    return gated(x, weights["gate"], weights["up"], weights["down"], Activation.SILU)


def draw_tiny(rng: np.random.Generator, ground: Ground) -> Arrays:
    """Two small Llamas: one with a head of its own and shared keys, one tied and without sharing."""
    inputs: dict[str, Array] = {}
    for name, (sizes, base, eps) in TINY.items():
        arrays = {**mini.draw(rng, sizes), "base": np.array(base), "eps": np.array(eps)}
        if name == "own":
            arrays["head"] = rng.normal(size=(sizes.vocab, sizes.width))
        inputs |= mini.named(name, arrays) | {f"ids_{name}": rng.integers(0, sizes.vocab, 7)}
    return inputs


def draw_real(rng: np.random.Generator, ground: Ground) -> Arrays:
    """The small ones, and the default model's weights with text A and a short prompt."""
    model = ground.model
    spec, weights, first = model.spec, model.weights, model.spec.layers[0]
    rope = first.attention.rope
    assert isinstance(rope, PlainRope)
    arrays: dict[str, Array] = {
        "embedding": weights["embed"], "final_gain": weights["final_norm.gain"],
        "heads": np.array(first.attention.heads), "kv_heads": np.array(first.attention.kv_heads),
        "base": np.array(rope.base), "eps": np.array(spec.final_norm.eps),
    }  # fmt: skip
    if not spec.tied:
        arrays["head"] = weights["head"]
    for index in range(len(spec.layers)):
        arrays |= {
            f"{index}.{name}": _matrix(role, weights[f"layers.{index}.{role}"]) for name, role in OF_FILE.items()
        }
    texts = {"text_a": np.array(ground.text_a.ids), "capital": np.array(model.prompt(CAPITAL).ids)}
    return {**draw_tiny(rng, ground), **mini.named("real", arrays), **texts}


OF_FILE = {
    **{role: role for role in ("query", "key", "value", "out", "gate", "up", "down")},
    "attention_gain": "attn_norm.gain",
    "mlp_gain": "mlp_norm.gain",
}


def _matrix(role: str, array: Array) -> Array:
    """[h d c] as [h·d c], the output's [c h d] as [c h·d]."""
    if array.ndim < 3:
        return array
    return array.reshape(len(array), -1) if role == "out" else array.reshape(-1, array.shape[-1])


DRIVE_TINY = (
    mini.MODEL_OF
    + """
def drive(code, inputs):
    return {name: code.decoder(inputs["ids_" + name], model_of(inputs, name)) for name in ("own", "tied")}
"""
)
DRIVE_REAL = (
    mini.MODEL_OF
    + """
def drive(code, inputs):
    out = {name: code.decoder(inputs["ids_" + name], model_of(inputs, name)) for name in ("own", "tied")}
    if any(not np.isfinite(np.asarray(each, float)).all() for each in out.values()):
        return out
    model, ids = model_of(inputs, "real"), inputs["text_a"]
    rows = np.asarray(code.decoder(ids, model))[:-1]
    peak = rows.max(axis=1)
    total = np.array([np.exp(row - top, dtype=float).sum() for row, top in zip(rows, peak)])
    out["chosen"] = rows[np.arange(len(rows)), ids[1:]] - peak - np.log(total)
    out["capital"] = np.asarray(code.decoder(inputs["capital"], model))[-1]
    return out
"""
)


def judge_tiny(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    """Each small Llama: half-finished states by name, then the numbers."""
    remarks: list[Remark] = []
    for name, (sizes, base, eps) in TINY.items():
        ids, came = inputs[f"ids_{name}"], outputs[name]
        llama = llama_of(mini.of(inputs, name), base, eps)
        tried = (
            f"a small Llama, {sizes.heads} query heads on {sizes.kv_heads}, head {name}",
            f"小 Llama，{sizes.heads} 个 Q 头、{sizes.kv_heads} 个 KV 头，输出头 {name}",
        )
        remarks += [unlike(mistake, came, logits(wrong, ids)) for mistake, wrong in half_finished(llama, base)]
        remarks.append(equal(tried, came, logits(llama, ids)))
    return tuple(remarks)


def judge_real(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    """The small ones; then the likelihood of text A, and Paris."""
    small = judge_tiny(inputs, outputs)
    if "chosen" not in outputs:
        return small
    nll, last = -float(outputs["chosen"].mean()), outputs["capital"].astype(float)
    likely = np.exp(last - last.max()) / np.exp(last - last.max()).sum()
    paris = float(likely.max())
    return (
        *small,
        _near(OF_TEXT_A, nll, NLL, NLL_WITHIN),
        _near(OF_CAPITAL, paris, PARIS, PARIS_WITHIN),
    )


OF_TEXT_A: Both = ("NLL of text A with the default model's weights", "默认模型的权重，文本 A 的 NLL")
OF_CAPITAL: Both = (
    "the likeliest token after “The capital of France is”",
    "“The capital of France is” 之后最可能的 token",
)


def _near(tried: Both, came: float, right: float, within: float) -> Remark:
    expected = f"{right} ± {within}"
    return found(tried, abs(came - right) <= within, (expected, f"为 {expected}"), (f"{came:.4f}", f"{came:.4f}"))


SMALL = Task(("decoder",), draw_tiny, DRIVE_TINY, judge_tiny)
REAL = Task(("decoder",), draw_real, DRIVE_REAL, judge_real, on_model=True)
