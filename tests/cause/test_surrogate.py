"""Shapley values and the LASSO, against enumeration, closed forms, and statsmodels."""

from itertools import permutations

import numpy as np
import pytest
import statsmodels.api as sm

from whybox.cause.surrogate import all_masks, drawn_masks, lasso, shapley

RNG = np.random.default_rng(5)


def test_shapley_is_the_mean_marginal_over_all_orders() -> None:
    values = {kept: float(v) for kept, v in enumerate(RNG.normal(size=16))}
    orders = list(permutations(range(4)))
    brute = np.zeros(4)
    for order in orders:
        kept = 0
        for source in order:
            brute[source] += values[kept | 1 << source] - values[kept]
            kept |= 1 << source
    np.testing.assert_allclose(shapley(values, 4), brute / len(orders), atol=1e-12)
    assert shapley(values, 4).sum() == pytest.approx(values[15] - values[0])


def test_shapley_by_hand_for_an_and() -> None:
    """v = 12 where both are kept: six each, and nothing for the third."""
    values = {kept: 12.0 * ((kept & 3) == 3) for kept in range(8)}
    np.testing.assert_allclose(shapley(values, 3), [6, 6, 0], atol=1e-12)


def test_lasso_is_statsmodels_elastic_net() -> None:
    masks = drawn_masks(9, 40, np.random.default_rng(1))
    y = masks @ np.array([3.0, -2, 0, 0, 0.5, 0, 0, 1, 0]) + RNG.normal(size=40) * 0.3
    mine = lasso(masks, y, alpha=0.05)
    z = (masks - masks.mean(axis=0)) / masks.std(axis=0)
    theirs = sm.OLS(y - y.mean(), z).fit_regularized(method="elastic_net", alpha=0.05, L1_wt=1.0, maxiter=5000)
    np.testing.assert_allclose(mine.weights, np.asarray(theirs.params) / masks.std(axis=0), atol=2e-4)
    np.testing.assert_allclose(mine(masks).mean(), y.mean(), atol=1e-10)


def test_lasso_meets_its_optimality_conditions() -> None:
    masks = drawn_masks(12, 64, np.random.default_rng(2))
    y = RNG.normal(size=64)
    alpha = 0.08
    fitted = lasso(masks, y, alpha)
    z = (masks - masks.mean(axis=0)) / masks.std(axis=0)
    pull = z.T @ (y - fitted(masks)) / 64
    standard = fitted.weights * masks.std(axis=0)
    for gradient, weight in zip(pull, standard, strict=True):
        if weight:
            assert gradient == pytest.approx(alpha * np.sign(weight), abs=1e-8)
        else:
            assert abs(gradient) <= alpha + 1e-8
    assert (standard == 0).any()
    assert (standard != 0).any()


def test_lasso_on_orthogonal_masks_is_a_soft_threshold() -> None:
    masks = all_masks(3)
    y = masks @ np.array([4.0, 0.01, -2.0])
    weights = lasso(masks, y, alpha=0.1).weights
    np.testing.assert_allclose(weights, [4 - 0.2, 0, -2 + 0.2], atol=1e-9)


def test_a_source_that_never_varies_has_no_weight() -> None:
    masks = drawn_masks(6, 30, np.random.default_rng(3))
    masks[:, 2] = True
    assert lasso(masks, RNG.normal(size=30)).weights[2] == 0


def test_masks() -> None:
    assert all_masks(3).tolist()[5] == [True, False, True]
    drawn = drawn_masks(7, 64, np.random.default_rng(4))
    unseen = drawn_masks(7, 32, np.random.default_rng(4), [mask.tobytes() for mask in drawn])
    both = {mask.tobytes() for mask in drawn} | {mask.tobytes() for mask in unseen}
    assert len(both) == 96
    assert 0.4 < drawn.mean() < 0.6
