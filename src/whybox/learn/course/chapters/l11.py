"""Same numbers, other order: tiles, precision, and what a difference between two runs is worth.

Shown takes two runs of text A in bf16 and two in fp16, every operation rounded, and four more in fp32: 22 s.
"""

from collections.abc import Iterator

import numpy as np

from whybox.learn.course.chapters.l11_runs import LETTERS, OF_MODEL, by_format, profiles
from whybox.learn.course.comparing import Both, equal, found, unlike
from whybox.learn.course.computed import Arrays, Computations, Remark, Task
from whybox.learn.figures.figure import Toys, Value
from whybox.learn.ground import Ground
from whybox.parts.attention import one_head
from whybox.parts.flash import Tile, flash_attention, tiles
from whybox.parts.mask import visible
from whybox.parts.rounding import rounded
from whybox.spec import Attention

Array = np.ndarray
N, LARGE, TILE = 23, 997, 29
SIZES = (1, 5, 7, 23)
D, DV = 11, 13


def _tile_reads() -> Value:
    """How often attention in tiles asks for each of its tiles."""
    rng, places, asked = np.random.default_rng(0), np.arange(8), [0]

    def counted() -> Iterator[Tile]:
        for tile in tiles(key, value, places, 4):
            asked[0] += 1
            yield tile

    query, key, value = (rng.normal(size=(8, 1, 4)) for _ in range(3))
    flash_attention(query, places, counted(), Attention(heads=1, kv_heads=1, head_width=4, scale=0.5))
    return asked[0] / 2


def _stuck() -> Value:
    """Ones added up, 5,000 of them, the sum rounded after every addition: in bf16 and in fp16."""
    return tuple(float(_sum_of_ones(precision, 5_000)) for precision in ("bf16", "fp16", "fp32"))


def _sum_of_ones(precision: str, count: int) -> float:
    total = np.zeros(1, np.float32)
    for _ in range(count):
        total = rounded(total + np.float32(1), precision)
    return float(total[0])


FIGURES: Toys = {"l11.tile_reads": _tile_reads, "l11.stuck": _stuck}


def _draw(rng: np.random.Generator, ground: Ground) -> Arrays:
    """Positions with a gap before the first query: its row sees nothing, and others see nothing of the last tiles."""
    inputs = {name: 2 * rng.normal(size=(N, width)) for name, width in (("query", D), ("key", D), ("value", DV))}
    large = {f"large_{name}": rng.normal(size=(LARGE, 3)) for name in ("query", "key", "value")}
    huge = {"huge_query": inputs["query"] * 200}
    seen = visible(np.arange(N), np.arange(N))
    hidden = seen.copy()
    hidden[:, :5] = False
    return {**inputs, **large, **huge, "seen": seen, "hidden": hidden}


DRIVE = (
    f"""
SIZES, TILE = {SIZES}, {TILE}
"""
    + """
import numpy as np

def in_tiles(key, value, seen, size):
    for start in range(0, len(key), size):
        yield key[start : start + size], value[start : start + size], seen[:, start : start + size]

def drive(code, inputs):
    query, key, value, seen = (inputs[name] for name in ("query", "key", "value", "seen"))
    out = {f"size_{size}": code.attention(query, in_tiles(key, value, seen, size)) for size in SIZES}
    out["hidden"] = code.attention(query, in_tiles(key, value, inputs["hidden"], 5))
    out["reversed"] = code.attention(query, reversed(list(in_tiles(key, value, seen, 5))))
    out["huge"] = code.attention(inputs["huge_query"], in_tiles(key, value, seen, 5))
    query, key, value = (inputs["large_" + name] for name in ("query", "key", "value"))
    everything = np.broadcast_to(True, (len(query), len(key)))
    try:
        import tracemalloc
    except ImportError:
        return out | {"peak": np.array([0])}
    tracemalloc.start()
    code.attention(query, in_tiles(key, value, everything, TILE))
    out["peak"] = np.array([tracemalloc.get_traced_memory()[1]])
    tracemalloc.stop()
    return out
"""
)
SUM_NOT_RESCALED: Both = (
    "the running sum was not rescaled when a higher score came",
    "出现更高的分数时，累计的分母没有重新缩放",
)
VALUES_NOT_RESCALED: Both = (
    "the values mixed so far were not rescaled when a higher score came",
    "出现更高的分数时，已经累加的 V 没有重新缩放",
)
UNSCALED: Both = ("scores were not divided by √d", "分数没有除以 √d")
NOT_A_NUMBER: Both = (
    "NaN: where a tile shows a row nothing, the peak is still −∞, and −∞ − (−∞) is no number",
    "出现 NaN：某一块对某一行全被遮住时，最大值还是 −∞，而 −∞ − (−∞) 不是数",
)


