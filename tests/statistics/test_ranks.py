"""Ranks and intervals against published or enumerated values."""

import numpy as np
import pytest

from whybox.statistics import intervals, ranks
from whybox.statistics.intervals import Rate


def test_p_is_never_zero_and_counts_draws_as_large_as_the_effect() -> None:
    assert ranks.rank_p(3.0, [0.1] * 999) == pytest.approx(0.001)
    assert ranks.rank_p(-3.0, [3.0, -4.0, 1.0]) == pytest.approx(3 / 4)
    assert ranks.share_p(0, 21) == pytest.approx(0.0454545, abs=1e-6)
    assert ranks.share_p(0, 18) > 0.05


def test_null_band_holds_the_middle_of_the_draws() -> None:
    band = ranks.null_band(5.0, [float(i) for i in range(101)])
    assert band is not None
    assert (band.low, band.high) == pytest.approx((2.5, 97.5))
    assert band.p == pytest.approx(97 / 102)
    assert band.smallest_p == pytest.approx(1 / 102)
    assert band.same_way == 96
    below = ranks.null_band(-5.0, [-6.0, 7.0, 8.0, 5.0, -1.0])
    assert below is not None
    assert (below.same_way, below.p) == (1, pytest.approx(5 / 6))
    assert ranks.null_band(1.0, []) is None


def test_spearman_by_hand_and_undefined_on_constants() -> None:
    found = ranks.spearman([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 5.0, 4.0], np.random.default_rng(0))
    assert found is not None
    assert found.rho == pytest.approx(0.9)
    assert found.p == pytest.approx(10 / 120, abs=0.03)  # 10 of the 120 pairings have |ρ| ≥ .9
    assert ranks.spearman([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], np.random.default_rng(0)) is None


def test_sign_flips_are_enumerated_for_few_items() -> None:
    assert ranks.sign_flip_p([1.0, 2.0, 3.0, 4.0], np.random.default_rng(0)) == pytest.approx(2 / 16)
    assert ranks.sign_flip_p([], np.random.default_rng(0)) is None


def test_wilson_at_the_ends() -> None:
    assert intervals.wilson(Rate(10, 10)) == pytest.approx((0.722, 1), abs=5e-4)
    assert intervals.wilson(Rate(30, 30)) == pytest.approx((0.886, 1), abs=5e-4)
    assert [intervals.wilson(Rate(hits, 9))[end] for hits, end in ((0, 0), (9, 1))] == [0.0, 1.0], "no dust at the ends"
    assert intervals.wilson(Rate(0, 0)) is None


def test_clopper_pearson_never_has_width_zero() -> None:
    assert intervals.clopper_pearson(Rate(0, 9)) == pytest.approx((0, 0.3363), abs=5e-4)
    assert intervals.clopper_pearson(Rate(9, 9)) == pytest.approx((0.6637, 1), abs=5e-4)


@pytest.mark.parametrize(("calls", "bound"), [(29, 0.10), (59, 0.05), (149, 0.02), (299, 0.01), (598, 0.005)])
def test_flip_bounds(calls: int, bound: float) -> None:
    assert intervals.flip_bound(calls) < bound
    assert intervals.flip_bound(calls - 1) > bound


def test_mean_interval_needs_two_different_values() -> None:
    assert intervals.mean_interval([1.0]) is None
    assert intervals.mean_interval([1.0, 1.0]) is None
    # t(0.975, 2) = 4.30265, sem = 1/√3
    assert intervals.mean_interval([1.0, 2.0, 3.0]) == pytest.approx((2 - 2.48414, 2 + 2.48414), abs=1e-4)


def test_kendall_by_hand_and_undefined_on_constants() -> None:
    found = ranks.kendall([1.0, 2.0, 3.0, 4.0, 5.0], [1.0, 2.0, 3.0, 5.0, 4.0], np.random.default_rng(0))
    assert found is not None
    assert found.rho == pytest.approx(0.8)  # nine pairs concordant, one not
    assert found.p == pytest.approx(10 / 120, abs=0.03)  # five pairings with at most one inversion, on either side
    assert ranks.kendall([1.0, 1.0, 1.0], [1.0, 2.0, 3.0], np.random.default_rng(0)) is None


def test_kendall_with_ties_is_tau_b() -> None:
    from scipy.stats import kendalltau, permutation_test

    x, y = [1.0, 1.0, 2.0, 3.0, 3.0, 4.0], [2.0, 1.0, 3.0, 3.0, 5.0, 4.0]
    found = ranks.kendall(x, y, np.random.default_rng(0))
    assert found is not None
    assert found.rho == pytest.approx(kendalltau(x, y).statistic)
    exact = permutation_test((x,), lambda x: kendalltau(x, y).statistic, permutation_type="pairings")
    assert found.p == pytest.approx(exact.pvalue, abs=0.03)
