"""Holm and Benjamini–Hochberg by hand, and Holm against statsmodels."""

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from whybox.statistics.multiplicity import benjamini_hochberg, holm


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.7]) == [0.7]
    assert holm([0.6, 0.9]) == [1.0, 1.0]


def test_holm_is_holm_and_not_what_statsmodels_does_by_default() -> None:
    """Trap: its default is Holm–Šidák."""
    p = np.random.default_rng(0).random(12) ** 3
    assert holm(p.tolist()) == pytest.approx(multipletests(p, method="holm")[1])
    assert float(multipletests([0.01, 0.04, 0.03])[1][0]) != pytest.approx(0.03, abs=1e-6)


def test_benjamini_hochberg_by_hand() -> None:
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])


def test_nothing_asked_nothing_adjusted() -> None:
    assert holm([]) == benjamini_hochberg([]) == []
