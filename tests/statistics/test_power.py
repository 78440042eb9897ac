"""Every figure of the tables of sizes, by enumeration, and the plan against a simulation."""

import numpy as np
import pytest
from scipy import stats

from bench.laws import tie_flipper
from whybox.statistics import power
from whybox.statistics.changes import item_effects
from whybox.statistics.equivalence import p_same
from whybox.statistics.paired import Pairs, tango_z


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


@pytest.mark.parametrize(
    ("difference", "discordance", "n"),
    [
        *((0.05, 0.2, 666), (0.10, 0.2, 169), (0.10, 0.3, 252), (0.15, 0.2, 72)),
        *((0.15, 0.3, 112), (0.20, 0.3, 61), (0.20, 0.4, 84), (0.30, 0.4, 36)),
    ],
)
def test_pairs(difference: float, discordance: float, n: int) -> None:
    assert power.paired_power(n, difference, discordance) == pytest.approx(0.805, abs=0.01)


@pytest.mark.parametrize(
    ("margin", "discordance", "n"),
    [
        *((0.02, 0.05, 1104), (0.02, 0.10, 2206), (0.03, 0.05, 538), (0.03, 0.10, 952)),
        *((0.05, 0.10, 365), (0.05, 0.20, 690), (0.10, 0.20, 178), (0.10, 0.30, 257)),
    ],
)
def test_the_same(margin: float, discordance: float, n: int) -> None:
    assert power.same_power(n, margin, discordance) == pytest.approx(0.80, abs=0.015)


@pytest.mark.parametrize(("margin", "discordance", "n"), [(0.02, 0.02, 590), (0.05, 0.05, 234)])
def test_the_same_where_about_ten_pairs_differ(margin: float, discordance: float, n: int) -> None:
    """The exact rule for fewer than ten costs items here: the score test alone would take 530 and 210."""
    assert power.same_power(n, margin, discordance) >= 0.8 > power.same_power(n - 1, margin, discordance)


@pytest.mark.parametrize(("margin", "n"), [(0.02, 149), (0.03, 99), (0.05, 59), (0.10, 29)])
def test_the_same_where_no_pair_differs(margin: float, n: int) -> None:
    assert p_same(Pairs(0, 0, n - 1), margin) > 0.05 >= p_same(Pairs(0, 0, n), margin)
    assert [power.same_power(each, margin, 0.0) for each in (n - 1, n)] == [0.0, 1.0]


@pytest.mark.parametrize(
    ("most", "discordance", "n"),
    [(0.10, 0.1, 103), (0.10, 0.2, 130), (0.10, 0.3, 194), (0.05, 0.1, 264), (0.05, 0.2, 504), (0.05, 0.3, 740)],
)
def test_no_harm(most: float, discordance: float, n: int) -> None:
    assert power.harm_power(n, most, discordance) > 0.795
    assert power.harm_power(round(0.9 * n), most, discordance) < 0.8


def test_a_score_alone_would_pass_what_is_not_the_same() -> None:
    """±2 points, 135 items, 2 % worse and none better: the score test alone passes 6.5 %, with the exact one ≤ 5 %."""
    n, margin = 135, 0.02
    worse = np.arange(20)
    weight = stats.binom.pmf(worse, n, margin)
    alone = stats.norm.cdf(tango_z(worse, np.zeros(20, int), n, np.asarray(margin))) <= 0.05
    ours = [p_same(Pairs(int(b), 0, n), margin) <= 0.05 for b in worse]
    assert weight[alone].sum() == pytest.approx(0.0654, abs=1e-3)
    assert weight[ours].sum() <= 0.05


@pytest.mark.parametrize(("epsilon", "share"), [(0.1, 0.99), (0.2, 0.87)])
def test_the_gate_on_order(epsilon: float, share: float) -> None:
    """D ≤ 5 points, true D = 0, 100 items: F₀ = .18 and .32."""
    generator = np.random.default_rng(4)
    pool = item_effects(tie_flipper(generator, 20_000, epsilon))
    assert power.mean_power(pool, 100, 0.05, generator, 1500) == pytest.approx(share, abs=0.025)


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
