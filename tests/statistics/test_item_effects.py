"""Mean of rare item effects: worked by hand, enumerated coverage, and the traps of plain t."""

import numpy as np
import pytest
from scipy import stats

from tests.statistics.tables import coverage, pairs_tables
from whybox.statistics.effects import effect_interval, p_mean_above, p_mean_below
from whybox.statistics.equivalence import p_mean_other, p_mean_same


def of(above: int, below: int, n: int) -> np.ndarray:
    return np.array([1.0] * above + [-1.0] * below + [0.0] * (n - above - below))


def plain(effects: np.ndarray) -> tuple[float, float]:
    if np.ptp(effects) == 0:
        return float(effects.mean()), float(effects.mean())
    low, high = stats.t.interval(0.95, effects.size - 1, loc=effects.mean(), scale=stats.sem(effects))
    return float(low), float(high)


def test_by_hand() -> None:
    """Six of eight items at 1: ten values of mean .6, Σd² = 6.5, variance (6.5 − 3.6)/9, t(.975, 9) = 2.26216."""
    half = 2.26216 * np.sqrt((6.5 - 3.6) / 9 / 10)
    assert effect_interval(of(6, 0, 8)) == pytest.approx((0.6 - half, min(1.0, 0.6 + half)), abs=1e-5)


@pytest.mark.parametrize("n", [1, 5, 30, 100])
def test_no_effect_is_bounded_like_a_rate(n: int) -> None:
    bound = 1 - 0.025 ** (1 / n)
    assert effect_interval(np.zeros(n)) == pytest.approx((-bound, bound))


def test_few_effects_are_bounded_on_both_sides() -> None:
    """Three of 40 above: Clopper–Pearson for 3 and for 0 of 40."""
    high = float(stats.beta.ppf(0.975, 4, 37))
    assert effect_interval(of(3, 0, 40)) == pytest.approx((-(1 - 0.025 ** (1 / 40)), high))


def test_small_effects_are_measured_on_their_own_scale() -> None:
    """Shares of 1 % ± 1 %: at scale .02 the interval is that of items a hundred times as large, a hundredth as wide."""
    effects = np.array([0.0, 0.02] * 50)
    low, high = effect_interval(effects, scale=0.02) or (0, 0)
    wide = effect_interval(effects * 50) or (0, 0)
    assert (50 * low, 50 * high) == pytest.approx(wide)
    assert high - low < 0.3 * np.ptp(effect_interval(effects) or (0, 0))


def test_nothing_seen_is_unknown() -> None:
    assert effect_interval(np.zeros(0)) is None


@pytest.mark.parametrize("effects", [np.zeros(3), np.ones(7), np.ones(1), np.full(12, 0.25), of(5, 5, 10)])
def test_no_interval_has_width_zero(effects: np.ndarray) -> None:
    low, high = effect_interval(effects) or (0, 0)
    assert low < high


@pytest.mark.parametrize(
    ("above", "below", "n", "least", "most", "plain_most"),
    [
        (0.20, 0.10, 100, 0.93, 0.96, 0.96),
        (0.30, 0.00, 60, 0.93, 0.96, 0.96),
        (0.05, 0.00, 100, 0.93, 1.0, 0.93),
        (0.03, 0.00, 100, 0.93, 1.0, 0.93),
        (0.01, 0.00, 150, 0.93, 1.0, 0.93),
    ],
)
def test_coverage_by_enumeration(
    above: float, below: float, n: int, least: float, most: float, plain_most: float
) -> None:
    """Common effects near .95, rare ones above; the plain t interval fails where effects are rare."""
    truth = above - below
    ours = coverage(pairs_tables(n, above, below), lambda b, c: effect_interval(of(b, c, n)), truth)
    trap = coverage(pairs_tables(n, above, below), lambda b, c: plain(of(b, c, n)), truth)
    assert least <= ours <= most
    assert trap <= plain_most


def test_tails_add_up_where_effects_are_common() -> None:
    effects = of(9, 4, 50)
    assert p_mean_below(effects, 0.2) + p_mean_above(effects, 0.2) == pytest.approx(1)
    by_hand = stats.ttest_1samp(np.append(effects, [0.5, -0.5]), 0.2, alternative="less").pvalue
    assert p_mean_below(effects, 0.2) == pytest.approx(by_hand)


def test_a_limit_is_shown_only_with_as_many_items_as_a_rate_takes() -> None:
    assert p_mean_below(np.zeros(58), 0.05) > 0.05 >= p_mean_below(np.zeros(59), 0.05)
    assert p_mean_below(np.zeros(5000), 0.0) == 1.0
    assert p_mean_above(np.ones(4), 0.05) == 1.0  # four items never speak of a mean


def test_false_passes_at_the_limit_stay_below_alpha() -> None:
    """True mean exactly at the limit of 5 points: enumerated share of passes."""
    n, limit = 100, 0.05
    for above, below in [(0.05, 0.0), (0.15, 0.10), (0.07, 0.02)]:
        passes = sum(
            weight for b, c, weight in pairs_tables(n, above, below) if p_mean_below(of(b, c, n), limit) <= 0.05
        )
        assert passes <= 0.065


def test_same_is_the_worse_side() -> None:
    effects = of(9, 4, 200)
    assert p_mean_same(effects, 0.1) == max(p_mean_below(effects, 0.1), p_mean_above(effects, -0.1))
    assert p_mean_other(effects, 0.01) == min(p_mean_above(effects, 0.01), p_mean_below(effects, -0.01))
