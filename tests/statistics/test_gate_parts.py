"""The two p-values of every kind of gate, and gates of several parts."""

import numpy as np
import pytest
from scipy import stats

from whybox.errors import UsageError
from whybox.statistics.gates import (
    Gate,
    HarmAtMost,
    MeanAtMost,
    Part,
    RateAtLeast,
    RateAtMost,
    SameWithin,
    judged,
)
from whybox.statistics.intervals import Rate
from whybox.statistics.paired import Pairs


def test_a_rate_at_least() -> None:
    part = judged("place 1", RateAtLeast(0.8), Rate(170, 180))
    assert part.p_holds == pytest.approx(stats.binomtest(170, 180, 0.8, "greater").pvalue)
    assert part.p_broken == pytest.approx(stats.binomtest(170, 180, 0.8, "less").pvalue)
    assert part.estimate == pytest.approx(170 / 180)
    assert part.n == 180


def test_a_rate_at_most_is_its_mirror() -> None:
    most, least = judged("", RateAtMost(0.2), Rate(10, 180)), judged("", RateAtLeast(0.8), Rate(170, 180))
    assert (most.p_holds, most.p_broken) == pytest.approx((least.p_holds, least.p_broken))


def test_no_harm() -> None:
    part = judged("", HarmAtMost(0.10), Pairs(14, 13, 130))
    assert part.p_holds < 0.05
    assert part.p_broken == pytest.approx(1 - part.p_holds)
    assert part.estimate == pytest.approx(1 / 130)


def test_same_is_shown_or_open_never_inferred() -> None:
    """Trap: p > α of a difference printed as "same"."""
    few = judged("", SameWithin(0.05), Pairs(2, 1, 30))
    assert few.p_holds > 0.05
    assert few.p_broken > 0.05
    assert judged("", SameWithin(0.05), Pairs(18, 19, 365)).p_holds <= 0.05
    assert judged("", SameWithin(0.02), Pairs(60, 10, 365)).p_broken <= 0.05


def test_a_mean_at_most_and_same() -> None:
    effects = np.array([0.25] * 6 + [-0.25] * 6 + [0.0] * 88)
    assert judged("", MeanAtMost(0.05), effects).p_holds < 0.05
    assert judged("", SameWithin(0.05), effects).p_holds < 0.05
    assert judged("", MeanAtMost(0.05), np.full(60, 0.2)).p_broken < 0.01


def test_a_demand_on_what_was_not_measured() -> None:
    with pytest.raises(UsageError, match="HarmAtMost cannot be judged on Rate"):
        judged("memory drop", HarmAtMost(0.1), Rate(3, 4))


@pytest.mark.parametrize(
    ("demand", "seen"),
    [(RateAtLeast(0.8), Rate(0, 0)), (HarmAtMost(0.1), Pairs(0, 0, 0)), (MeanAtMost(0.1), np.zeros(0))],
)
def test_nothing_measured_speaks_for_nothing(demand: RateAtLeast, seen: Rate) -> None:
    part = judged("", demand, seen)
    assert (part.p_holds, part.p_broken) == (1.0, 1.0)
    assert part.estimate is None
    assert part.interval is None


def part(holds: float, broken: float) -> Part:
    return Part("", RateAtLeast(0.8), 0.9, (0.8, 1.0), 10, holds, broken, 5)


def test_every_part_must_hold_and_one_may_break() -> None:
    gate = Gate("evidence", "every place", (part(0.01, 0.99), part(0.04, 0.9), part(0.6, 0.02)))
    assert gate.p_holds == 0.6
    assert gate.p_broken == pytest.approx(0.06)
    assert Gate("order", "D", (part(0.01, 0.99),)).p_holds == 0.01
    assert (Gate("x", "empty", ()).p_holds, Gate("x", "empty", ()).p_broken) == (1.0, 1.0)
