"""Kaplan–Meier by hand, bounds where scipy and statsmodels have none, paired comparison."""

import warnings

import numpy as np
import pytest
from scipy.stats import CensoredData, ecdf
from statsmodels.duration.survfunc import SurvfuncRight

from whybox.statistics.intervals import Rate, wilson
from whybox.statistics.survival import median, stratified_p, survival
from whybox.statistics.unknown import Unknown

TIMES = np.array([1.0, 5, 5, 10, 20, 20])
FAILED = np.array([True, True, False, True, False, False])


def test_by_hand() -> None:
    """5/6, then 4/5 of it, then 2/3 of that."""
    steps = survival(TIMES, FAILED)
    assert [step.time for step in steps] == [1, 5, 10, 20]
    assert [step.at_risk for step in steps] == [6, 5, 3, 2]
    assert [step.events for step in steps] == [1, 1, 1, 0]
    assert [step.share for step in steps] == pytest.approx([5 / 6, 2 / 3, 4 / 9, 4 / 9])
    assert median(steps) == 10


def test_log_log_bounds_by_hand() -> None:
    """exp(−exp(ln(−ln S) ± 1.96 √(Σ d/(n(n − d)))/ln S)) at the first step: S = 5/6, variance 1/30."""
    step = survival(TIMES, FAILED)[0]
    log = np.log(5 / 6)
    half = 1.959964 * np.sqrt(1 / 30) / abs(log)
    bounds = np.exp(-np.exp(np.log(-log) + np.array([half, -half])))
    assert step.interval == pytest.approx(tuple(bounds), abs=1e-6)


def test_no_events_still_have_bounds() -> None:
    """Trap: NaN from scipy, an empty curve from statsmodels."""
    steps = survival(np.full(30, 20.0), np.zeros(30, bool))
    assert [(step.share, step.interval) for step in steps] == [(1.0, wilson(Rate(30, 30)))]
    assert median(steps) is None
    assert SurvfuncRight(np.full(30, 20.0), np.zeros(30)).surv_prob.size == 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        curve = ecdf(CensoredData(uncensored=[], right=np.full(30, 20.0))).sf
        assert np.isnan(curve.confidence_interval(method="log-log").low.probabilities).all()


def test_all_failed_still_has_bounds() -> None:
    steps = survival(np.full(12, 5.0), np.ones(12, bool))
    assert steps[0].share == 0.0
    assert steps[0].interval == wilson(Rate(0, 12))
    assert survival(np.zeros(0), np.zeros(0, bool)) == []


def test_every_bound_holds_its_share() -> None:
    drawn = np.random.default_rng(1)
    for _ in range(30):
        steps = survival(drawn.choice([1.0, 5, 10, 20], 15), drawn.random(15) < 0.4)
        assert all(step.interval[0] <= step.share <= step.interval[1] for step in steps)
        assert all(np.isfinite(step.interval).all() for step in steps)


def test_arms_are_compared_within_items() -> None:
    drawn = np.random.default_rng(1)
    long = drawn.choice([5.0, 10, 20], 60)
    times = np.column_stack([long, np.maximum(long / 2, 1)])
    assert stratified_p(times, np.ones((60, 2), bool)) < 1e-4
    assert stratified_p(np.column_stack([long, long]), np.ones((60, 2), bool)) == Unknown(
        "no item failed earlier in one arm than in another"
    )
    assert isinstance(stratified_p(times, np.zeros((60, 2), bool)), Unknown)


def test_pairs_are_a_sign_test() -> None:
    """Each item its own stratum: χ² = (12 − 3)²/15, one event in one arm per item."""
    times = np.column_stack([np.full(15, 5.0), np.full(15, 5.0)])
    failed = np.zeros((15, 2), bool)
    failed[:12, 0] = True
    failed[12:, 1] = True
    from scipy.stats import chi2

    assert stratified_p(times, failed) == pytest.approx(chi2.sf(81 / 15, 1), rel=1e-6)
