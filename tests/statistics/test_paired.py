"""Tango's score interval against published values, likelihood and enumeration; McNemar against the binomial."""

import math

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import proportion_confint, proportions_ztest

from tests.statistics.tables import coverage, pairs_tables
from whybox.statistics.paired import (
    Pairs,
    mcnemar_exact,
    p_harm_above,
    p_harm_below,
    paired_difference,
    tango_z,
)


def newcombe10(a: int, b: int, c: int, d: int) -> tuple[float, float]:
    """Newcombe's paired method 10 (Statistics in Medicine 17, 2635): the cross-check that decides nothing."""
    n = a + b + c + d
    first, second = (a + b) / n, (a + c) / n
    lows, highs = zip(*(proportion_confint(k, n, method="wilson") for k in (a + b, a + c)), strict=True)
    product = (a + b) * (c + d) * (a + c) * (b + d)
    cross = a * d - b * c
    numerator = max(cross - n / 2, 0.0) if cross > 0 else cross
    phi = numerator / math.sqrt(product) if product else 0.0
    below = (first - lows[0], highs[1] - second)
    above = (highs[0] - first, second - lows[1])
    half = [math.sqrt(x**2 - 2 * phi * x * y + y**2) for x, y in (below, above)]
    return first - second - half[0], first - second + half[1]


@pytest.mark.parametrize(
    ("pairs", "low", "high"), [(Pairs(12, 2, 50), 0.0611, 0.3447), (Pairs(0, 1, 44), -0.1181, 0.0594)]
)
def test_published_intervals(pairs: Pairs, low: float, high: float) -> None:
    assert paired_difference(pairs) == pytest.approx((low, high), abs=6e-5)


@pytest.mark.parametrize("n", [1, 7, 44, 1000])
def test_no_pair_differs(n: int) -> None:
    bound = 1.959964**2 / (n + 1.959964**2)
    assert paired_difference(Pairs(0, 0, n)) == pytest.approx((-bound, bound), abs=1e-6)


def test_newcombe_agrees_as_a_cross_check() -> None:
    assert newcombe10(36, 12, 2, 0) == pytest.approx((0.0569, 0.3404), abs=6e-5)
    assert newcombe10(36, 12, 2, 0) == pytest.approx(paired_difference(Pairs(12, 2, 50)), abs=0.01)


def test_the_interval_turns_with_the_arms() -> None:
    low, high = paired_difference(Pairs(9, 4, 61)) or (0, 0)
    assert paired_difference(Pairs(4, 9, 61)) == pytest.approx((-high, -low))


@pytest.mark.parametrize(("b", "c", "n"), [(5, 5, 5), (5, 0, 5), (0, 5, 5), (3, 2, 5), (0, 0, 1)])
def test_bounds_stay_inside_and_have_width(b: int, c: int, n: int) -> None:
    pairs = Pairs(min(b, n), min(c, n - min(b, n)), n)
    low, high = paired_difference(pairs) or (0, 0)
    assert -1 <= low < high <= 1
    assert low <= (pairs.harm or 0.0) <= high


@pytest.mark.parametrize(
    ("b", "c", "n", "harm"), [(12, 2, 50, 0.05), (3, 9, 40, -0.3), (7, 7, 30, 0.2), (0, 4, 20, 0.1)]
)
def test_z_rests_on_the_most_likely_share(b: int, c: int, n: int, harm: float) -> None:
    """q = P(better) under P(worse) = q + Δ, found by maximising the likelihood instead of Tango's quadratic."""

    def loss(q: float) -> float:
        rest = n - b - c
        return -(b * math.log(q + harm) + c * math.log(q) + rest * math.log(1 - 2 * q - harm))

    low = max(1e-9, -harm + 1e-9)
    found = minimize_scalar(loss, bounds=(low, (1 - harm) / 2 - 1e-9), method="bounded", options={"xatol": 1e-12})
    q = float(found.x)
    z = (b - c - n * harm) / math.sqrt(n * (2 * q + harm - harm**2))
    assert float(tango_z(np.asarray(b), np.asarray(c), n, np.asarray(harm))) == pytest.approx(z, abs=1e-4)


@pytest.mark.parametrize("most", [0.02, 0.05, 0.1])
def test_p_and_interval_say_the_same(most: float) -> None:
    """p ≤ .05 exactly where the upper end of the 90 % interval lies below the limit."""
    for b in range(0, 20, 3):
        for c in range(10, 24, 4):
            pairs = Pairs(b, c, 150)
            high = (paired_difference(pairs, alpha=0.1) or (0, 0))[1]
            assert (p_harm_below(pairs, most) <= 0.05) == (high <= most)
            assert p_harm_above(pairs, most) == pytest.approx(1 - p_harm_below(pairs, most))


def test_few_differing_pairs_need_as_many_items_as_a_rate() -> None:
    """No pair differs: ±5 points take 59 items, not the score's 52."""
    score = float(stats.norm.cdf(tango_z(np.asarray(0), np.asarray(0), 52, np.asarray(0.05))))
    assert score < 0.05 < p_harm_below(Pairs(0, 0, 52), 0.05)
    assert p_harm_below(Pairs(0, 0, 58), 0.05) > 0.05 >= p_harm_below(Pairs(0, 0, 59), 0.05)


def test_tango_keeps_its_promise_where_newcombe_is_too_wide() -> None:
    """4 % of 150 pairs differ, 95 % of the others are right: enumerated coverage."""
    n, each = 150, 0.02

    def tango(b: int, c: int) -> tuple[float, float] | None:
        return paired_difference(Pairs(b, c, n))

    def newcombe(b: int, c: int) -> tuple[float, float]:
        kept = n - b - c
        right = round(0.95 * kept)
        return newcombe10(right, b, c, kept - right)

    assert 0.935 < coverage(pairs_tables(n, each, each), tango, 0.0) < 0.965
    assert 0.975 < coverage(pairs_tables(n, each, each), newcombe, 0.0) < 0.995


@pytest.mark.parametrize(("b", "c"), [(0, 6), (5, 1), (8, 8), (12, 2)])
def test_mcnemar_is_the_binomial_of_the_differing(b: int, c: int) -> None:
    assert mcnemar_exact(Pairs(b, c, 100)) == pytest.approx(stats.binomtest(b, b + c, 0.5).pvalue)


def test_no_differing_pair_is_no_evidence() -> None:
    """Trap: the asymptotic test returns p = 0 there."""
    with np.errstate(all="ignore"):
        trap = mcnemar([[40, 0], [0, 60]], exact=False).pvalue
    assert trap == 0.0
    assert mcnemar_exact(Pairs(0, 0, 100)) == 1.0


def test_pairs_are_tested_as_pairs() -> None:
    """Trap: 14 of 200 get worse and 3 better, at 90 %. An unpaired z sees nothing, the pairs do."""
    _, unpaired = proportions_ztest([180, 169], [200, 200])
    assert unpaired > 0.05
    assert mcnemar_exact(Pairs(14, 3, 200)) < 0.05
    assert (paired_difference(Pairs(14, 3, 200)) or (0, 0))[0] > 0


def test_nothing_seen_is_unknown() -> None:
    assert paired_difference(Pairs(0, 0, 0)) is None
    assert Pairs(0, 0, 0).harm is None
