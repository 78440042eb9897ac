"""L6: who may see whom. Toys, and three faults on text A (two to three seconds each)."""

from functools import cache

import numpy as np

from whybox.learn.course.comparing import Both, equal, unlike
from whybox.learn.course.computed import Arrays, Cell, Computations, Grid, Remark, Rows, Task
from whybox.learn.figures.figure import OnModel, Value
from whybox.learn.figures.position import blocks
from whybox.learn.ground import Ground
from whybox.parts.attention import one_head
from whybox.parts.mask import visible
from whybox.parts.softmax import softmax
from whybox.testing import faults

Array = np.ndarray
TOKENS, CHANGED, WIDTH = 8, 5, 13
LENGTHS, PADDED = (3, 5, 7), 7
NOISE = 1e-9

DRIVE_VISIBLE = """
import numpy as np

def drive(code, inputs):
    names = ("query_pos", "key_pos", "query_valid", "key_valid")
    padded = [inputs[name] for name in names]
    late = [inputs[f"late_{name}"] for name in names]
    return {
        "padded": np.array(code.visible(*padded)),
        "late": np.array(code.visible(*late)),
    }
"""
DRIVE_LEAK = """
import numpy as np

def masked_too_late(scores, seen):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True) * seen

def drive(code, inputs):
    scores, seen, value, empty = (inputs[name] for name in ("scores", "seen", "value", "empty"))
    with np.errstate(all="ignore"):
        return {
            "leak": np.array(code.leak(masked_too_late, scores.copy(), seen.copy(), value.copy())),
            "weights": np.array(code.weights(scores.copy(), seen.copy())),
            "empty": np.array(code.weights(scores.copy(), empty.copy())),
            "large": np.array(code.weights(1000 * scores, seen.copy())),
        }
"""


@cache
def _row_changes() -> tuple[float, ...]:
    """Two causal blocks, eight tokens: how far each output moves when token 5 is another."""
    x, places = np.random.default_rng(1).normal(size=(TOKENS, WIDTH)), np.arange(TOKENS)
    run, other = blocks(2, visible(places, places)), x.copy()
    other[CHANGED] += 1
    return tuple(map(float, np.abs(run(other) - run(x)).max(axis=1)))


def _changed_rows(ground: Ground) -> tuple[str, ...]:
    return tuple(f"row_{row}" for row, change in enumerate(_row_changes()) if change > NOISE)


def _without(ground: Ground) -> Value:
    """NLL of text A when every token sees every token, those that it is to predict among them."""
    return ground.text_a.with_fault(faults.NO_MASK)


def _padding(ground: Ground) -> Rows:
    """Length, rows that see nothing, and distance from the sequence alone: padded on the left, and on the right."""
    rows: list[tuple[Cell, ...]] = []
    for length in LENGTHS:
        x, places = np.random.default_rng(length).normal(size=(length, WIDTH)), np.arange(length)
        alone = one_head(x, x, x, visible(places, places))[0]
        (left, blind), (right, _) = (_padded(x, missing) for missing in (PADDED - length, 0))
        rows.append((length, blind, *(float(np.abs(out - alone).max()) for out in (left, right))))
    return tuple(rows)


def _padded(x: Array, before: int) -> tuple[Array, int]:
    """Outputs of real tokens behind so much padding of large numbers, the rest behind them; rows that see nothing."""
    order = np.arange(PADDED) - before
    valid = (order >= 0) & (order < len(x))
    line = np.full((PADDED, x.shape[1]), 1e3)
    line[valid] = x
    seen = visible(order, order, query_valid=valid, key_valid=valid)
    return one_head(line, line, line, seen)[0][valid], int((~seen.any(axis=1)).sum())


def _reached(ground: Ground) -> tuple[str, ...]:
    """Of five rows with the correction at position 3: which kinds of rows see it."""
    sees = visible(np.arange(5), np.arange(5))[:, 3]
    kinds = {"before": bool(sees[:3].any()), "itself": bool(sees[3]), "deciding": bool(sees[4])}
    return tuple(kind for kind, reaches in kinds.items() if reaches)


def _triangle(ground: Ground) -> Grid:
    """Rows are queries, columns keys; 1 where the query sees the key."""
    names = tuple(f"t{place}" for place in range(5))
    seen = visible(np.arange(5), np.arange(5))
    return Grid(seen.astype(float), names, names, ~seen)


