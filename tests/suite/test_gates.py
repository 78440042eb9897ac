"""States of gates: several gates, several looks, lost calls, and what is shown only by errors."""

from dataclasses import replace

import pytest
from scipy.stats import multivariate_normal, norm

from whybox.errors import UsageError
from whybox.statistics.gates import Gate, Part, RateAtLeast
from whybox.statistics.intervals import Rate
from whybox.suite.gates import Because, Broken, Measured, NotRun, State, alpha_of, verdicts

NONE_LOST = Rate(0, 100)


def gate(holds: float, broken: float, probe: str = "order", name: str = "gate") -> Gate:
    return Gate(probe, name, (Part("", RateAtLeast(0.8), 0.9, (0.8, 1.0), 10, holds, broken, 12),))


def measured(holds: float, broken: float, probe: str = "order", lost: Rate = NONE_LOST) -> Measured:
    found = gate(holds, broken, probe)
    return Measured(found, found, lost)


@pytest.mark.parametrize(
    ("holds", "broken", "state"),
    [(0.01, 0.99, State.PASS), (0.99, 0.01, State.FAIL), (0.2, 0.8, State.INCONCLUSIVE), (0.05, 0.95, State.PASS)],
)
def test_one_gate(holds: float, broken: float, state: State) -> None:
    (found,) = verdicts([measured(holds, broken)])
    assert found.state is state
    assert found.needs == (12 if state is State.INCONCLUSIVE else None)


def test_two_gates_of_a_probe_share_alpha() -> None:
    """Holm: .03 alone passes, beside another open gate it does not, and the report says how many were tested."""
    first, second = verdicts([measured(0.03, 0.97), measured(0.5, 0.5)])
    assert first.state is State.INCONCLUSIVE
    assert first.because is Because.SEVERAL_GATES
    assert first.gates == 2
    assert first.p_holds == pytest.approx(0.06)
    assert second.because is Because.OPEN


def test_gates_of_other_probes_do_not_adjust_a_pass() -> None:
    assert verdicts([measured(0.03, 0.97), measured(0.5, 0.5, "edit")])[0].state is State.PASS


def test_a_failure_must_stand_over_the_suite() -> None:
    """.04 in its probe fails alone; among twenty probes with nothing to show Benjamini–Hochberg holds it back."""
    assert verdicts([measured(0.96, 0.04)])[0].state is State.FAIL
    crowd = [measured(0.5, 0.5, f"probe-{i}") for i in range(19)]
    assert verdicts([measured(0.96, 0.04), *crowd])[0].state is State.INCONCLUSIVE
    assert verdicts([measured(0.999, 0.001), *crowd])[0].state is State.FAIL


def test_errors_decide_nothing() -> None:
    """Passes on what came back, not with lost calls counted as wrong."""
    lost = Measured(gate(0.01, 0.99), gate(0.2, 0.8), Rate(4, 100))
    (found,) = verdicts([lost])
    assert (found.state, found.because) == (State.INCONCLUSIVE, Because.ERRORS_DECIDE)
    (failed,) = verdicts([Measured(gate(0.5, 0.5), gate(0.99, 0.01), Rate(4, 100))])
    assert failed.because is Because.ERRORS_DECIDE


def test_more_than_5_percent_lost_is_an_error() -> None:
    assert verdicts([measured(0.01, 0.99, lost=Rate(5, 100))])[0].state is State.PASS
    (found,) = verdicts([measured(0.01, 0.99, lost=Rate(6, 100))])
    assert (found.state, found.because) == (State.ERROR, Because.CALLS_LOST)
    assert "6 of 100 calls lost" in found.reason
    assert found.p_holds is None


def test_broken_and_skipped_gates_keep_their_reason_and_adjust_nobody() -> None:
    found = verdicts(
        [Broken("order", "gate", "design not balanced"), NotRun("edit", "gate", "no logprobs"), measured(0.04, 0.96)]
    )
    assert [one.state for one in found] == [State.ERROR, State.SKIPPED, State.PASS]
    assert [one.reason for one in found] == ["design not balanced", "no logprobs", ""]
    assert found[2].gates == 1


def test_two_looks_cost_alpha() -> None:
    assert verdicts([measured(0.04, 0.96)], looks=2)[0].state is State.INCONCLUSIVE
    assert verdicts([measured(0.02, 0.98)], looks=2)[0].state is State.PASS
    assert alpha_of(2) == 0.0294
    with pytest.raises(UsageError, match="expected 1 or 2, found 3"):
        alpha_of(3)


def test_two_looks_at_that_alpha_alarm_in_5_percent() -> None:
    """Pocock's bound: two sums, the second over twice the items, correlate with √½."""
    bound = norm.isf(alpha_of(2) / 2)
    both = multivariate_normal([0, 0], [[1, 0.5**0.5], [0.5**0.5, 1]])
    inside = both.cdf([bound, bound], lower_limit=[-bound, -bound])
    assert 1 - inside == pytest.approx(0.05, abs=2e-4)


def test_equal_gates_are_told_apart() -> None:
    same = measured(0.01, 0.99)
    assert [one.state for one in verdicts([same, replace(same)])] == [State.PASS, State.PASS]
    assert verdicts([]) == []
