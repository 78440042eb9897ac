"""How many more items: closed form about the limit, and what no number settles."""

import numpy as np
import pytest

from whybox.statistics import need
from whybox.statistics.intervals import Rate, exact_upper
from whybox.statistics.paired import Pairs
from whybox.statistics.power import closed_form
from whybox.statistics.unknown import Unknown

SITS = Unknown("cannot be settled: the value sits on the limit")


def test_a_rate_needs_what_the_exact_gate_takes() -> None:
    assert need.more_for_rate(Rate(10, 10), 0.9) == 19
    assert need.more_for_rate(Rate(27, 30), 0.8) == 52
    assert need.more_for_rate(Rate(80, 100), 0.8) == SITS
    assert need.more_for_rate(Rate(0, 0), 0.8) == Unknown("nothing was counted")


def test_a_rate_below_its_limit_needs_what_shows_that() -> None:
    found = need.more_for_rate(Rate(6, 10), 0.8)
    assert isinstance(found, int)
    assert 10 < found < 60


def test_pairs_use_the_upper_bound_of_those_that_differ() -> None:
    """15 worse, 5 better of 100, nothing allowed: ψ at its upper 80 % bound, Δ = .10."""
    psi = exact_upper(Rate(20, 100), 0.2)
    assert psi > 0.2
    assert need.more_for_pairs(Pairs(15, 5, 100), 0.0) == closed_form(0.1, psi) - 100


def test_no_differing_pair_needs_what_a_ceiling_takes() -> None:
    found = need.more_for_pairs(Pairs(0, 0, 40), 0.05)
    assert isinstance(found, int)
    assert found >= 59 - 40


def test_on_the_limit_nothing_settles_it() -> None:
    assert need.more_for_pairs(Pairs(12, 2, 200), 0.05) == SITS
    assert need.more_for_mean(np.full(40, 0.052), 0.05) == SITS


def test_same_is_told_from_the_nearer_end() -> None:
    assert need.more_for_same(Pairs(2, 9, 100), 0.1) == need.more_for_pairs(Pairs(9, 2, 100), 0.1)


def test_means_with_signs_need_what_pairs_need() -> None:
    effects = np.array([1.0] * 15 + [-1.0] * 5 + [0.0] * 80)
    assert need.more_for_mean(effects, 0.0) == need.more_for_pairs(Pairs(15, 5, 100), 0.0)


def test_never_nothing() -> None:
    assert need.more_for_rate(Rate(95, 100), 0.8) == 1
    assert isinstance(need.more_for_mean(np.zeros(0), 0.1), Unknown)
    assert isinstance(need.more_for_pairs(Pairs(0, 0, 0), 0.1), Unknown)


@pytest.mark.parametrize("alpha", [0.05, 0.0294])
def test_more_looks_need_more(alpha: float) -> None:
    base = need.more_for_rate(Rate(27, 30), 0.8)
    found = need.more_for_rate(Rate(27, 30), 0.8, alpha)
    assert isinstance(found, int)
    assert isinstance(base, int)
    assert found >= base
