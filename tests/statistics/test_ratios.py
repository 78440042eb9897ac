"""Ratios of two means, and the refusal where the denominator may be 0."""

import numpy as np
import pytest

from whybox.statistics.ratios import Ratio, ratio
from whybox.statistics.unknown import Unknown


def generator() -> np.random.Generator:
    return np.random.default_rng(6)


def test_a_noisy_denominator_is_refused() -> None:
    """Trap: a ratio of two noisy differences."""
    below = np.array([1.0, -1, 1, -1, 0, 0, 1, -1] * 5)
    assert ratio(np.ones(40), below, generator()) == Unknown("the interval of the denominator holds 0")
    assert ratio(np.zeros(0), np.zeros(0), generator()) == Unknown("no items")


def test_the_interval_is_that_of_items() -> None:
    drawn = np.random.default_rng(1)
    below = drawn.binomial(1, 0.8, 200).astype(float)
    above = below * drawn.binomial(1, 0.6, 200)
    found = ratio(above, below, generator())
    assert isinstance(found, Ratio)
    assert found.value == pytest.approx(above.sum() / below.sum())
    error = np.sqrt(0.6 * 0.4 / below.sum())
    assert found.interval == pytest.approx((found.value - 1.96 * error, found.value + 1.96 * error), abs=0.015)


def test_nothing_gained_keeps_a_width() -> None:
    """Trap: a bootstrap of constant data is NaN."""
    found = ratio(np.zeros(60), np.ones(60), generator())
    assert isinstance(found, Ratio)
    assert found.value == 0
    assert found.interval[0] < 0 < found.interval[1] < 0.1


def test_everything_gained_keeps_a_width() -> None:
    found = ratio(np.ones(60), np.ones(60), generator())
    assert isinstance(found, Ratio)
    assert found.interval[0] < 1 < found.interval[1]