def _judge(inputs: Arrays, outputs: Arrays) -> tuple[Remark, ...]:
    query, key, value = (inputs[name] for name in ("query", "key", "value"))
    right, peak = _stored(query, key, value, inputs["seen"]), int(outputs["peak"][0])
    came = outputs["size_5"]
    return (
        unlike(SUM_NOT_RESCALED, came, _careless(inputs, values=True)),
        unlike(VALUES_NOT_RESCALED, came, _careless(inputs, values=False)),
        unlike(UNSCALED, came, _stored(query * np.sqrt(D), key, value, inputs["seen"])),
        Remark(not (_has_nan(outputs["hidden"]) or _has_nan(came)), *NOT_A_NUMBER),
        *(equal((f"tiles of {n} keys", f"每块 {n} 个键"), outputs[f"size_{n}"], right) for n in SIZES),
        equal(("the first tile hidden, five rows see nothing", "第一块全被遮住，有五行什么也看不见"), outputs["hidden"],
              _stored(query, key, value, inputs["hidden"])),
        equal(("tiles in reverse order", "各块倒序到来"), outputs["reversed"], right),
        equal(("scores in the thousands", "分数上千"), outputs["huge"],
              _stored(inputs["huge_query"], key, value, inputs["seen"])),
        found(
            (f"{LARGE} queries on {LARGE} keys, numbers held at once", f"{LARGE} 个查询、{LARGE} 个键，同时占用的数"),
            peak < 4 * LARGE**2,
            (f"fewer than half of {LARGE}²", f"少于 {LARGE}² 的一半"),
            (f"{peak // 8:,}", f"{peak // 8:,}"),
        ),
    )  # fmt: skip


def _has_nan(x: Array) -> bool:
    return x.dtype.kind == "f" and bool(np.isnan(x).any())


def _stored(query: Array, key: Array, value: Array, seen: Array) -> Array:
    """All scores at once."""
    return one_head(query, key, value, seen)[0]


def _careless(inputs: Arrays, values: bool) -> Array:
    """Tiles of 5 where only the values, or only the sum, are rescaled to a new peak."""
    query, key, value, seen = (inputs[name] for name in ("query", "key", "value", "seen"))
    peak, total, mixed = np.full((N, 1), np.finfo(float).min), np.zeros((N, 1)), np.zeros((N, DV))
    for start in range(0, N, 5):
        part = slice(start, start + 5)
        s = np.where(seen[:, part], query @ key[part].T / np.sqrt(D), -np.inf)
        higher = np.maximum(peak, s.max(axis=1, keepdims=True))
        kept, weights = np.exp(peak - higher), np.exp(s - higher)
        total = total * (1 if values else kept) + weights.sum(axis=1, keepdims=True)
        mixed = mixed * (kept if values else 1) + weights @ value[part]
        peak = higher
    return np.asarray(mixed / total)


COMPUTED = Computations(
    figures=FIGURES,
    on_model=OF_MODEL,
    tables={"by_format": by_format, "profiles": profiles},
    answers={"profiles": lambda ground: tuple(LETTERS.values())},
    tasks={"tiled": Task(("attention",), _draw, DRIVE, _judge)},
)
