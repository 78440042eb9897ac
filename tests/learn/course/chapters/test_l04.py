"""L4: right solutions pass, typical wrong ones are named, what is computed is what is known."""

import numpy as np
import pytest

from tests.learn.course import driving
from whybox.learn.course.lessons import lesson
from whybox.learn.course.sandbox import Piece
from whybox.learn.course.sandbox import run as sandboxed

GROUND, L4 = driving.without_model(), lesson("L4")
ATTENTION = """
import numpy as np

def attention(Q, K, V, mask):
    s = np.where(mask, -np.inf, Q @ K.T / np.sqrt(Q.shape[1]))
    peak = s.max(axis=1, keepdims=True)
    e = np.exp(s - np.where(np.isfinite(peak), peak, 0))
    total = e.sum(axis=1, keepdims=True)
    a = e / np.where(total == 0, 1, total)
    return a @ V, a
"""
LINEAR = """
import numpy as np

def phi(x):
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))

def linear_attention(Q, K, V):
    s = np.tril(phi(Q) @ phi(K).T)
    return s @ V / s.sum(axis=1, keepdims=True)
"""
RIGHT = {"attention": ATTENTION, "linear": LINEAR}
WRONG = {
    "no √d": ("attention", "/ np.sqrt(Q.shape[1])", "", "the division by √d is missing"),
    "−1e9": ("attention", "-np.inf", "-1e9", "a query that may see nothing, weights: expected 0"),
    "no maximum": ("attention", "s - np.where(np.isfinite(peak), peak, 0)", "s", "scores of tens of thousands"),
    "mask reversed": ("attention", "np.where(mask,", "np.where(~mask,", "the mask is read the other way round"),
    "NaN": ("attention", "np.where(total == 0, 1, total)", "total", "nothing, weights"),
    "not divided": ("linear", "/ s.sum(axis=1, keepdims=True)", "", "no row is divided by its sum"),
    "not causal": ("linear", "np.tril(phi(Q) @ phi(K).T)", "phi(Q) @ phi(K).T", "it is not causal"),
    "wrong φ": ("linear", "x + 1", "x", "rows: expected"),
}


@pytest.mark.parametrize("name", RIGHT)
def test_right_solutions_pass(name: str) -> None:
    task = L4.computed.tasks[name]
    for seed in range(5):
        assert driving.failed(driving.run(task, RIGHT[name], seed)) == ""
    inputs = task.draw(np.random.default_rng(7), GROUND)
    ended = sandboxed(Piece(RIGHT[name], task.needs, task.drive), inputs)
    assert driving.failed(task.judge(inputs, ended.outputs)) == ""


@pytest.mark.parametrize("slip", WRONG)
def test_typical_mistakes_are_told(slip: str) -> None:
    name, right, wrong, told = WRONG[slip]
    code = RIGHT[name].replace(right, wrong)
    assert code != RIGHT[name]
    assert told in driving.failed(driving.run(L4.computed.tasks[name], code))


def test_the_mask_behind_the_softmax_is_named() -> None:
    late = """
import numpy as np

def attention(Q, K, V, mask):
    s = Q @ K.T / np.sqrt(Q.shape[1])
    e = np.exp(s - s.max(axis=1, keepdims=True))
    a = e / e.sum(axis=1, keepdims=True) * ~mask
    return a @ V, a
"""
    assert "the mask came after the softmax" in driving.failed(driving.run(L4.computed.tasks["attention"], late))


def test_what_is_right() -> None:
    answers = {name: right(GROUND) for name, right in L4.computed.answers.items()}
    assert answers == {
        "sharper": ("best",),
        "missing": ("scaling",),
        "roles": ("query", "key", "value", "value", "query"),
        "differs": ("sharp", "state"),
    }
    figures = L4.computed.figures
    assert figures["l04.scaled_3"]() == pytest.approx((0.7071, 2.1213, 2.8284), abs=5e-5)
    assert figures["l04.query_variance"]() == pytest.approx(0.0256, abs=0.002)
    hard, soft = figures["l04.sharpest"]()  # type: ignore[misc]
    assert 0.9999 < hard <= 1
    assert 0.35 < soft < 0.45


def test_tables_and_grids_are_what_the_document_should_have_printed() -> None:
    tables = {name: make(GROUND) for name, make in L4.computed.tables.items()}
    assert tables["outputs"][2][1:] == pytest.approx((0.7257, 0.5951), abs=5e-5)
    assert tables["printed"][0][1:] == (0.04, 0.26, 0.70)
    assert tables["printed"][2][1:] == pytest.approx((0.0351, 0.2595, 0.7054), abs=5e-5)
    assert tables["sharper"][-1][1:] == (0, 0, 1, "(0.900, 0.800)")
    pattern = L4.computed.grids["pattern"](GROUND)
    assert pattern.values[2] == pytest.approx((0.0743, 0.3057, 0.6200), abs=5e-5)
    assert pattern.values[1, :2] == pytest.approx((0.3302, 0.6698), abs=5e-5)


def test_words_fit_what_is_computed() -> None:
    driving.assert_whole(L4.chapter, L4.computed, GROUND)
