"""L5: tables by hand, and an exercise that tells right from wrong."""

import pytest

from tests.learn.course.driving import computations, failed, run, without_model

COMPUTED = computations("l05")
EXPERIMENT = COMPUTED.tasks["experiment"]

RIGHT = """
import numpy as np

def experiment(d, draws, rng):
    q, k = rng.normal(size=(draws, d)), rng.normal(size=(draws, d))
    scores = (q * k).sum(axis=1)
    return scores.var(), (scores / np.sqrt(d)).var()
"""


def test_tables() -> None:
    variances, entropies, leads = (
        COMPUTED.tables[name](without_model()) for name in ("variances", "entropies", "leads")
    )
    assert [row[1] for row in variances] == pytest.approx([2.025, 16.34, 65.29, 253.98, 517.26], abs=0.005)
    assert [row[1] for row in entropies] == pytest.approx([5.06] * 3, abs=0.02)
    assert [row[2] for row in entropies] == pytest.approx([4.68, 0.80, 0.22], abs=0.15)
    assert [row[1] for row in leads] == pytest.approx([0.99995, 0.957, 0.688, 0.181], abs=0.0005)


@pytest.mark.parametrize("seed", [0, 1])
def test_the_right_experiment_passes(seed: int) -> None:
    assert failed(run(EXPERIMENT, RIGHT, seed)) == ""


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("np.sqrt(d)", "d", "divided by d, not by its root"),
        ("return scores.var()", "return scores.std()", "a standard deviation, not a variance"),
        ("(q * k)", "(q * q)", "multiplied by itself"),
        ("return scores.var(), (scores / np.sqrt(d)).var()", "return d, 1", "the same number twice"),
        ("rng.normal(size=(draws, d))\n", "rng.uniform(-1, 1, size=(draws, d))\n", "variance of q · k for d ="),
        ("return scores.var(), ", "return ", "expected shape 3 × 2, found 3"),
    ],
)
def test_a_wrong_experiment_is_told(old: str, new: str, told: str) -> None:
    assert RIGHT.count(old) == 1
    assert told in failed(run(EXPERIMENT, RIGHT.replace(old, new)))
