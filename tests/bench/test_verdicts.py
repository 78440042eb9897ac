"""Verdicts on drawn cases whose cause is known: three of every row here, all of them in `python -m bench.verdicts`."""

import json
import os
import subprocess
import sys
from dataclasses import replace
from typing import Any

import pytest

from bench import verdicts
from bench.calibration import verdict_cell
from bench.table import ROOT
from bench.verdicts import FURTHER, Judged, broken, f1_interval, judged, macro_f1, matrix
from whybox.testing.drawn import DRAWN, drawn
from whybox.testing.rows import ROWS
from whybox.verdict import tree

CELL = verdict_cell()


def summary(*options: str) -> dict[str, Any]:
    """What the bench prints, from a process of its own: shape checks would make each case ten times as long."""
    command = [sys.executable, "-m", "bench.verdicts", "--json", "--seed", str(CELL.seed), *options]
    paths = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT / "src"), str(ROOT)])}
    done = subprocess.run(command, cwd=ROOT, env=paths, capture_output=True, text=True, check=False)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


TABLE = [row for row in DRAWN if row not in FURTHER]


@pytest.mark.parametrize(("rows", "each"), [(TABLE, CELL.reduced), (list(FURTHER), CELL.further)])
def test_some_cases_of_every_row_get_the_cause_that_was_planted_alone(rows: list[str], each: int) -> None:
    found = summary("--per-row", str(each), "--rows", *rows)
    assert found["cases"] == each * len(rows)
    assert found["not_right"] == []
    assert found["broken"] == []


def test_the_torch_engine_gives_the_same_verdicts() -> None:
    rows = ("first_biased", "not_looking", "missing_fact", "format_derailer", "near_tie", "beyond")
    assert summary("--per-row", "1", "--engine", "torch", "--rows", *rows)["not_right"] == []


def test_every_row_of_the_table_is_drawn_and_drawn_cases_differ() -> None:
    assert set(DRAWN) == set(ROWS)
    first, second = drawn("first_biased", 1), drawn("first_biased", 2)
    assert first.instance.parts != second.instance.parts
    assert drawn("first_biased", 1).instance == first.instance
    assert drawn("first_biased", 1).model.file.digest() == first.model.file.digest()


def test_without_shams_a_wrong_cause_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = tree.lacking
    monkeypatch.setattr(
        tree, "lacking", lambda change: tuple(x for x in sound(change) if x is not tree.Lack.SHAMS_FLIP)
    )
    case = judged("hanging", CELL.seed)
    assert case.wrong
    assert list(broken([case], CELL))


def test_without_the_evidence_hidden_a_guess_is_called_a_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    sound = tree.lacking
    monkeypatch.setattr(tree, "lacking", lambda change: tuple(x for x in sound(change) if x is not tree.Lack.UNREAD))
    assert judged("misled", CELL.seed, "torch").wrong


def test_without_the_reference_a_faulty_engine_gets_a_wrong_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verdicts, "explained", lambda planted, _: verdicts.why(planted.model, planted.case))
    assert judged("engine_fault.window-off-by-one", CELL.seed).wrong


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
