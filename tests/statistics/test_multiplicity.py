"""Holm and Benjamini–Hochberg by hand."""

import pytest
from statsmodels.stats.multitest import multipletests

from whybox.statistics.multiplicity import benjamini_hochberg, holm


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_holm_is_not_what_statsmodels_does_by_default() -> None:
    """Trap: its default is Holm–Šidák."""
    assert float(multipletests([0.01, 0.04, 0.03])[1][0]) != pytest.approx(0.03, abs=1e-6)


def test_benjamini_hochberg_by_hand() -> None:
    assert benjamini_hochberg([0.01, 0.04, 0.03, 0.5]) == pytest.approx([0.04, 0.16 / 3, 0.16 / 3, 0.5])


def test_nothing_asked_nothing_adjusted() -> None:
    assert holm([]) == benjamini_hochberg([]) == []
