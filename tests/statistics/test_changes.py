"""D = F − F₀ by hand, its null, lost calls, and designs whose floor cannot be trusted."""

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from bench.laws import position_biased
from whybox.statistics.calls import LOST
from whybox.statistics.changes import Changes, changes, pairs_of_calls, worst_effects
from whybox.statistics.permutation import Permuted
from whybox.statistics.unknown import Unknown


def generator() -> np.random.Generator:
    return np.random.default_rng(2)


def found(codes: np.ndarray, resamples: int = 999) -> Changes:
    result = changes(codes, generator(), resamples=resamples)
    assert isinstance(result, Changes)
    return result


def test_by_hand() -> None:
    """Item 1: orders 7 7 | 8 8, all four pairs between differ, no repeat: D = 1. Item 2: 7 8 | 7 7: F = ½, F₀ = ½."""
    result = found(np.array([[[7, 7], [8, 8]], [[7, 8], [7, 7]]]))
    assert result.effects.tolist() == [1.0, 0.0]
    assert (result.effect, result.between, result.floor) == (0.5, 0.75, 0.25)
    assert result.items == 2


def test_pairs_are_counted_once() -> None:
    chosen = pairs_of_calls(4, 2)
    assert len(chosen.between) == 6 * 4
    assert chosen.within.tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]
    against_base = pairs_of_calls(3, 2, [(0, 1), (0, 2)])
    assert against_base.between.tolist() == [[0, 2], [0, 3], [1, 2], [1, 3], [0, 4], [0, 5], [1, 4], [1, 5]]


def test_an_order_that_decides_is_found() -> None:
    codes = np.tile(np.array([[0, 0], [1, 1], [2, 2], [3, 3]]), (20, 1, 1))
    result = found(codes)
    assert result.effect == 1.0
    assert isinstance(result.null, Permuted)
    assert result.null.p == pytest.approx(1 / 1000)


def test_answers_that_never_change_show_nothing() -> None:
    result = found(np.zeros((60, 4, 2), int))
    assert result.effect == 0.0
    assert result.null == Unknown("no item differed")
    assert result.interval == pytest.approx((-0.0596, 0.0596), abs=1e-4)


def test_flips_of_a_tie_are_floor_not_effect() -> None:
    """tie_flipper(ε): F = F₀ = 2ε(1 − ε)."""
    codes = np.random.default_rng(8).binomial(1, 0.1, (4000, 4, 2))
    result = found(codes, 99)
    assert result.between == pytest.approx(0.18, abs=0.01)
    assert result.floor == pytest.approx(0.18, abs=0.015)
    assert abs(result.effect) < 0.01


def test_one_run_an_order_has_no_floor() -> None:
    """Trap: repeats of one order only, or of none."""
    assert isinstance(changes(np.zeros((9, 8, 1), int), generator()), Unknown)


def test_lost_calls_leave_their_pairs_out() -> None:
    """Item 1 keeps 7 | 8 8: two pairs between, one repeat. Item 2 keeps no repeat and is left out."""
    codes = np.array([[[7, LOST], [8, 8]], [[7, LOST], [LOST, 7]]])
    result = found(codes)
    assert result.effects.tolist() == [1.0]
    assert result.null == Unknown("one item differed")


def test_lost_calls_at_their_worst() -> None:
    """A lost call differs from other arms and never from its own repeats."""
    codes = np.array([[[7, 7], [7, LOST]]])
    assert worst_effects(codes).tolist() == [0.5]
    assert worst_effects(np.array([[[7, 8], [7, 7]]])).tolist() == [0.0]


def test_dealing_keeps_lost_calls_in_the_deal() -> None:
    drawn = np.random.default_rng(4)
    codes = drawn.integers(0, 3, (30, 4, 2))
    codes[drawn.random(codes.shape) < 0.05] = LOST
    result = found(codes, 299)
    assert isinstance(result.null, Permuted)
    assert result.null.p > 0.02
    assert abs(result.null.null_mean) < 0.02


def crossed(codes: np.ndarray, orders: np.ndarray) -> np.ndarray:
    """D_i of a design that runs each call in the order given: the trap, in which one order alone is repeated."""
    one, other = np.triu_indices(len(orders), 1)
    differ, within = codes[:, one] != codes[:, other], orders[one] == orders[other]
    return differ[:, ~within].mean(axis=1) - differ[:, within].mean(axis=1)


ONE_REPEATED = np.array([*range(8), 0, 0])


def test_t_alarms_too_often_where_one_order_is_repeated_and_flips_are_rare() -> None:
    """Trap: up to 15 % false alarms of "D > 0" at α = .05."""
    drawn, alarms, runs = np.random.default_rng(1), 0, 400
    for _ in range(runs):
        effects = crossed(drawn.binomial(1, 0.01, (50, 10)), ONE_REPEATED)
        alarms += bool(np.ptp(effects)) and ttest_1samp(effects, 0, alternative="greater").pvalue <= 0.05
    assert alarms / runs > 0.09


def test_repeating_every_order_finds_what_repeating_one_does_not() -> None:
    """Trap: D = .04 (first place with probability .2 a call), 100 items: eight calls find it, ten do not."""
    drawn, runs = np.random.default_rng(3), 40
    every = one = 0
    for _ in range(runs):
        result = changes(position_biased(drawn, 100, 0.2), drawn, resamples=199)
        assert isinstance(result, Changes)
        every += isinstance(result.null, Permuted) and result.null.p <= 0.05
        right = drawn.integers(8, size=(100, 1))
        calls = np.where(drawn.random((100, 10)) < 0.2, ONE_REPEATED, right)
        null = [crossed(drawn.permuted(calls, axis=1), ONE_REPEATED).mean() for _ in range(99)]
        one += rank_p_above(crossed(calls, ONE_REPEATED).mean(), null) <= 0.05
    assert every / runs > 0.85
    assert one / runs < 0.55


def rank_p_above(effect: float, null: list[float]) -> float:
    return (1 + sum(draw >= effect - 1e-12 for draw in null)) / (1 + len(null))


def test_false_alarms_of_the_permutation_stay_at_alpha_with_rare_flips() -> None:
    alarms = 0
    drawn = np.random.default_rng(21)
    for _ in range(200):
        result = changes(drawn.binomial(1, 0.02, (60, 4, 2)), drawn, resamples=99)
        assert isinstance(result, Changes)
        alarms += isinstance(result.null, Permuted) and result.null.p <= 0.05
    assert alarms <= 18  # 99 % bound of 5 % of 200
