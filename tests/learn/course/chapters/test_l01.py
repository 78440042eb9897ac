"""L1: the words fill, the answers are the recorded ones, the exercise tells right from wrong."""

import pytest

from tests.learn.course.driving import (
    chapter,
    computations,
    everything_fills,
    failed,
    ids_fit,
    right_numbers,
    run,
    sources_exist,
    tables_fit,
)
from tests.real import real
from whybox.learn.course.chapter import Numbers
from whybox.learn.ground import Ground

WORDS, COMPUTED = chapter("l01"), computations("l01")
EMBED = COMPUTED.tasks["embed"]

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


@pytest.fixture(scope="module")
def ground() -> Ground:
    return Ground(lambda: real("smollm2"))


@pytest.mark.model
def test_what_was_recorded(ground: Ground) -> None:
    asked = WORDS.predict[0]
    assert isinstance(asked, Numbers)
    assert right_numbers(asked, COMPUTED, ground) == (2, 1, 5, 4)
    assert COMPUTED.answers["same_row"](ground) == ("same",)
    assert COMPUTED.answers["same_ids"](ground) == ("process", "cat", "the_dog", "days")
    rows = COMPUTED.tables["stages"](ground)
    assert [row[1] for row in rows] == [504, 3575, 282, 4649, 314]
    assert [row[3] for row in COMPUTED.tables["cut"](ground)][3:8] == ["退 1/2", "退 2/2", "款 1/3", "款 2/3", "款 3/3"]


@pytest.mark.model
def test_all_of_it_is_there(ground: Ground) -> None:
    assert everything_fills(WORDS, COMPUTED, ground) == []
    ids_fit(WORDS, COMPUTED, ground)
    tables_fit(WORDS, COMPUTED, ground)
    sources_exist(WORDS)
