"""What `tests/calibration.yaml` declares: seeds, numbers of cases, and the bounds that they are held to."""

from collections.abc import Mapping
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


@dataclass(frozen=True)
class CoverageCell:
    """estimate: its name in `bench.estimates_of_laws`. law: parameters. exact: coverage of the method in this cell."""

    name: str
    estimate: str
    law: Mapping[str, float]
    n: int
    exact: float
    seed: int


@dataclass(frozen=True)
class AlarmCell:
    """draw: the null law. alpha: at which p ≤ alpha is an alarm."""

    name: str
    draw: str
    law: Mapping[str, float]
    n: int
    alpha: float
    seed: int


@dataclass(frozen=True)
class CoverageRules:
    """runs of a cell; least: exact coverage that a method must have; alpha of the band, over all cells.

    reduced: cells, runs and resamples in the tests.
    """

    runs: int
    least: float
    alpha: float
    resamples: int
    reduced_runs: int
    reduced_resamples: int
    reduced_cells: tuple[str, ...]


def coverage_cells() -> list[CoverageCell]:
    return [CoverageCell(name=name, **cell) for name, cell in _cell("coverage").items()]


def alarm_cells() -> list[AlarmCell]:
    return [AlarmCell(name=name, **cell) for name, cell in _cell("alarms").items()]


def coverage_rules() -> CoverageRules:
    rules = _cell("coverage_rules")
    return CoverageRules(**rules | {"reduced_cells": tuple(rules["reduced_cells"])})


def verdict_cell() -> VerdictCell:
    return VerdictCell(**_cell("verdicts"))


def null_cell() -> NullCell:
    return NullCell(**_cell("nulls"))


def _cell(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(FILE.read_text("utf-8"))[name]
    return found
