"""Every figure of the tables of sizes, by enumeration, and the plan against a simulation."""

import numpy as np
import pytest

from whybox.statistics import power


@pytest.mark.parametrize(("difference", "discordance", "n"), [(0.10, 0.2, 155), (0.15, 0.3, 103), (0.3, 0.4, 33)])
def test_closed_form_by_hand(difference: float, discordance: float, n: int) -> None:
    assert power.closed_form(difference, discordance) == n


def test_the_smallest_difference_is_the_closed_form_turned_round() -> None:
    found = power.smallest_difference(155, 0.2)
    assert found == pytest.approx(0.1, abs=2e-4)
    assert power.smallest_difference(5, 0.2) is None
    assert power.smallest_difference(0, 0.2) is None


@pytest.mark.parametrize(
    ("true", "least", "n"),
    [(0.90, 0.80, 82), (0.95, 0.80, 30), (0.95, 0.90, 179), (0.98, 0.95, 234), (1.0, 0.9, 29), (1.0, 0.95, 59)],
)
def test_rate_gates(true: float, least: float, n: int) -> None:
    assert power.first_size(lambda n: power.rate_power(n, least, true)) == n


def test_failures_explained() -> None:
    """At most 20 % unexplained: 30 failures when 95 % are explained, 82 when 90 % are."""
    assert power.rate_power(30, 0.8, 0.95) >= 0.8 > power.rate_power(29, 0.8, 0.95)
    assert power.rate_power(82, 0.8, 0.90) >= 0.8


def test_answerable_questions() -> None:
    assert power.rate_power(240, 0.95, 0.98) == pytest.approx(0.79, abs=0.01)


@pytest.mark.parametrize(
    ("least", "true", "parts", "share"),
    [(0.8, 0.90, 5, 0.90), (0.9, 0.95, 6, 0.28), (0.9, 0.96, 6, 0.69), (0.9, 0.97, 6, 0.95)],
)
def test_gates_with_parts(least: float, true: float, parts: int, share: float) -> None:
    assert power.parts_power(180, least, true, parts) == pytest.approx(share, abs=0.01)


def test_no_size_is_not_searched_for_ever() -> None:
    assert power.first_size(lambda n: 0.05) is None


def test_the_plan_is_held_to_a_simulation() -> None:
    """169 pairs, 15 % against 5 %."""
    found = power.simulated_paired_power(169, 0.10, 0.20, np.random.default_rng(12))
    assert found == pytest.approx(0.806, abs=0.012)
    assert found == pytest.approx(power.paired_power(169, 0.10, 0.20), abs=0.012)
