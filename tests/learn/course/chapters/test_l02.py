"""L2: answers by hand, and exercises that tell right from wrong."""

import pytest

from tests.learn.course.driving import computations, failed, run, toy, without_model

COMPUTED = computations("l02")
SINUSOID, SHIFT = COMPUTED.tasks["sinusoid"], COMPUTED.tasks["shift"]

RIGHT_SINUSOID = """
import numpy as np

def sinusoid(n, c):
    if c % 2:
        raise ValueError("odd")
    out = np.zeros((n, c))
    for p in range(n):
        for i in range(c // 2):
            angle = p / 10000 ** (2 * i / c)
            out[p, 2 * i], out[p, 2 * i + 1] = np.sin(angle), np.cos(angle)
    return out
"""
RIGHT_SHIFT = """
import numpy as np

def shift(k, c):
    out = np.zeros((c, c))
    for i in range(c // 2):
        angle = k / 10000 ** (2 * i / c)
        cos, sin = np.cos(angle), np.sin(angle)
        out[2 * i : 2 * i + 2, 2 * i : 2 * i + 2] = [[cos, sin], [-sin, cos]]
    return out
"""


def test_what_moves_the_last_output() -> None:
    assert COMPUTED.answers["moved"](without_model()) == ("stays", "stays", "changes")


def test_what_needs_no_mask() -> None:
    assert COMPUTED.answers["needs_no_mask"](without_model()) == ("equivariant", "bag")


def test_figures() -> None:
    assert toy("l02.pattern_error", COMPUTED) <= 1e-12
    assert toy("l02.with_root", COMPUTED) == pytest.approx(33.2 / 8, abs=0.02)


@pytest.mark.parametrize("seed", [0, 1])
def test_right_code_passes(seed: int) -> None:
    assert failed(run(SINUSOID, RIGHT_SINUSOID, seed)) == ""
    assert failed(run(SHIFT, RIGHT_SHIFT, seed)) == ""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("out[p, 2 * i], out[p, 2 * i + 1]", "out[p, i], out[p, c // 2 + i]", "all sines stand before all cosines"),
        ("(2 * i / c)", "(i / c)", "the exponent is i/c"),
        ("np.sin(angle), np.cos(angle)", "np.cos(angle), np.sin(angle)", "changed places"),
        ("p / 10000", "(p + 1) / 10000", "counted from 1"),
        ("10000", "1000", "expected"),
        ('raise ValueError("odd")', "c += 1", "sine and cosine come in pairs, found an array"),
    ],
)
def test_a_wrong_sinusoid_is_told(old: str, new: str, told: str) -> None:
    assert RIGHT_SINUSOID.count(old) == 1
    assert told in failed(run(SINUSOID, RIGHT_SINUSOID.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("[[cos, sin], [-sin, cos]]", "[[cos, -sin], [sin, cos]]", "M for k = 1 goes back by 1, not on"),
        ("(2 * i / c)", "(i / c)", "M for k = 1, c ="),
        ("return out", "return out[0]", "expected shape"),
        ("angle = k", "angle = abs(k)", "expected"),
    ],
)
def test_a_wrong_shift_is_told(old: str, new: str, told: str) -> None:
    assert RIGHT_SHIFT.count(old) == 1
    assert told in failed(run(SHIFT, RIGHT_SHIFT.replace(old, new)))
