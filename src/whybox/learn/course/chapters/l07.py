"""Many heads, fewer keys: groups as grids, sites of the default model, and code that lets heads share keys.

Shown takes two runs of text A with something wrong and one prompt of five ids: 7 s.
"""

import numpy as np

from whybox.learn.course.chapters import mini
from whybox.learn.course.comparing import Both, equal, unlike
from whybox.learn.course.computed import Arrays, Computations, Grid, Remark, Rows, Task
from whybox.learn.figures import ON_MODEL
from whybox.learn.figures.figure import Value
from whybox.learn.ground import Ground
from whybox.parts.attention import project_out, split_heads
from whybox.parts.decoder import forward
from whybox.sites import BY_NAME

Array = np.ndarray
PROMPT = "The capital of France is"
SITES = ("attn_in", "query", "key", "value", "scores", "pattern", "head_out", "attn_out")
HEADS, GROUPS = 9, 3
SHARED = ((6, 6), (6, 2), (6, 1), (15, 3))


def _sum_of_heads() -> Value:
    """Concat · W_O against Σ_h head_h · W_O[h]: largest distance, of numbers of this size."""
    rng = np.random.default_rng(0)
    head_out, out = rng.normal(size=(7, 5, 11)), rng.normal(size=(13, 5, 11))
    joined = project_out(head_out, out)
    apart = sum((head_out[:, h] @ out[:, h].T for h in range(5)), np.zeros_like(joined))
    return float(np.abs(joined - apart).max()), float(np.abs(joined).max())


def _one_head() -> Value:
    """Parameters of four matrices of c = 512 and one head of 512."""
    return float(sum(np.zeros((512, 512)).size for _ in range(4)))


def _shapes(ground: Ground) -> Rows:
    """A site, its axes and its shape in the first layer."""
    trace = ground.model.run(PROMPT, see=[(site, 0) for site in SITES])
    return tuple(
        (site, " ".join(BY_NAME[site].axes.split()), " × ".join(map(str, trace[site, 0].shape))) for site in SITES
    )


def _grid(reads: Array) -> Grid:
    rows = tuple(f"q{h}" for h in range(HEADS))
    return Grid((reads[:, None] == np.arange(GROUPS)).astype(float), rows, tuple(f"kv{g}" for g in range(GROUPS)))


