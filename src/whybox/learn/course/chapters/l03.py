"""L3: rotation, distance in place of index. Toys, six runs of 65 ids, and five faults on text A (two seconds each)."""

import numpy as np

from whybox.learn.course.comparing import Both, equal, found, unlike
from whybox.learn.course.computed import Arrays, Cell, Computations, Remark, Rows, Task
from whybox.learn.figures import ON_MODEL
from whybox.learn.figures.position import K as KEY
from whybox.learn.figures.position import Q, turned
from whybox.learn.ground import Ground
from whybox.parts.position import alibi_bias, alibi_slopes, half_from_interleaved, rope_angles, rotate
from whybox.parts.rope import frequencies, wavelengths
from whybox.spec import Pairing, PlainRope
from whybox.testing import faults
from whybox.testing.faults.ends import corrupt

Array = np.ndarray
APART = ((3, 1), (13, 11), (1003, 1001), (3, 2), (3, 3))
PAIRS = (0, 1, 8, 16, 24, 31)
FAR = (1, 16, 256)
HARM = ("faults.rope_base_1e4", "faults.no_rope", "faults.rope_pairing", "faults.rope_of_model_width")
SEEN_AT, READ, SPOILT = (0, 1, 2, 8, 16, 64), 65, 16
SITE = ("query_pos", 0)

DRIVE_ROPE = """
import numpy as np

def drive(code, inputs):
    x, positions, base = inputs["x"], inputs["positions"], float(inputs["base"])
    return {
        "neighbours": np.array(code.neighbours(x.copy(), positions, base)),
        "halves": np.array(code.halves(x.copy(), positions, base)),
        "order": np.array(code.order(x.shape[-1])),
    }
"""
DRIVE_ALIBI = """
import numpy as np

def drive(code, inputs):
    return {"out": np.array(code.alibi(int(inputs["heads"]), inputs["query_pos"], inputs["key_pos"]))}
"""


def _products(ground: Ground) -> Rows:
    """Query and key at two positions, their distance, and the product of the rotated two."""
    return tuple((m, n, m - n, float(turned(Q, m) @ turned(KEY, n))) for m, n in APART)


def _waves(ground: Ground) -> Rows:
    """Of a head of width 64: pair, radians a token, tokens a turn; for the documents' base and the default model's."""
    ropes = [PlainRope(base, 64) for base in (1e4, 1e5)]
    turns = [(frequencies(rope, 1), wavelengths(rope, 1)) for rope in ropes]
    return tuple((pair, *(float(each[pair]) for both in turns for each in both)) for pair in PAIRS)


def _slopes(ground: Ground) -> Rows:
    """Head, slope, and what is added to its scores at three distances, for 8 heads."""
    slopes = alibi_slopes(8)
    bias = alibi_bias(slopes, np.array([max(FAR)]), max(FAR) - np.array(FAR))[:, 0]
    return tuple((head, float(slopes[head]), *map(float, bias[head])) for head in range(8))


def _planted() -> dict[str, tuple[faults.Fault, str]]:
    """Letters of the table: what is wrong, and what it is a case of."""
    return {
        "a": (faults.GAIN_TWICE, "alike"),
        "b": (faults.theta(1e4), "positions"),
        "c": (corrupt("embed", slice(0, 1)), "token"),
        "d": (faults.NORM_KIND, "alike"),
        "e": (faults.ROPE_PAIRING, "positions"),
    }


def _profiles(ground: Ground) -> Rows:
    """Of each planted fault: how far the rotated queries of layer 0 are from the right ones, of their length."""
    ids = ground.text_a.ids[:READ]
    right = _queries(ground, None)
    spoilt = corrupt("embed", slice(ids[SPOILT], ids[SPOILT] + 1))
    rows: list[tuple[Cell, ...]] = []
    for letter, (fault, case) in _planted().items():
        away = _queries(ground, spoilt if case == "token" else fault) - right
        part = np.linalg.norm(away, axis=1) / np.linalg.norm(right, axis=1)
        rows.append((letter.upper(), *(float(part[place]) for place in SEEN_AT)))
    return tuple(rows)


def _queries(ground: Ground, fault: faults.Fault | None) -> Array:
    """One row a position, all heads side by side."""
    model = ground.model if fault is None else fault.of(ground.model)
    return model.engine.run(ground.text_a.ids[:READ], [SITE], tail=1)[SITE].reshape(READ, -1).astype(float)


def _harm(ground: Ground) -> tuple[str, ...]:
    """The least harm first."""
    nll = {name: ground.once(ON_MODEL[name].compute) for name in HARM}
    return tuple(name.removeprefix("faults.") for name in sorted(nll, key=lambda name: nll[name]))


def _same_product(ground: Ground) -> tuple[str, ...]:
    near, far = (turned(Q, m) @ turned(KEY, n) for m, n in (APART[0], APART[2]))
    return ("same",) if abs(near - far) < 1e-9 else ("other",)


