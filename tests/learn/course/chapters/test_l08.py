"""L8: right code passes, classic mistakes are named, numbers are the documents' right ones."""

import pytest

from tests.learn.course.chapters.decoders import changed, starter
from tests.learn.course.driving import chapter, computations, failed, right_numbers, run, sources_exist, without_model

NAME = "l08"
COMPUTED = computations(NAME)
NORMS = """
import numpy as np

def layer_norm(x, gain, bias, eps):
    centred = x - x.mean(axis=-1, keepdims=True)
    return gain * centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + eps) + bias

def rms_norm(x, gain, eps):
    size = np.sqrt((x**2).mean(axis=-1, keepdims=True) + eps)
    return gain * x / size
"""
GATES = """
import numpy as np

def sigmoid(x):
    return 0.5 * (1 + np.tanh(x / 2))

def silu(x):
    return x * sigmoid(x)

def gelu(x):
    return x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

def gated(act, x, gate, up, down):
    return (act(x @ gate.T) * (x @ up.T)) @ down.T

def glu(x, gate, up, down):
    return gated(sigmoid, x, gate, up, down)

def swiglu(x, gate, up, down):
    return gated(silu, x, gate, up, down)

def geglu(x, gate, up, down):
    return gated(gelu, x, gate, up, down)
"""
CENTRED = changed(NORMS, ("np.sqrt((x**2).mean", "np.sqrt(((x - x.mean(axis=-1, keepdims=True))**2).mean"))
MEAN_SQUARE = "(x**2).mean(axis=-1, keepdims=True)"
VARIANCE = "(centred**2).mean(axis=-1, keepdims=True)"
WRONG = [
    ("norms", changed(NORMS, (VARIANCE, "x.var(axis=-1, keepdims=True, ddof=1)")), "c − 1"),
    ("norms", changed(NORMS, (f"np.sqrt({MEAN_SQUARE} + eps)", f"np.sqrt({MEAN_SQUARE}) + eps")), "inside"),
    ("norms", changed(CENTRED, ("gain * x / size", "gain * (x - x.mean(axis=-1, keepdims=True)) / size")), "leaves it"),
    ("norms", starter(NAME, "norms"), "no array"),
    ("gates", changed(GATES, ("(act(x @ gate.T) * (x @ up.T))", "(act(x @ up.T) * (x @ gate.T))")), "exchanged"),
    ("gates", changed(GATES, (" * (x @ up.T)", "")), "not applied"),
    ("gates", changed(GATES, ("0.5 * (1 + np.tanh(x / 2))", "np.exp(x) / (1 + np.exp(x))")), "nothing infinite"),
]


def test_right_code_passes() -> None:
    assert failed(run(COMPUTED.tasks["norms"], NORMS)) == ""
    assert failed(run(COMPUTED.tasks["gates"], GATES)) == ""


@pytest.mark.parametrize(("task", "code", "told"), WRONG)
def test_mistakes_are_named(task: str, code: str, told: str) -> None:
    assert told in failed(run(COMPUTED.tasks[task], code))


def test_numbers() -> None:
    questions = {q.id: q for q in chapter(NAME).exercises}
    expected = {
        "by_hand": (0.210558, -1.473909, 1.333536, -0.070186, 0.529813, -1.059626, 1.589439, 0.264906),
        "width": (1365, 2_096_640, 1536),
    }
    for name, right in expected.items():
        asked = questions[name]
        assert asked.kind == "numbers"
        assert right_numbers(asked, COMPUTED, without_model()) == pytest.approx(right, abs=5e-7)


def test_formulas() -> None:
    ground = without_model()
    assert COMPUTED.answers["post_norm"](ground) == ("post",)
    assert COMPUTED.answers["rows_form"](ground) == ("rows",)
    assert COMPUTED.answers["depth"](ground) == ("tiny",)
    sources_exist(chapter(NAME))
