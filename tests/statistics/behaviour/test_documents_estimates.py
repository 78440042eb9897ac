"""Documents: the bot that credits the first one, and both confusion matrices by hand."""

import numpy as np
import pytest

from whybox.statistics.behaviour import documents
from whybox.statistics.behaviour.documents import NONE, Primacy
from whybox.statistics.calls import LOST, rate
from whybox.statistics.designs import orders
from whybox.statistics.intervals import Rate
from whybox.statistics.permutation import Permuted
from whybox.statistics.unknown import Unknown

ORDERS = orders(3)


def misattributing(q: float, items: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Credits document 1 with probability q, else the right one."""
    drawn = np.random.default_rng(0)
    asked = drawn.integers(0, 3, items)
    firsts = np.broadcast_to(ORDERS[:, 0][None, :, None], (items, 6, 2))
    return np.where(drawn.random(firsts.shape) < q, firsts, asked[:, None, None]), asked


def test_misattribution_is_recovered() -> None:
    """Accuracy 1 − q(k − 1)/k; primacy 1 − 1/k."""
    credited, asked = misattributing(0.3)
    marks = documents.attributed(credited, asked)
    assert rate(marks).share == pytest.approx(1 - 0.3 * 2 / 3, abs=0.015)
    found = documents.primacy(credited, asked, ORDERS, np.random.default_rng(1), resamples=199)
    assert isinstance(found, Primacy)
    assert found.value == pytest.approx(1 - 1 / 3)
    assert isinstance(found.null, Permuted)
    assert found.null.p == pytest.approx(1 / 200)


def test_guesses_have_no_primacy() -> None:
    credited = np.random.default_rng(4).integers(0, 3, (200, 6, 2))
    asked = np.random.default_rng(5).integers(0, 3, 200)
    found = documents.primacy(credited, asked, ORDERS, np.random.default_rng(1), resamples=199)
    assert isinstance(found, Primacy)
    assert abs(found.value) < 0.04
    assert isinstance(found.null, Permuted)
    assert found.null.p > 0.05


def test_nothing_wrong_has_no_primacy() -> None:
    credited, asked = misattributing(0.0)
    assert documents.primacy(credited, asked, ORDERS, np.random.default_rng(1)) == Unknown(
        "no wrong document was named"
    )


def test_confusion_by_hand() -> None:
    """Item asked for source 1; orders 0 1 2 and 2 1 0; it names source 0, 2, nothing, and one call is lost."""
    rows = np.array([[0, 1, 2], [2, 1, 0]])
    credited, asked = np.array([[[0, LOST], [2, NONE]]]), np.array([1])
    assert documents.sources(credited, asked, 3).tolist() == [[0, 0, 0, 0], [1, 0, 1, 1], [0, 0, 0, 0]]
    assert documents.places(credited, asked, rows).tolist() == [[0, 0, 0, 0], [2, 0, 0, 1], [0, 0, 0, 0]]
    assert documents.attributed(credited, asked).tolist() == [[[0, LOST], [0, 0]]]


def test_mirrors_and_blends() -> None:
    agree, differ = documents.swap_consistency(np.array([[1, 0], [1, LOST]]), np.array([[1, 1], [0, 1]]))
    assert (agree, differ) == (Rate(1, 3), Rate(2, 3))
    assert documents.blend(np.array([1, 2, 3, 0, LOST])) == Rate(2, 4)