def _draw_rope(rng: np.random.Generator, ground: Ground) -> Arrays:
    n, d = rng.choice([11, 13]), 2 * rng.choice([3, 5, 7])
    return {
        "x": rng.normal(size=(n, d)),
        "positions": np.sort(rng.choice(np.arange(20, 3000), n, replace=False)),
        "base": np.array(rng.choice([1e4, 1e5])),
    }


def _turn(given: Arrays, pairing: Pairing, sign: int = 1, base: float | None = None) -> Array:
    rope = PlainRope(float(given["base"]) if base is None else base, given["x"].shape[-1], pairing)
    cos, sin = rope_angles(rope, given["positions"], 1)
    return rotate(given["x"][:, None], cos, sign * sin, pairing)[:, 0]


def _judge_rope(given: Arrays, came: Arrays) -> tuple[Remark, ...]:
    x = given["x"]
    forms = {
        "neighbours": (Pairing.INTERLEAVED, Pairing.HALF),
        "halves": (Pairing.HALF, Pairing.INTERLEAVED),
    }
    remarks: list[Remark] = []
    for name, (own, other) in forms.items():
        out = came[name]
        tried: Both = (
            f"{name}, {x.shape[0]} rows of width {x.shape[1]}",
            f"{name}，{x.shape[0]} 行，宽 {x.shape[1]}",
        )
        remarks += [
            unlike((f"{name}: this is the other pairing", f"{name}：这是另一种配对"), out, _turn(given, other)),
            unlike((f"{name}: it turns the wrong way", f"{name}：转的方向反了"), out, _turn(given, own, -1)),
            unlike(
                (f"{name}: the exponent is i/d; pair i has 2i/d", f"{name}：指数用了 i/d；第 i 对应是 2i/d"),
                out,
                _turn(given, own, base=float(given["base"]) ** 0.5),
            ),
            unlike(
                (
                    f"{name}: rows were counted from 0; their positions are given",
                    f"{name}：按行号从 0 数了；位置是给定的",
                ),
                out,
                _turn({**given, "positions": np.arange(len(x))}, own),
            ),
            equal(tried, out, _turn(given, own)),
        ]
    return (*remarks, *_order_remarks(given, came["order"]))


def _order_remarks(given: Arrays, order: Array) -> tuple[Remark, ...]:
    x, width = given["x"], given["x"].shape[-1]
    tried: Both = (f"order({width})", f"order({width})")
    whole = order.shape == (width,) and order.dtype.kind in "iu" and sorted(order.tolist()) == list(range(width))
    if not whole:
        expected: Both = (f"every number 0 … {width - 1} once", f"把 0 … {width - 1} 各列一次")
        return (found(tried, False, expected, (f"{order.tolist()}", f"{order.tolist()}")),)
    right = half_from_interleaved(width)
    back: Both = (
        "this order leads from halves to neighbours: the way back",
        "这个顺序是从 halves 到 neighbours，方向反了",
    )
    moved = _turn({**given, "x": x[:, order]}, Pairing.HALF)
    held: Both = (
        "halves(x[:, P]) against neighbours(x)[:, P], P = order(d)",
        "halves(x[:, P]) 与 neighbours(x)[:, P]，P = order(d)",
    )
    return unlike(back, order, np.argsort(right)), equal(held, moved, _turn(given, Pairing.INTERLEAVED)[:, order])


def _draw_alibi(rng: np.random.Generator, ground: Ground) -> Arrays:
    key_pos = np.sort(rng.choice(40, 13, replace=False))
    return {"heads": np.array(rng.choice([2, 4, 16])), "query_pos": key_pos[-7:], "key_pos": key_pos}


def _judge_alibi(given: Arrays, came: Arrays) -> tuple[Remark, ...]:
    heads, query_pos, key_pos, out = int(given["heads"]), given["query_pos"], given["key_pos"], came["out"]
    slopes = alibi_slopes(heads)
    right = alibi_bias(slopes, query_pos, key_pos)
    index = alibi_bias(slopes, np.arange(len(query_pos)), np.arange(len(key_pos)))
    tried: Both = (
        f"{heads} heads, 7 queries, 13 keys with gaps between them",
        f"{heads} 个头，7 个 query，13 个 key，位置有间隔",
    )
    return (
        unlike(("what is far was raised; it is lowered", "远处被加分了；应当减分"), out, -right),
        unlike(
            ("the first head's slope is 1; i begins with 1", "第一个头的斜率成了 1；i 从 1 开始"),
            out,
            alibi_bias(slopes * 2 ** (8 / heads), query_pos, key_pos),
        ),
        unlike(("rows and columns were counted; positions are given", "按行列号数了；位置是给定的"), out, index),
        equal(tried, out, right),
    )


COMPUTED = Computations(
    tables={
        "products": _products,
        "waves": _waves,
        "slopes": _slopes,
        "profiles": lambda ground: ground.once(_profiles),
    },
    answers={
        "harm": _harm,
        "same_product": _same_product,
        "causes": lambda ground: tuple(case for _, case in _planted().values()),
    },
    tasks={
        "rope": Task(("neighbours", "halves", "order"), _draw_rope, DRIVE_ROPE, _judge_rope),
        "alibi": Task(("alibi",), _draw_alibi, DRIVE_ALIBI, _judge_alibi),
    },
)
