"""What `tests/calibration.yaml` declares: seeds, numbers of cases, and the bounds that they are held to."""

from dataclasses import dataclass
from typing import Any

import yaml

from bench.table import ROOT

FILE = ROOT / "tests" / "calibration.yaml"


@dataclass(frozen=True)
class VerdictCell:
    """seed, per_row: cases of every row. The others are bounds."""

    seed: int
    per_row: int
    reduced: int
    further: int
    wrong_causes: int
    undetermined: float
    macro_f1: float


@dataclass(frozen=True)
class NullCell:
    """alarms: share of interventions with p ≤ alpha, at most."""

    seed: int
    interventions: int
    reduced: int
    alpha: float
    alarms: float


def verdict_cell() -> VerdictCell:
    return VerdictCell(**_cell("verdicts"))


def null_cell() -> NullCell:
    return NullCell(**_cell("nulls"))


def _cell(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))[name]
    return found