def _kinds(ground: Ground) -> Rows:
    """Three kinds of attention for 32 query heads, d 128, c 4,096: key/value parameters, and cache in 16 bit."""
    kinds = (("MHA", 32), ("GQA", 8), ("MQA", 1))
    return tuple((kind, 32, g, 32 // g, 2 * g * 128 * 4096, 2 * g * 128 * 2) for kind, g in kinds)


def _band(nll: float, sound: float, chance: float) -> tuple[str]:
    """Which of the answers a fault's NLL falls into."""
    if nll < sound + 0.05:
        return ("same",)
    if nll < sound + 1:
        return ("little",)
    return ("much",) if nll < chance - 1 else ("chance",)


def _of_tiled(ground: Ground) -> tuple[str, ...]:
    return _judged("faults.tiled_heads", ground)


def _of_identity(ground: Ground) -> tuple[str, ...]:
    return _judged("faults.no_output_matrix", ground)


def _judged(name: str, ground: Ground) -> tuple[str, ...]:
    nll, sound, chance = (ground.once(ON_MODEL[each].compute) for each in (name, "faults.none", "faults.chance"))
    assert isinstance(nll, float)
    assert isinstance(sound, float)
    assert isinstance(chance, float)
    return _band(nll, sound, chance)


def _draw_shared(rng: np.random.Generator, ground: Ground) -> Arrays:
    """Ids, and a decoder for each way of sharing."""
    inputs: dict[str, Array] = {"ids": rng.integers(0, 101, 7)}
    for h, g in SHARED:
        inputs |= mini.named(f"{h}/{g}", mini.draw(rng, mini.Sizes(2 * h, h, g, 2, 23, 101, 2)))
    return inputs


DRIVE_SHARED = (
    mini.MODEL_OF
    + """
def drive(code, inputs):
    names = sorted({key.partition(".")[0] for key in inputs if "." in key})
    return {name: code.decoder(inputs["ids"], model_of(inputs, name)) for name in names}
"""
)


def _judge_shared(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    remarks = []
    for h, g in SHARED:
        model, came = mini.of(inputs, f"{h}/{g}"), outputs[f"{h}/{g}"]
        tried: Both = (f"{h} query heads on {g} key/value heads", f"{h} 个 Q 头、{g} 个 KV 头")
        if 1 < g < h:
            remarks.append(unlike(TILED, came, _logits(model, inputs["ids"], np.arange(h) % g)))
            remarks.append(unlike(VALUES_TILED, came, _logits(model, inputs["ids"], np.arange(h) // (h // g), h, g)))
        remarks.append(equal(tried, came, _logits(model, inputs["ids"], np.arange(h) // (h // g))))
    return tuple(remarks)


def _logits(model: Arrays, ids: Array, reads: Array, h: int = 1, g: int = 1) -> Array:
    """With a key and a value for every query head; h and g: values in tiled order instead."""
    values = reads if h == g else np.arange(h) % g
    return forward(mini.plain(mini.by_heads(model, {"key": reads, "value": values})), ids)


TILED: Both = (
    "head h reads key/value head h // r, not h % g: the groups lie side by side",
    "头 h 读的是第 h // r 个 KV 头，不是 h % g：同组的头是挨着的",
)
VALUES_TILED: Both = (
    "keys and values are shared alike: head h reads both from the same key/value head",
    "K 和 V 的共享方式相同：头 h 从同一个 KV 头读取两者",
)


def _draw_split(rng: np.random.Generator, ground: Ground) -> Arrays:
    return {"x": rng.normal(size=(7, 15)), "heads": np.array(3), "y": rng.normal(size=(4, 22)), "y_heads": np.array(11)}


DRIVE_SPLIT = """
def drive(code, inputs):
    x, y, heads, more = inputs["x"], inputs["y"], int(inputs["heads"]), int(inputs["y_heads"])
    return {
        "split": code.split_heads(x, heads), "more": code.split_heads(y, more),
        "joined": code.join_heads(code.split_heads(x, heads)), "straight": code.straight(x, heads),
    }
"""


def _judge_split(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    x, y, heads = inputs["x"], inputs["y"], int(inputs["heads"])
    right, cut = split_heads(x, heads), x.reshape(heads, len(x), -1)
    return (
        unlike(CUT, outputs["split"], cut),
        equal(("split_heads, 7 rows, 3 heads", "split_heads，7 行、3 个头"), outputs["split"], right),
        equal(("split_heads, 4 rows, 11 heads", "split_heads，4 行、11 个头"), outputs["more"], split_heads(y, 11)),
        unlike(NOT_BACK, outputs["joined"], right.reshape(len(x), -1)),
        equal(("join_heads gives back the rows", "join_heads 还原原来的行"), outputs["joined"], x),
        equal(("straight, as it is often mistaken", "straight：常见的错误写法"), outputs["straight"], cut),
    )


CUT: Both = (
    "split_heads cut rows into pieces: a head must hold its columns of every row",
    "split_heads 把行切碎了：一个头应当拿到每一行中属于它的那几列",
)
NOT_BACK: Both = (
    "join_heads must turn the heads back behind the rows before it joins them",
    "join_heads 在拼接之前，要先把头的维度转回到行之后",
)


def _wrong_split(ground: Ground) -> tuple[str, ...]:
    """Which of two ways does not give each head its own columns."""
    x = np.arange(24.0).reshape(3, 8)
    ways = {"turned": x.reshape(3, 2, 4).swapaxes(0, 1), "straight": x.reshape(2, 3, 4)}
    return tuple(name for name, way in ways.items() if not np.array_equal(way[1], x[:, 4:]))


COMPUTED = Computations(
    figures={"l07.sum_of_heads": _sum_of_heads, "l07.one_head": _one_head},
    tables={"sites": _shapes, "kinds": _kinds},
    grids={
        "repeated": lambda ground: _grid(np.repeat(np.arange(GROUPS), HEADS // GROUPS)),
        "tiled": lambda ground: _grid(np.tile(np.arange(GROUPS), HEADS // GROUPS)),
    },
    answers={"tiled": _of_tiled, "identity": _of_identity, "wrong_split": _wrong_split},
    tasks={
        "shared": Task(("decoder",), _draw_shared, DRIVE_SHARED, _judge_shared),
        "split": Task(("split_heads", "join_heads", "straight"), _draw_split, DRIVE_SPLIT, _judge_split),
    },
)
