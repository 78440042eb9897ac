"""Exact gates on a rate, unpaired differences, standard errors that are not there."""

import pytest
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from whybox.statistics.intervals import Rate, clopper_pearson, exact_upper, standard_error, unpaired_difference, wilson
from whybox.statistics.rates import p_rate_above, p_rate_below
from whybox.statistics.unknown import Unknown


def test_at_least_95_percent_takes_59_of_59() -> None:
    """Trap: a one-sided Wilson bound would pass at 52 of 52."""
    low = float(proportion_confint(52, 52, alpha=0.1, method="wilson")[0])
    assert low >= 0.95
    assert p_rate_above(Rate(52, 52), 0.95) > 0.05
    assert p_rate_above(Rate(58, 58), 0.95) > 0.05 >= p_rate_above(Rate(59, 59), 0.95)


def test_tails_share_the_seen_count() -> None:
    both = p_rate_above(Rate(40, 50), 0.8) + p_rate_below(Rate(40, 50), 0.8)
    assert both == pytest.approx(1 + stats.binom.pmf(40, 50, 0.8))


def test_nothing_counted_speaks_for_nothing() -> None:
    assert p_rate_above(Rate(0, 0), 0.5) == p_rate_below(Rate(0, 0), 0.5) == 1.0
    assert exact_upper(Rate(0, 0), 0.2) == 1.0
    assert Rate(0, 0).share is None
    assert unpaired_difference(Rate(0, 0), Rate(1, 2)) is None


@pytest.mark.parametrize(("k", "n", "low"), [(10, 10, 0.722), (30, 30, 0.886), (100, 100, 0.963)])
def test_all_right_is_not_certain(k: int, n: int, low: float) -> None:
    """Trap: the normal interval of n/n is [1, 1]."""
    assert tuple(map(float, proportion_confint(k, n, method="normal"))) == (1.0, 1.0)
    assert wilson(Rate(k, n)) == pytest.approx((low, 1.0), abs=6e-4)


def test_the_exact_upper_bound_is_clopper_pearsons() -> None:
    bounds = clopper_pearson(Rate(3, 40))
    assert bounds is not None
    assert exact_upper(Rate(3, 40), 0.025) == pytest.approx(bounds[1])
    assert exact_upper(Rate(40, 40), 0.025) == 1.0


def test_two_different_sets_of_items_by_newcombe() -> None:
    """Newcombe (Statistics in Medicine 17, 873), method 10: 56/70 and 48/80 → .0524 to .3339."""
    assert unpaired_difference(Rate(56, 70), Rate(48, 80)) == pytest.approx((0.0524, 0.3339), abs=6e-5)


def test_one_prompt_has_no_standard_error() -> None:
    assert standard_error([0.7]) == Unknown("one prompt; no generalisation")
    assert isinstance(standard_error([1.0, 1.0, 1.0]), Unknown)
    assert standard_error([1.0, 2.0, 3.0]) == pytest.approx(3**-0.5)


@pytest.mark.parametrize(("p", "covers"), [(0.2, 0.948), (0.5, 0.959), (0.8, 0.948)])
def test_wilson_covers_as_enumerated(p: float, covers: float) -> None:
    n, total = 150, 0.0
    for k in range(n + 1):
        low, high = wilson(Rate(k, n)) or (0, 0)
        total += float(stats.binom.pmf(k, n, p)) * (low <= p <= high)
    assert total == pytest.approx(covers, abs=6e-4)
