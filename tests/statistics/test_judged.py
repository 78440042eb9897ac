"""A judge's errors taken off: by hand, and by simulation."""

import numpy as np
import pytest

from whybox.statistics.intervals import Rate
from whybox.statistics.judged import BLIND, Corrected, Judge, Seen, corrected
from whybox.statistics.unknown import Unknown


def found(seen: Seen, judge: Judge, draws: int = 2000) -> Corrected:
    result = corrected(seen, judge, np.random.default_rng(0), draws)
    assert isinstance(result, Corrected)
    return result


def test_by_hand() -> None:
    """se .9, sp .8: of 100 open answers 62 are called right, so (.62 + .8 − 1)/(.9 + .8 − 1) = .6 are."""
    result = found(Seen(0, 0, 62, 38), Judge(Rate(180, 200), Rate(160, 200)))
    assert result.value == pytest.approx(0.6)
    assert result.plain == 0.62
    assert result.interval[0] < 0.6 < result.interval[1]
    with_known = found(Seen(80, 20, 62, 38), Judge(Rate(180, 200), Rate(160, 200)))
    assert with_known.value == pytest.approx((80 + 60) / 200)
    assert np.diff(with_known.interval) < np.diff(result.interval)


def test_a_judge_without_errors_changes_nothing_and_its_doubt_is_wider_than_none() -> None:
    result = found(Seen(0, 0, 30, 70), Judge(Rate(1000, 1000), Rate(1000, 1000)))
    assert (result.value, result.plain) == pytest.approx((0.3, 0.3))
    assert 0.15 < result.interval[1] - result.interval[0] < 0.22


@pytest.mark.parametrize("judge", [Judge(Rate(50, 100), Rate(50, 100)), Judge(Rate(0, 0), Rate(9, 9))])
def test_a_judge_that_is_no_better_than_chance_says_nothing(judge: Judge) -> None:
    assert corrected(Seen(5, 5, 3, 3), judge, np.random.default_rng(0)) == BLIND
    assert found(Seen(5, 5, 0, 0), judge).value == 0.5, "where it was not needed"
    assert isinstance(corrected(Seen(0, 0, 0, 0), judge, np.random.default_rng(0)), Unknown)


def test_the_interval_holds_the_truth() -> None:
    """400 runs: 60 known, 60 open of which half are right, a judge with se .85 and sp .75 known from 80 each."""
    generator = np.random.default_rng(5)
    held = 0
    for _ in range(400):
        known, open_ = generator.binomial(60, 0.7), generator.binomial(60, 0.5)
        called = generator.binomial(open_, 0.85) + generator.binomial(60 - open_, 0.25)
        judge = Judge(Rate(int(generator.binomial(80, 0.85)), 80), Rate(int(generator.binomial(80, 0.75)), 80))
        result = corrected(Seen(int(known), int(60 - known), int(called), int(60 - called)), judge, generator, 400)
        held += isinstance(result, Corrected) and result.interval[0] <= 0.6 <= result.interval[1]
    assert 0.92 <= held / 400 <= 0.985
