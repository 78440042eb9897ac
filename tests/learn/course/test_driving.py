"""The helper that runs exercises in tests says what failed."""

import numpy as np

from tests.learn.course.driving import failed, run
from whybox.learn.course.computed import Arrays, Remark, Task
from whybox.learn.ground import Ground


def _draw(rng: np.random.Generator, ground: Ground) -> Arrays:
    return {"x": rng.normal(size=5)}


def _judge(given: Arrays, came: Arrays) -> tuple[Remark, ...]:
    return (Remark(bool(np.allclose(came["out"], 2 * given["x"])), "twice x was expected", "应为 x 的两倍"),)


TASK = Task(("double",), _draw, "def drive(code, inputs):\n    return {'out': code.double(inputs['x'])}", _judge)


def test_right_code_passes() -> None:
    assert failed(run(TASK, "def double(x):\n    return 2 * x")) == ""


def test_wrong_code_is_told() -> None:
    assert failed(run(TASK, "def double(x):\n    return x")) == "twice x was expected"


def test_code_that_stops_or_lacks_a_name_is_told() -> None:
    assert "ZeroDivisionError" in failed(run(TASK, "def double(x):\n    return 1 / 0"))
    assert "double is not defined" in failed(run(TASK, "twice = None"))


def test_code_that_changes_its_inputs_does_not_change_the_judge_s() -> None:
    assert failed(run(TASK, "def double(x):\n    x *= 2\n    return 2 * x")) == "twice x was expected"
