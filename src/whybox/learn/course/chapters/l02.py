"""L2: where order comes from. Toys, four short runs of the default model, and one fault on text A (two seconds)."""

import numpy as np

from whybox.learn.course.comparing import Both, equal, found, unlike
from whybox.learn.course.computed import Arrays, Cell, Computations, Grid, Remark, Rows, Task
from whybox.learn.figures.decoder import TOYS as OF_DECODER
from whybox.learn.figures.figure import Value
from whybox.learn.figures.position import SEEN, TOKENS, WIDTH, blocks
from whybox.learn.ground import Ground
from whybox.parts.attention import one_head
from whybox.parts.position import sinusoid, sinusoid_at
from whybox.testing import faults

Array = np.ndarray
NOISE = 1e-9
SWAP = [2, 1, 0, *range(3, TOKENS)]
STORIES = ("The dog bites the man.", "The man bites the dog.")
QUESTION = " The victim is the"
NAMED = (" dog", " man")
PLACES, DIMENSIONS, WIDE = 8, (0, 1, 2, 3, 8, 9, 16, 17, 32, 33, 62, 63), 64

DRIVE_SINUSOID = """
import numpy as np

def drive(code, inputs):
    n, c, odd = (int(inputs[name]) for name in ("n", "c", "odd"))
    try:
        code.sinusoid(n, odd)
        refused = False
    except Exception:
        refused = True
    return {"out": np.array(code.sinusoid(n, c)), "refused": np.array(refused)}
"""
DRIVE_SHIFT = """
import numpy as np

def drive(code, inputs):
    c = int(inputs["c"])
    return {f"shift_{place}": np.array(code.shift(int(k), c)) for place, k in enumerate(inputs["steps"])}
"""


def _rows() -> Array:
    return np.random.default_rng(1).normal(size=(TOKENS, WIDTH))


def _swapped(count: int, seen: Array | None, coded: bool) -> float:
    """Change of the last output of so many blocks when two earlier tokens change places."""
    x, run = _rows(), blocks(count, seen)
    code = sinusoid(TOKENS, WIDTH + 1)[:, :WIDTH] if coded else np.zeros_like(x)
    return float(np.abs(run(x[SWAP] + code)[-1] - run(x + code)[-1]).max())


def _pattern_error() -> Value:
    """A(PX) against P A Pᵀ: rows and columns of the pattern move together."""
    x, order = _rows(), np.random.default_rng(2).permutation(TOKENS)
    before, after = one_head(x, x, x)[1], one_head(x[order], x[order], x[order])[1]
    return float(np.abs(after - before[order][:, order]).max())


def _with_root() -> Value:
    """The ratio of code to embedding in the documents' decoder, were the embeddings multiplied by √64 first."""
    sizes = OF_DECODER["decoder.sizes"]()
    assert isinstance(sizes, tuple)
    return sizes[2] / WIDE**0.5


def _moved(ground: Ground) -> tuple[str, ...]:
    """Without a mask, causal with one layer, causal with two: does the last output change?"""
    changes = (_swapped(2, None, False), _swapped(1, SEEN, False), _swapped(2, SEEN, False))
    return tuple("changes" if change > NOISE else "stays" for change in changes)


def _equivariance(seen: Array | None) -> float:
    """Outputs of swapped rows against the swapped outputs."""
    x, run = _rows(), blocks(2, seen)
    return float(np.abs(run(x[SWAP]) - run(x)[SWAP]).max())


def _needs_no_mask(ground: Ground) -> tuple[str, ...]:
    """Statements that hold without a mask and not under a causal one."""
    holds = {
        "equivariant": [_equivariance(seen) < NOISE for seen in (None, SEEN)],
        "bag": [_swapped(2, seen, False) < NOISE for seen in (None, SEEN)],
        "signal": [_swapped(2, seen, True) > NOISE for seen in (None, SEEN)],
    }
    return tuple(name for name, (without, causal) in holds.items() if without and not causal)


def _victims(ground: Ground) -> Rows:
    """Story, and the probabilities of the two who may be named: as it is, and with RoPE taken out."""
    model, bare = ground.model, faults.NO_ROPE.of(ground.model)
    encode = model.tokenizer.encode
    named = [encode(word)[0] for word in NAMED]
    rows: list[tuple[Cell, ...]] = []
    for story in STORIES:
        ids = encode(story + QUESTION)
        found_in = [np.exp(each.engine.run(ids, tail=1).log_probs()[named]) for each in (model, bare)]
        rows.append((story, *(float(p) for each in found_in for p in each)))
    return tuple(rows)


