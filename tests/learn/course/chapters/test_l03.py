"""L3: tables by hand, and exercises that tell right from wrong."""

import pytest

from tests.learn.course.driving import computations, failed, numbers_of, run, without_model

COMPUTED = computations("l03")
ROPE, ALIBI = COMPUTED.tasks["rope"], COMPUTED.tasks["alibi"]

RIGHT_ROPE = """
import numpy as np

def angles(width, positions, base):
    return positions[:, None] * base ** (-2 * np.arange(width // 2) / width)

def turn(a, b, angle):
    return a * np.cos(angle) - b * np.sin(angle), a * np.sin(angle) + b * np.cos(angle)

def neighbours(x, positions, base):
    out = np.empty_like(x)
    out[:, 0::2], out[:, 1::2] = turn(x[:, 0::2], x[:, 1::2], angles(x.shape[1], positions, base))
    return out

def halves(x, positions, base):
    half = x.shape[1] // 2
    return np.concatenate(turn(x[:, :half], x[:, half:], angles(x.shape[1], positions, base)), axis=1)

def order(d):
    return np.concatenate([np.arange(0, d, 2), np.arange(1, d, 2)])
"""
RIGHT_ALIBI = """
import numpy as np

def alibi(heads, query_pos, key_pos):
    slopes = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
    return -slopes[:, None, None] * np.abs(query_pos[:, None] - key_pos)
"""


def test_products_depend_on_the_distance() -> None:
    rows = [numbers_of(row) for row in COMPUTED.tables["products"](without_model())]
    assert [row[3] for row in rows[:3]] == pytest.approx([-0.446070] * 3, abs=5e-7)
    assert COMPUTED.answers["same_product"](without_model()) == ("same",)
    assert len({round(row[3], 6) for row in rows}) == 3


def test_wavelengths_and_slopes() -> None:
    waves, slopes = (COMPUTED.tables[name](without_model()) for name in ("waves", "slopes"))
    assert (waves[0][2], waves[-1][2], waves[-1][4]) == pytest.approx((6.283, 47_117, 438_460), rel=1e-4)
    assert waves[1][3] == pytest.approx(0.69783, abs=5e-6)
    assert [row[1] for row in slopes] == [2.0**-i for i in range(1, 9)]
    assert slopes[0][2:] == (-0.5, -8.0, -128.0)


@pytest.mark.parametrize("seed", [0, 1])
def test_right_code_passes(seed: int) -> None:
    assert failed(run(ROPE, RIGHT_ROPE, seed)) == ""
    assert failed(run(ALIBI, RIGHT_ALIBI, seed)) == ""


BACKWARDS = (" - b * np.sin(angle), a * np.sin(angle)", " + b * np.sin(angle), -a * np.sin(angle)")
AS_NEIGHBOURS = "def halves(x, positions, base):\n    return neighbours(x, positions, base)\n\ndef other"
INTERLEAVED = "np.concatenate([np.arange(0, d, 2), np.arange(1, d, 2)])"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("base ** (-2", "base ** (2", "neighbours, "),
        ("-2 * np.arange", "-np.arange", "neighbours: the exponent is i/d"),
        ("positions[:, None] *", "np.arange(len(positions))[:, None] *", "rows were counted from 0"),
        (*BACKWARDS, "halves: it turns the wrong way"),
        ("def halves", AS_NEIGHBOURS, "halves: this is the other pairing"),
        (INTERLEAVED, "np.arange(d).reshape(-1, 2).T.ravel().argsort()", "the way back"),
        ("np.arange(1, d, 2)])", "np.arange(0, d, 2)])", "once, found"),
    ],
)
def test_a_wrong_rotation_is_told(old: str, new: str, told: str) -> None:
    assert RIGHT_ROPE.count(old) == 1
    assert told in failed(run(ROPE, RIGHT_ROPE.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("return -slopes", "return slopes", "what is far was raised"),
        ("np.arange(1, heads + 1)", "np.arange(heads)", "the first head's slope is 1"),
        ("np.abs(query_pos[:, None] - key_pos)", "np.abs(np.arange(7)[:, None] - np.arange(13))", "rows and columns"),
        ("query_pos[:, None] - key_pos", "query_pos - key_pos[:, None]", "expected shape"),
    ],
)
def test_a_wrong_bias_is_told(old: str, new: str, told: str) -> None:
    assert RIGHT_ALIBI.count(old) == 1
    assert told in failed(run(ALIBI, RIGHT_ALIBI.replace(old, new)))
