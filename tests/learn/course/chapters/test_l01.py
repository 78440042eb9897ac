"""L1: the exercise tells right from wrong."""

import pytest

from tests.learn.course.driving import computations, failed, run

EMBED = computations("l01").tasks["embed"]

RIGHT = """
def embed(ids, table):
    if ids.min() < 0 or ids.max() >= len(table):
        raise IndexError("outside the table")
    return table[ids]
"""
NO_CHECK = "def embed(ids, table):\n    return table[ids]\n"
ONE_HOT = """
import numpy as np

def embed(ids, table):
    if ids.min() < 0 or ids.max() >= len(table):
        raise IndexError("outside the table")
    hot = np.zeros((len(ids), len(table)))
    hot[np.arange(len(ids)), ids] = 1.0
    return hot @ table
"""
DISTINCT = "import numpy as np\n\ndef embed(ids, table):\n    return table[np.unique(ids)]\n"


@pytest.mark.parametrize("seed", [0, 1])
def test_the_right_lookup_passes(seed: int) -> None:
    assert failed(run(EMBED, RIGHT, seed)) == ""


@pytest.mark.parametrize(
    ("code", "told"),
    [
        (NO_CHECK, "id −1 of a table of 17 rows: expected an exception, found a row"),
        (ONE_HOT, "no array as long as the table"),
        (DISTINCT, "expected shape 7 × 5, found"),
        ("def embed(ids, table):\n    ...\n", "the code stopped"),
    ],
)
def test_a_wrong_lookup_is_told(code: str, told: str) -> None:
    assert told in failed(run(EMBED, code))
