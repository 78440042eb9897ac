"""L5: why √d. Toys, two faults on text A at most, and what its heads do (the patterns of 30 layers, ten seconds)."""

import math

import numpy as np

from whybox.learn.course.comparing import Both, equal, found
from whybox.learn.course.computed import Arrays, Computations, Remark, Rows, Task
from whybox.learn.figures import ON_MODEL, scaling
from whybox.learn.figures.scaling import TOYS, WIDTHS
from whybox.learn.ground import Ground

ENTROPIES_OF = (2, 64, 512)
KEYS_BESIDE = (2, 1_000, 10_000, 100_000)
DRAWS, ERRORS = 20_011, 3

DRIVE = """
import numpy as np

def drive(code, inputs):
    out = [
        np.array(code.experiment(int(d), int(inputs["draws"]), np.random.default_rng(int(seed))), dtype=float)
        for d, seed in zip(inputs["widths"], inputs["seeds"])
    ]
    return {"out": np.stack(out)}
"""


def _several(name: str) -> tuple[float, ...]:
    value = TOYS[name]()
    return value if isinstance(value, tuple) else (value,)


def _variances(ground: Ground) -> Rows:
    """Width, variance of q · k, of q · k / √d, and the standard error of the first."""
    raw, scaled = _several("scaling.variances"), _several("scaling.scaled_variances")
    errors = [width * math.sqrt((2 + 6 / width) / scaling.DRAWS) for width in WIDTHS]
    return tuple(zip(WIDTHS, raw, scaled, errors, strict=True))


def _entropies(ground: Ground) -> Rows:
    """Width, and mean entropy of random rows over 256 keys: scaled and not."""
    found_in = (_several("scaling.entropies"), _several("scaling.entropies_unscaled"))
    return tuple(zip(ENTROPIES_OF, *found_in, strict=True))


def _leads(ground: Ground) -> Rows:
    """Keys, and the weight of one that leads all others by 10."""
    return tuple(zip(KEYS_BESIDE, _several("scaling.lead_of_10"), strict=True))


def _after_training(ground: Ground) -> tuple[str, ...]:
    spread = ground.once(ON_MODEL["reading.score_sds"].compute)
    assert isinstance(spread, tuple)
    return ("larger",) if spread[1] > 1.5 else ("smaller",) if spread[1] < 0.5 else ("one",)


def _draw(rng: np.random.Generator, ground: Ground) -> Arrays:
    narrow, wide = rng.choice([3, 5, 7]), rng.choice([61, 127, 251])
    return {
        "widths": np.array([narrow, wide, wide]),
        "draws": np.array(DRAWS),
        "seeds": rng.integers(0, 2**31, 3),
    }


def _judge(given: Arrays, came: Arrays) -> tuple[Remark, ...]:
    out, widths = came["out"], list(map(int, given["widths"]))
    if out.shape != (3, 2):
        return (equal(("two variances for each of three runs", "三次运行，各两个方差"), out, np.zeros((3, 2))),)
    remarks = [_drawn(out)]
    for d, (raw, scaled) in zip(widths[:2], out[:2], strict=True):
        error = d * math.sqrt((2 + 6 / d) / DRAWS)
        remarks += [
            _named(d, raw, scaled),
            _within(f"variance of q · k for d = {d}", f"d = {d} 时 q · k 的方差", raw, d, error),
            _within(f"variance of q · k / √d for d = {d}", f"d = {d} 时 q · k / √d 的方差", scaled, 1, error / d),
        ]
    return tuple(remarks)


def _named(d: int, raw: float, scaled: float) -> Remark:
    """The classic mistakes, by what they make."""
    if abs(scaled * d - 1) < 0.1:
        return Remark(False, f"d = {d}: this was divided by d, not by its root", f"d = {d}：除以了 d，而不是 √d")
    if abs(raw / d**0.5 - 1) < 0.1:
        return Remark(False, f"d = {d}: this is a standard deviation, not a variance", f"d = {d}：这是标准差，不是方差")
    if abs(raw / (2 * d) - 1) < 0.1:
        return Remark(
            False,
            f"d = {d}: the vector was multiplied by itself, not by a key",
            f"d = {d}：向量与自己相乘了，没有另抽 key",
        )
    return Remark(True, f"d = {d}: none of the classic mistakes", f"d = {d}：没有常见错误")


def _drawn(out: np.ndarray) -> Remark:
    tried: Both = ("two seeds, the same width", "同一宽度，两个种子")
    expected: Both = ("two results that differ a little, since they are drawn", "得到略有差别的两个结果，因为是抽样")
    return found(tried, bool(out[1, 0] != out[2, 0]), expected, ("the same number twice", "两次完全相同的数"))


def _within(en: str, zh: str, came: float, right: float, error: float) -> Remark:
    bound = f"{right:g} ± {ERRORS * error:.3g}"
    holds = bool(abs(came - right) <= ERRORS * error)
    return found((en, zh), holds, (bound, f"为 {bound}"), (f"{came:.4g}", f"{came:.4g}"))


COMPUTED = Computations(
    figures={"l05.root_64": lambda: math.sqrt(64)},
    tables={"variances": _variances, "entropies": _entropies, "leads": _leads},
    answers={"after_training": _after_training},
    tasks={"experiment": Task(("experiment",), _draw, DRIVE, _judge)},
)
