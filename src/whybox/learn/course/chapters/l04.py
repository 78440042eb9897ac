"""L4: attention by hand. The worked example of the document, what it prints wrongly, and two attentions to write."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Float

from whybox.learn.course.comparing import equal, unlike
from whybox.learn.course.computed import Arrays, Computations, Grid, Remark, Rows, Task
from whybox.learn.figures.worked import KEY, QUERY, SCORES, SEEN, VALUE
from whybox.learn.ground import Ground
from whybox.learn.ledger import Said
from whybox.parts.attention import one_head
from whybox.parts.kernels import feature, linear_attention, linear_attention_running
from whybox.parts.softmax import softmax

TOKENS = ("我", "想", "退款")
PRINTED = (0.04, 0.26, 0.70)
TIMES = (1, 3, 10, 30)
PRIMES = (5, 7, 11, 13)
CASES = ("plain", "causal", "huge", "empty")
Matrix = Float[np.ndarray, "q k"]


def _row(scores: Float[np.ndarray, "k"]) -> tuple[float, ...]:
    return tuple(map(float, softmax(scores)))


def _scaled_3() -> tuple[float, ...]:
    return tuple(map(float, SCORES[2]))


def _query_variance() -> float:
    """Of X·W_Q with rows of unit variance: 2,000 rows, c 64, d 16, weights N(0, .02²)."""
    rng = np.random.default_rng(0)
    return float((rng.normal(size=(2_000, 64)) @ (0.02 * rng.normal(size=(64, 16)))).var())


def _sharpest() -> tuple[float, float]:
    """The largest weight of row 3 with its query times 1,000: of the softmax, and of φ(q)·φ(k)."""
    similar = feature(1_000 * QUERY[2:]) @ feature(KEY).T
    return float(softmax(1_000 * SCORES[2]).max()), float((similar / similar.sum()).max())


def _running_error() -> float:
    rng = np.random.default_rng(3)
    query, key, value = (rng.normal(size=(11, width)) for width in (5, 5, 3))
    apart = linear_attention(query, key, value) - linear_attention_running(query, key, value)
    return float(np.abs(apart).max())


def _grid(values: Matrix, hidden: Bool[np.ndarray, "q k"] | None = None) -> Grid:
    return Grid(values, TOKENS, TOKENS, hidden)


def _outputs(_: Ground) -> Rows:
    out, _pattern = one_head(QUERY, KEY, VALUE, SEEN)
    return tuple((token, float(first), float(second)) for token, (first, second) in zip(TOKENS, out, strict=True))


def _printed(_: Ground) -> Rows:
    """Three rows: as printed, as it is, and without √2."""
    rows: dict[Said, Sequence[float]] = {
        Said(en="the document prints", zh="文档印的"): PRINTED,
        Said(en="softmax of 1, 3, 4 over √2", zh="1、3、4 除以 √2 后 softmax"): _row(SCORES[2]),
        Said(en="softmax of 1, 3, 4", zh="直接对 1、3、4 softmax"): _row((QUERY @ KEY.T)[2]),
    }
    return tuple((name, *row) for name, row in rows.items())


def _sharper(_: Ground) -> Rows:
    """Weights and output of row 3, its scores times t; last what a dictionary gives."""
    rows: list[tuple[str, Float[np.ndarray, "k"]]] = [(str(t), softmax(t * SCORES[2])) for t in TIMES]
    rows.append(("∞", np.eye(3)[SCORES[2].argmax()]))
    return tuple((name, *map(float, row), "({:.3f}, {:.3f})".format(*(row @ VALUE))) for name, row in rows)


def _sharper_answer(_: Ground) -> tuple[str, ...]:
    """Which of the four it is: weights of the scores times 30, applied to the values."""
    out = softmax(30 * SCORES[2]) @ VALUE
    before = softmax(SCORES[2]) @ VALUE
    like = {"mean": VALUE.mean(axis=0), "best": VALUE[2], "same": before, "larger": 30 * before}
    return (min(like, key=lambda name: float(np.abs(out - like[name]).max())),)


def _missing(_: Ground) -> tuple[str, ...]:
    """The slip that gives what the document prints."""
    raw = (QUERY @ KEY.T)[2]
    slips = {
        "scaling": softmax(raw),
        "mask": softmax(SCORES)[2],
        "peak": np.exp(SCORES[2]) / np.exp(SCORES[2]).sum(),
        "rows": softmax(SCORES.T, SEEN.T).T[2],
    }
    return (min(slips, key=lambda name: float(np.abs(slips[name] - PRINTED).max())),)


def _differs(_: Ground) -> tuple[str, ...]:
    """What holds of the softmax and not of φ(q)·φ(k), or the other way round, on random rows."""
    rng = np.random.default_rng(7)
    query, key = rng.normal(size=(13, 5)), rng.normal(size=(13, 5))
    hard, similar = softmax(query @ key.T), feature(query) @ feature(key).T
    soft = similar / similar.sum(axis=-1, keepdims=True)
    sharp_hard, sharp_soft = _sharpest()
    differs = {
        "sums": not np.allclose(soft.sum(axis=-1), hard.sum(axis=-1)),
        "signs": bool((soft < 0).any()) != bool((hard < 0).any()),
        "sharp": (sharp_hard > 0.99) != (sharp_soft > 0.99),
        "state": _running_error() < 1e-12,
    }
    return tuple(name for name, holds in differs.items() if holds)


def _draw_attention(rng: np.random.Generator, _: Ground) -> Arrays:
    """Four cases: everything visible, causal, scores of thousands, and a query that may see nothing."""
    rows, keys, width, out = map(int, rng.permutation(PRIMES))
    arrays = {}
    for case in CASES:
        n = keys if case == "causal" else rows
        arrays[f"{case}_q"] = rng.normal(size=(n, width)) * (1e4 if case == "huge" else 1)
        arrays[f"{case}_k"], arrays[f"{case}_v"] = rng.normal(size=(keys, width)), rng.normal(size=(keys, out))
        arrays[f"{case}_mask"] = _mask(case, rng, n, keys)
    return arrays


def _mask(case: str, rng: np.random.Generator, rows: int, keys: int) -> Bool[np.ndarray, "q k"]:
    if case == "causal":
        return np.triu(np.ones((rows, keys), bool), k=1)
    if case == "plain":
        return np.zeros((rows, keys), bool)
    hidden = rng.random((rows, keys)) < 0.3
    hidden[:, 0] = False
    if case == "empty":
        hidden[rng.integers(rows)] = True
    return hidden


DRIVE_ATTENTION = """
import numpy as np