def _code(ground: Ground) -> Grid:
    """Twelve of 64 dimensions at the first eight positions."""
    return Grid(
        sinusoid(PLACES, WIDE)[:, list(DIMENSIONS)], tuple(map(str, range(PLACES))), tuple(map(str, DIMENSIONS))
    )


def _draw_sinusoid(rng: np.random.Generator, ground: Ground) -> Arrays:
    n, c, odd = rng.choice([11, 13, 17]), 2 * rng.choice([5, 7, 11]), rng.choice([3, 5, 7])
    return {"n": np.array(n), "c": np.array(c), "odd": np.array(odd)}


def _judge_sinusoid(given: Arrays, came: Arrays) -> tuple[Remark, ...]:
    n, c, odd = (int(given[name]) for name in ("n", "c", "odd"))
    right, out = sinusoid(n, c), came["out"]
    angles = np.arange(n)[:, None] / 10000.0 ** (np.arange(c // 2) / c)
    slow: Array = np.stack([np.sin(angles), np.cos(angles)], axis=-1).reshape(n, c)
    tried: Both = (f"{n} positions, width {c}", f"{n} 个位置，宽 {c}")
    return (
        unlike(
            (
                "all sines stand before all cosines; they alternate in this code",
                "先放了所有 sin 再放 cos；这里二者应交替",
            ),
            out,
            np.concatenate([right[:, 0::2], right[:, 1::2]], axis=1),
        ),
        unlike(("sine and cosine have changed places", "sin 与 cos 放反了"), out, _pairs_turned(right)),
        unlike(
            ("the exponent is i/c; pair i has 2i/c", "指数用了 i/c；第 i 对应是 2i/c"),
            out,
            slow,
        ),
        unlike(("positions were counted from 1", "位置从 1 数起了"), out, sinusoid_at(np.arange(1, n + 1), c)),
        equal(tried, out, right),
        found(
            (f"width {odd}", f"宽 {odd}"),
            bool(came["refused"]),
            ("an exception: sine and cosine come in pairs", "抛出异常：sin 与 cos 成对出现"),
            ("an array", "一个数组"),
        ),
    )


def _pairs_turned(x: Array) -> Array:
    return x.reshape(len(x), -1, 2)[:, :, ::-1].reshape(x.shape)


def _draw_shift(rng: np.random.Generator, ground: Ground) -> Arrays:
    steps = np.array([0, 1, rng.choice([7, 11, 13]), -rng.choice([3, 5, 17])])
    return {"c": np.array(2 * rng.choice([3, 5, 7])), "steps": steps, "places": rng.integers(20, 4000, 19)}


def _judge_shift(given: Arrays, came: Arrays) -> tuple[Remark, ...]:
    c, places = int(given["c"]), given["places"]
    here = sinusoid_at(places, c)
    remarks: list[Remark] = []
    for index, k in enumerate(map(int, given["steps"])):
        matrix = came[f"shift_{index}"]
        tried: Both = (f"M for k = {k}, c = {c}, at 19 positions", f"k = {k}、c = {c} 的 M，取 19 个位置")
        if matrix.shape != (c, c):
            remarks.append(equal(tried, matrix, np.zeros((c, c))))
            continue
        back = sinusoid_at(places - k, c)
        if k != 0:
            mistake: Both = (f"M for k = {k} goes back by {k}, not on", f"k = {k} 的 M 方向反了，移动了 {-k}")
            remarks.append(unlike(mistake, here @ matrix.T, back))
        remarks.append(equal(tried, here @ matrix.T, sinusoid_at(places + k, c), within=1e-9))
    return tuple(remarks)


COMPUTED = Computations(
    figures={
        "l02.swapped_unmasked": lambda: _swapped(2, None, False),
        "l02.pattern_error": _pattern_error,
        "l02.with_root": _with_root,
    },
    tables={"victims": lambda ground: ground.once(_victims)},
    grids={"code": _code},
    answers={"moved": _moved, "needs_no_mask": _needs_no_mask},
    tasks={
        "sinusoid": Task(("sinusoid",), _draw_sinusoid, DRIVE_SINUSOID, _judge_sinusoid),
        "shift": Task(("shift",), _draw_shift, DRIVE_SHIFT, _judge_shift),
    },
)