def _draw_visible(rng: np.random.Generator, ground: Ground) -> Arrays:
    """One line padded at both ends; and three late queries over cached keys with gaps between their positions."""
    places = np.arange(11)
    valid = (places >= rng.choice([2, 3, 5])) & (places < 9)
    order = np.cumsum(valid) - 1
    held = np.sort(rng.choice(40, 13, replace=False))
    holes = np.ones(13, bool)
    holes[rng.choice(11)] = False
    return {
        "query_pos": order,
        "key_pos": order,
        "query_valid": valid,
        "key_valid": valid,
        "late_query_pos": held[-3:],
        "late_key_pos": held,
        "late_query_valid": np.ones(3, bool),
        "late_key_valid": holes,
    }


def _judge_visible(given: Arrays, came: Arrays) -> tuple[Remark, ...]:
    right = _seen(given, ""), _seen(given, "late_")
    padded: Both = ("11 tokens, padding at both ends", "11 个 token，两头是补齐")
    late: Both = (
        "three new queries over 13 kept keys, one of them padding",
        "三个新 query，面对 13 个已存的 key，其中一个是补齐",
    )
    counted = np.tril(np.ones(right[1].shape, bool)) & given["late_key_valid"]
    own = given["late_key_pos"] < given["late_query_pos"][:, None]
    return (
        unlike(
            ("True says what is hidden; it is to say what is visible", "True 表示了屏蔽；应表示可见"),
            came["late"],
            ~right[1],
        ),
        unlike(
            ("the triangle was laid by rows and columns; positions are given", "三角是按行列号画的；位置是给定的"),
            came["late"],
            counted,
        ),
        unlike(("a token does not see itself", "token 看不到自己"), came["late"], own & given["late_key_valid"]),
        unlike(
            ("padding is seen", "补齐的位置被看到了"),
            came["late"],
            given["late_key_pos"] <= given["late_query_pos"][:, None],
        ),
        equal(padded, came["padded"], right[0]),
        equal(late, came["late"], right[1]),
    )


def _seen(given: Arrays, prefix: str) -> Array:
    query_pos, key_pos, query_valid, key_valid = (
        given[f"{prefix}{name}"] for name in ("query_pos", "key_pos", "query_valid", "key_valid")
    )
    return visible(query_pos, key_pos, query_valid=query_valid, key_valid=key_valid)


def _draw_leak(rng: np.random.Generator, ground: Ground) -> Arrays:
    n = 7
    seen = np.tril(np.ones((n, n), bool))
    empty = seen.copy()
    empty[0] = False
    return {"scores": rng.normal(size=(n, n)), "seen": seen, "value": rng.normal(size=n), "empty": empty}


def _judge_leak(given: Arrays, came: Arrays) -> tuple[Remark, ...]:
    scores, seen, value = given["scores"], given["seen"], given["value"]
    full, right = softmax(scores), softmax(scores, seen)
    out = (full * seen) @ value
    leak = full * (seen * value - out[:, None])
    slopes: Both = ("the leak of a mask behind the softmax, 7 × 7 scores", "掩码放在 softmax 之后的泄漏，7 × 7 个分数")
    return (
        unlike(
            ("leak: only visible scores were nudged", "leak：只动了可见的分数"),
            came["leak"].round(5),
            (leak * seen).round(5),
        ),
        equal(slopes, came["leak"], leak, within=1e-6),
        unlike(
            (
                "weights: the mask came after the softmax, and rows do not add up to 1",
                "weights：掩码放在 softmax 之后了，行和不为 1",
            ),
            came["weights"],
            full * seen,
        ),
        equal(("weights of 7 × 7 scores under a causal mask", "因果掩码下 7 × 7 个分数的权重"), came["weights"], right),
        unlike(
            (
                "weights: a row that sees nothing got even weights, as −1e9 makes them",
                "weights：什么都看不到的行得到了均匀的权重，这是 −1e9 的后果",
            ),
            came["empty"][0] if came["empty"].ndim == 2 else came["empty"],
            np.full(7, 1 / 7),
        ),
        equal(
            ("weights where the first row sees nothing: 0 throughout", "第一行什么都看不到时的权重：应全为 0"),
            came["empty"],
            softmax(scores, given["empty"]),
        ),
        equal(
            ("weights of scores a thousand times as large", "分数放大一千倍后的权重"),
            came["large"],
            softmax(1000 * scores, seen),
        ),
    )


COMPUTED = Computations(
    figures={"l06.row_changes": _row_changes},
    on_model={"l06.no_mask": OnModel(_without)},
    tables={"padding": _padding},
    grids={"triangle": _triangle},
    answers={"changed_rows": _changed_rows, "reached": _reached},
    tasks={
        "visible": Task(("visible",), _draw_visible, DRIVE_VISIBLE, _judge_visible),
        "leak": Task(("leak", "weights"), _draw_leak, DRIVE_LEAK, _judge_leak),
    },
)
