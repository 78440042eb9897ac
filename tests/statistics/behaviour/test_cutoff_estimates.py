"""Where knowledge fades: brute-force likelihood, the set on known steps, and what locates nothing."""

import math

import numpy as np
import pytest
from scipy import stats

from bench import laws
from whybox.statistics.behaviour import cutoff
from whybox.statistics.behaviour.cutoff import Dated, Fading
from whybox.statistics.intervals import Rate
from whybox.statistics.unknown import Unknown


def drawn(seed: int, step: int, before: float = 0.8, after: float = 0.1, months: int = 40) -> Dated:
    generator = np.random.default_rng(seed)
    right, asked = laws.dated(generator, months, 3, step, before, after)
    return Dated(right, asked, Rate(int(generator.binomial(60, after)), 60))


def test_the_profile_is_the_likelihood() -> None:
    table = drawn(1, 4, months=7)

    def log_likelihood(step: int) -> float:
        before, after = cutoff.fitted(table, step)
        rates = [before if month < step else after for month in range(7)]
        months = sum(_log(int(k), int(n), p) for k, n, p in zip(table.right, table.asked, rates, strict=True))
        return months + _log(table.controls.hits, 60, after)

    found = cutoff.profile(table.right, table.asked, np.int64(table.controls.hits), 60)
    assert found.tolist() == pytest.approx([log_likelihood(step) for step in range(8)])


def _log(k: int, n: int, p: float) -> float:
    return sum(times * math.log(q) for times, q in ((k, p), (n - k, 1 - p)) if times)


def test_knowledge_never_grows_at_the_step() -> None:
    table = Dated(np.array([0, 0, 3, 3]), np.full(4, 3), Rate(0, 60))
    for step in range(5):
        before, after = cutoff.fitted(table, step)
        assert before >= after


def test_a_sharp_step_is_found() -> None:
    found = cutoff.fading(drawn(3, 25), np.random.default_rng(0))
    assert isinstance(found, Fading)
    assert 25 in found.plausible
    assert abs(found.step - 25) <= 2
    assert (found.before, found.after) == pytest.approx((0.8, 0.1), abs=0.1)
    assert found.span[1] - found.span[0] <= 8


def test_a_guesser_is_not_located() -> None:
    found = cutoff.fading(drawn(3, 25, 0.25, 0.25), np.random.default_rng(0))
    assert isinstance(found, Unknown)
    assert found.reason.startswith("not located")


def test_knowledge_up_to_the_end_is_not_located() -> None:
    found = cutoff.fading(drawn(3, 40), np.random.default_rng(0))
    assert found == Unknown("not located: the set reaches an end of the table")


@pytest.mark.parametrize(
    ("right", "asked", "controls", "reason"),
    [
        (np.ones(30, int), np.full(30, 3), 60, "90 dated facts"),
        (np.ones(80, int), np.full(80, 2), 60, "a month has 2 facts"),
        (np.ones(40, int), np.full(40, 3), 59, "59 controls"),
    ],
)
def test_too_few_facts_say_so(right: np.ndarray, asked: np.ndarray, controls: int, reason: str) -> None:
    found = cutoff.fading(Dated(right, asked, Rate(5, controls)), np.random.default_rng(0))
    assert isinstance(found, Unknown)
    assert reason in found.reason


def test_chi2_is_too_narrow_for_a_step() -> None:
    """Trap: the set of all c within 3.84/2 of the best covers too seldom; the inverted set does not."""
    inverted = chi2 = 0
    generator = np.random.default_rng(17)
    runs = 300
    for _ in range(runs):
        right, asked = laws.dated(generator, 40, 3, 20, 0.75, 0.25)
        table = Dated(right, asked, Rate(int(generator.binomial(60, 0.25)), 60))
        likelihood = cutoff.profile(right, asked, np.int64(table.controls.hits), 60)
        chi2 += 2 * (likelihood.max() - likelihood[20]) <= stats.chi2.ppf(0.95, 1)
        inverted += cutoff.p_of_step(table, 20, generator) > 0.05
    assert chi2 / runs < 0.92
    assert 0.92 <= inverted / runs <= 0.98
