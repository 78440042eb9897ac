"""Permutation within items against enumeration; spread and contrasts beside their null."""

from itertools import permutations, product

import numpy as np
import pytest

from whybox.statistics.cochran import Omnibus, cochran
from whybox.statistics.permutation import Permuted, contrast, spread, within_items
from whybox.statistics.unknown import Unknown


def generator() -> np.random.Generator:
    return np.random.default_rng(11)


def enumerated(table: np.ndarray) -> list[float]:
    """The spread of every dealing of a small table."""
    rows = [list(permutations(row)) for row in table.tolist()]
    return [float(np.ptp(np.array(dealt, float).mean(axis=0))) for dealt in product(*rows)]


def test_small_tables_are_enumerated() -> None:
    table = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 1, 1]])
    found = within_items(table, spread, generator())
    assert isinstance(found, Permuted)
    null = enumerated(table)
    assert found.observed == pytest.approx(0.75)
    assert found.p == pytest.approx(np.mean(np.array(null) >= 0.75 - 1e-9))
    assert found.null_mean == pytest.approx(np.mean(null))


def test_p_is_never_zero() -> None:
    """Trap: 1,000 draws and none as large is p = 0. Here (1 + 0)/(1 + R)."""
    table = np.tile([1, 0, 0, 0], (80, 1))
    found = within_items(table, spread, generator(), resamples=99)
    assert isinstance(found, Permuted)
    assert found.p == pytest.approx(1 / 100)


def test_a_signed_contrast_is_judged_on_both_sides() -> None:
    up = np.array([[0, 0, 1]] * 9)
    weights = np.array([-1.0, 0.0, 1.0])
    one = within_items(up, contrast(weights), generator(), "two-sided")
    other = within_items(up[:, ::-1].copy(), contrast(weights), generator(), "two-sided")
    assert isinstance(one, Permuted)
    assert isinstance(other, Permuted)
    assert one.observed == pytest.approx(1) == -other.observed
    assert one.p == pytest.approx(2 * 3**-9, rel=0.5, abs=3e-4)
    assert one.null_95 > 0


def test_what_no_dealing_changes_is_unknown() -> None:
    assert within_items(np.ones((5, 3), int), spread, generator()) == Unknown("no item differed")
    assert within_items(np.array([[0, 1]]), spread, generator()) == Unknown("fewer than two items")


def test_cochran_by_hand() -> None:
    """Q = (k − 1)(k Σ T_j² − T²)/(k T − Σ L_i²): 40 items, arms right in 30, 20, 10."""
    table = np.repeat([[1, 1, 1], [1, 1, 0], [1, 0, 0], [0, 0, 0]], 10, axis=0)
    found = cochran(table, generator())
    squares, total = 900 + 400 + 100, 60
    rows = 10 * (9 + 4 + 1)
    assert isinstance(found, Omnibus)
    assert found.q == pytest.approx(2 * (3 * squares - total**2) / (3 * total - rows))
    assert found.by == "chi2"


def test_cochran_on_constant_rows_says_that_no_item_differed() -> None:
    """Trap: statsmodels returns NaN there."""
    assert cochran(np.ones((40, 4), int), generator()) == Unknown("no item differed")


def test_cochran_on_few_items_permutes() -> None:
    table = np.array([[1, 0, 0], [1, 1, 0], [1, 0, 0], [1, 1, 1], [1, 0, 0]])
    found = cochran(table, generator())
    assert isinstance(found, Omnibus)
    assert found.by == "permutation"
    varying = table[[0, 1, 2, 4]]
    rows = [list(permutations(row)) for row in varying.tolist()]
    sums = np.array([(np.array(dealt).sum(axis=0) ** 2).sum() for dealt in product(*rows)])
    assert found.p == pytest.approx((sums >= (varying.sum(axis=0) ** 2).sum()).mean())


def test_best_minus_worst_is_large_without_any_effect() -> None:
    """Trap: ten orders, 70 % right, no effect: 31, 20, 14, 6 points at 20, 50, 100, 500 items."""
    drawn = np.random.default_rng(7)
    for n, points in [(20, 31), (50, 20), (100, 14), (500, 6)]:
        means = drawn.binomial(n, 0.7, (20_000, 10)) / n
        assert 100 * np.ptp(means, axis=1).mean() == pytest.approx(points, abs=0.6)


def test_a_spread_without_effect_lies_inside_its_null() -> None:
    table = np.random.default_rng(3).binomial(1, 0.7, (50, 10))
    found = within_items(table, spread, generator(), resamples=999)
    assert isinstance(found, Permuted)
    assert found.p > 0.05
    assert found.observed > 0.1  # and would look like an effect alone
