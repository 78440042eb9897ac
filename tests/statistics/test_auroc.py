"""Area under the curve by counting pairs."""

import numpy as np
import pytest

from whybox.statistics.auroc import Auroc, auroc
from whybox.statistics.unknown import Unknown


def found(confidence: np.ndarray, right: np.ndarray) -> Auroc:
    result = auroc(confidence, right, np.random.default_rng(0))
    assert isinstance(result, Auroc)
    return result


def test_pairs_are_counted() -> None:
    """Right .9 .6 .5, wrong .5 .2: five of six pairs won, one tied."""
    result = found(np.array([0.9, 0.6, 0.5, 0.5, 0.2]), np.array([True, True, True, False, False]))
    assert result.area == pytest.approx(5.5 / 6)
    assert (result.right, result.wrong) == (3, 2)


def test_confidence_that_says_nothing_is_a_half() -> None:
    drawn = np.random.default_rng(3)
    result = found(drawn.random(800), drawn.random(800) < 0.6)
    assert result.interval is not None
    assert result.interval[0] < 0.5 < result.interval[1]
    assert result.interval[1] - result.interval[0] == pytest.approx(4 * 0.0208, abs=0.02)  # DeLong: √(1/12 (1/m + 1/n))


def test_perfect_order_has_no_width_to_show() -> None:
    result = found(np.array([3.0, 4, 1, 2]), np.array([True, True, False, False]))
    assert (result.area, result.interval) == (1.0, None)


def test_one_kind_alone_has_no_area() -> None:
    assert auroc(np.ones(4), np.ones(4, bool), np.random.default_rng(0)) == Unknown("all answers are right")
    assert auroc(np.ones(4), np.zeros(4, bool), np.random.default_rng(0)) == Unknown("no answer is right")