def drive(code, inputs):
    came = {}
    for case in ("plain", "causal", "huge", "empty"):
        given = [inputs[f"{case}_{name}"].copy() for name in ("q", "k", "v", "mask")]
        out, weights = code.attention(*given)
        came[f"{case}_out"], came[f"{case}_weights"] = np.asarray(out), np.asarray(weights)
    return came
"""
TOLD = {
    "plain": ("everything visible", "全部可见"),
    "causal": ("causal mask", "causal mask"),
    "huge": ("scores of tens of thousands", "分数上万"),
    "empty": ("a query that may see nothing", "有一个 query 什么都不能看"),
}


def _judge_attention(inputs: Arrays, came: Arrays) -> tuple[Remark, ...]:
    remarks = [*_slips(inputs, came)]
    for case, (en, zh) in TOLD.items():
        query, key, value, hidden = (inputs[f"{case}_{name}"] for name in ("q", "k", "v", "mask"))
        out, pattern = one_head(query, key, value, ~hidden)
        remarks.append(equal((f"{en}, weights", f"{zh}，权重"), came[f"{case}_weights"], pattern))
        remarks.append(equal((f"{en}, output", f"{zh}，输出"), came[f"{case}_out"], out))
    return tuple(remarks)


def _slips(inputs: Arrays, came: Arrays) -> tuple[Remark, ...]:
    """Classic mistakes by name, each where it shows."""
    query, key, hidden = (inputs[f"causal_{name}"] for name in ("q", "k", "mask"))
    raw, seen = query @ key.T, ~hidden
    scaled, weights = raw / float(np.sqrt(query.shape[1])), came["causal_weights"]
    return (
        unlike(("the mask came after the softmax", "掩码放到了 softmax 之后"), weights, softmax(scaled) * seen),
        unlike(("the division by √d is missing", "漏了除以 √d"), weights, softmax(raw, seen)),
        unlike(("the mask is read the other way round", "掩码的含义弄反了"), weights, softmax(scaled, hidden)),
        unlike(
            ("the softmax runs along queries, not along keys", "softmax 沿 query 方向做了，应沿 key 方向"),
            weights,
            softmax(scaled.T, seen.T).T,
        ),
    )


def _draw_linear(rng: np.random.Generator, _: Ground) -> Arrays:
    rows, width, out = map(int, rng.permutation(PRIMES)[:3])
    shapes = {"q": (rows, width), "k": (rows, width), "v": (rows, out)}
    return {name: rng.normal(size=shape) for name, shape in shapes.items()}


DRIVE_LINEAR = """
import numpy as np

def drive(code, inputs):
    return {"out": np.asarray(code.linear_attention(*(inputs[name].copy() for name in ("q", "k", "v"))))}
"""


def _judge_linear(inputs: Arrays, came: Arrays) -> tuple[Remark, ...]:
    query, key, value = (inputs[name] for name in ("q", "k", "v"))
    similar = feature(query) @ feature(key).T
    causal = np.tril(similar)
    slips = (
        unlike(("no row is divided by its sum", "没有除以各行之和"), came["out"], causal @ value),
        unlike(
            ("it is not causal: later rows are seen", "不是 causal：看到了后面的行"),
            came["out"],
            similar @ value / similar.sum(axis=-1, keepdims=True),
        ),
        unlike(
            ("the sum that divides runs over hidden keys too", "除数里混进了被遮住的 key"),
            came["out"],
            causal @ value / similar.sum(axis=-1, keepdims=True),
        ),
    )
    tried = (f"{len(query)} rows", f"{len(query)} 行")
    right = equal(tried, came["out"], linear_attention(query, key, value))
    return (*slips, right)


COMPUTED = Computations(
    figures={
        "l04.scaled_3": _scaled_3,
        "l04.query_variance": _query_variance,
        "l04.sharpest": _sharpest,
        "l04.running_error": _running_error,
    },
    tables={"outputs": _outputs, "printed": _printed, "sharper": _sharper},
    grids={
        "scores": lambda _: _grid(QUERY @ KEY.T),
        "masked": lambda _: _grid(SCORES, ~SEEN),
        "pattern": lambda _: _grid(one_head(QUERY, KEY, VALUE, SEEN)[1], ~SEEN),
    },
    answers={
        "sharper": _sharper_answer,
        "missing": _missing,
        "roles": lambda _: ("query", "key", "value", "value", "query"),
        "differs": _differs,
    },
    tasks={
        "attention": Task(("attention",), _draw_attention, DRIVE_ATTENTION, _judge_attention),
        "linear": Task(("linear_attention",), _draw_linear, DRIVE_LINEAR, _judge_linear),
    },
)
