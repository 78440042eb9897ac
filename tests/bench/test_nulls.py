"""Interventions that mean nothing are not called more often than chance allows."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from bench.calibration import null_cell
from bench.nulls import Found, interventions, summary
from whybox.testing.noise import noisy

CELL = null_cell()


@pytest.fixture(scope="module")
def found() -> list[Found]:
    return interventions(CELL.reduced, CELL.seed)


def test_meaningless_interventions_alarm_as_often_as_chance(found: list[Found]) -> None:
    assert len(found) == CELL.reduced
    assert {one.kind for one in found} == {"span", "head"}
    alarms = sum(one.p <= CELL.alpha for one in found)
    assert alarms <= stats.binom.ppf(0.99, CELL.reduced, CELL.alpha)
    assert np.median([abs(one.effect) for one in found]) > 0.01  # they do something
    assert 0.3 < np.median([one.p for one in found]) < 0.7


def test_the_same_seed_gives_the_same_interventions() -> None:
    assert interventions(5, 7) == interventions(5, 7)
    assert interventions(5, 7) != interventions(5, 8)


def test_a_null_that_forgets_its_size_breaks_the_bound(found: list[Found]) -> None:
    """An effect compared with nothing, or with draws of another kind, is called far too often."""
    careless = [replace(one, p=one.p / 4) for one in found]
    assert summary(careless, CELL)["broken"] is True


def test_the_bound_is_what_chance_allows_over_all_interventions() -> None:
    allowed = stats.binom.ppf(0.99, CELL.interventions, CELL.alpha) / CELL.interventions
    assert abs(allowed - CELL.alarms) < 5e-4


def test_the_crowd_moves_the_answer_and_does_not_decide_it() -> None:
    planted = noisy(3)
    written = planted.model.generate(planted.instance, 4)
    assert planted.instance.scorer().score(written.text).right
