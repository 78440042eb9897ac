"""Verdicts on drawn cases whose cause is known: three of every row here, all of them in `python -m bench.verdicts`."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from bench.calibration import verdict_cell
from bench.table import ROOT
from bench.verdicts import FURTHER, Judged, broken, f1_interval, macro_f1, matrix
from whybox.testing.drawn import DRAWN, drawn
from whybox.testing.rows import ROWS

CELL = verdict_cell()


def process(module: str, *options: str) -> dict[str, Any]:
    """What a module prints, from a process of its own: shape checks would make each case ten times as long."""
    paths = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    command = [sys.executable, "-m", module, *options]
    done = subprocess.run(command, cwd=ROOT, env=paths, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


TABLE = [row for row in DRAWN if row not in FURTHER]


@pytest.mark.parametrize(
    ("rows", "each", "seed", "engine"),
    [
        (TABLE, 1, CELL.seed, "numpy"),
        (TABLE, CELL.reduced - 1, CELL.seed + 1, "torch"),
        (list(FURTHER), CELL.further, CELL.seed, "torch"),
    ],
    ids=["table-numpy", "table-torch", "further"],
)
def test_some_cases_of_every_row_get_the_cause_that_was_planted_alone(
    rows: list[str], each: int, seed: int, engine: str
) -> None:
    """Both engines: a verdict does not depend on who computes it."""
    options = ("--seed", str(seed), "--per-row", str(each), "--engine", engine, "--rows", *rows)
    found = process("bench.verdicts", "--json", *options)
    assert found["cases"] == each * len(rows)
    assert found["not_right"] == []
    assert found["broken"] == []


def test_every_row_of_the_table_is_drawn_and_drawn_cases_differ() -> None:
    assert set(DRAWN) == set(ROWS)
    first, second = drawn("first_biased", 1), drawn("first_biased", 2)
    assert first.instance.parts != second.instance.parts
    assert drawn("first_biased", 1).instance == first.instance
    assert drawn("first_biased", 1).model.file.digest() == first.model.file.digest()


@pytest.mark.parametrize("safeguard", ["shams", "hidden", "reference"])
def test_without_a_safeguard_a_wrong_cause_is_named(safeguard: str) -> None:
    """Shams that must not flip; the evidence hidden, so that a guess is no cause; the run on a reference engine."""
    found = process("tests.bench.without", safeguard, str(CELL.seed))
    assert found["wrong"]
    assert found["broken"]


CASES = [
    Judged("a", 0, "order", "order", 1.0),
    Judged("a", 1, "order", "not-determined", 1.0),
    Judged("b", 0, "format", "format", 1.0),
    Judged("b", 1, "format", "order", 1.0),
    Judged("mixed", 0, "joint · order+knowledge", "joint · order+knowledge", 1.0),
]


def test_scores_by_hand() -> None:
    # order: 1 hit, 2 wanted, 2 found; format: 1 hit, 2 wanted, 1 found; joint: 1, 1, 1
    assert macro_f1(CASES) == pytest.approx((2 / 4 + 2 / 3 + 1) / 3)
    assert matrix(CASES)[1] == ("b", {"format": 1, "order": 1})
    assert [(case.wrong, case.undetermined) for case in CASES[1:4]] == [(False, True), (False, False), (True, False)]
    low, high = f1_interval(CASES, 0) or (0, 0)
    assert low < macro_f1(CASES) < high
    assert f1_interval(CASES[:1], 0) is None


def test_every_bound_can_break() -> None:
    said = " ".join(broken(CASES, CELL))
    assert "1 wrong causes named, 0 allowed" in said
    assert "25.0% of single faults not determined" in said
    assert "macro-F1" in said
    single = replace(CASES[4], found="knowledge · overruled")
    assert any("mixed: a single cause in 1" in text for text in broken([single], CELL))
    assert list(broken([CASES[0], CASES[4]], CELL)) == []
