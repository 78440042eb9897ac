"""The reduced calibration of the behaviour suite: coverage, null alarms, planned power."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from bench import laws
from bench.calibration import AlarmCell, alarm_cells, coverage_cells, coverage_rules
from bench.coverage import alarms, covered, exact
from bench.estimates_of_laws import ESTIMATES
from whybox.statistics.changes import item_effects
from whybox.statistics.intervals import mean_interval

CELLS, RULES = {cell.name: cell for cell in coverage_cells()}, coverage_rules()


@pytest.mark.parametrize("name", RULES.reduced_cells)
def test_intervals_hold_the_truth_as_often_as_their_method_does(name: str) -> None:
    found = covered(CELLS[name], RULES.reduced_runs, len(RULES.reduced_cells), RULES.alpha)
    assert not found.broken, found


@pytest.mark.parametrize("cell", alarm_cells(), ids=lambda cell: cell.name)
def test_no_effect_alarms_no_more_often_than_alpha(cell: AlarmCell) -> None:
    found = alarms(cell, RULES.reduced_runs, RULES.reduced_resamples)
    assert not found.broken, found


def test_every_probe_has_three_cells_whose_method_is_good_enough() -> None:
    probes = Counter(cell.estimate.split(".")[0] for cell in CELLS.values())
    assert sorted(probes) == sorted(
        ["order", "edit", "memory", "evidence", "documents", "consistency", "knowledge", "failure"]
    )
    assert min(probes.values()) >= 3
    assert [name for name, cell in CELLS.items() if cell.exact < RULES.least] == []
    assert len({cell.seed for cell in CELLS.values()}) == len(CELLS)


@pytest.mark.parametrize("name", ["edit-firm", "memory-drop", "documents-few", "failure-most"])
def test_declared_coverages_are_the_enumerated_ones(name: str) -> None:
    assert exact(CELLS[name]) == pytest.approx(CELLS[name].exact, abs=6e-5)


def test_every_estimate_is_used() -> None:
    assert {cell.estimate for cell in CELLS.values()} == set(ESTIMATES)


def test_the_band_of_thirty_cells_is_that_of_the_methods() -> None:
    """± 3.14 standard errors: for .95 over 2,000 runs .9347 to .9653."""
    found = covered(replace(CELLS["failure-few"], exact=0.95), 2000, 30, RULES.alpha)
    assert found.band == pytest.approx((0.9347 * 2000, 0.9653 * 2000), abs=2)


def test_plain_t_on_rare_effects_leaves_the_band() -> None:
    """Breaking the product on purpose: without pseudo-items and bounds of shares the count falls below the band."""
    effects = laws.item_biased(np.random.default_rng(0), 200 * 100, 0.02)
    held = sum(_plain(row) for row in item_effects(effects).reshape(200, 100))
    low, _ = covered(replace(CELLS["failure-few"], exact=0.95), 200, 3, RULES.alpha).band
    assert held < low


def _plain(effects: np.ndarray) -> bool:
    bounds = mean_interval(effects.tolist())
    return bounds is not None and bounds[0] <= 0.02 <= bounds[1]
