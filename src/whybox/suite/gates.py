"""From the p-values of gates to states: pass, fail, inconclusive, error, skipped.

Holm over the gates of a probe, for passing and for failing; Benjamini–Hochberg over the suite, for failing. Both are
done twice: on the calls that came back, and with every lost call counted as not right. Where the two disagree the gate
is inconclusive: the errors decide.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from whybox.errors import UsageError
from whybox.statistics.calls import MOST_LOST
from whybox.statistics.gates import Gate
from whybox.statistics.intervals import Rate
from whybox.statistics.multiplicity import benjamini_hochberg, holm
from whybox.statistics.need import Need

ALPHAS = {1: 0.05, 2: 0.0294}
"""α of one look; with two looks, written beforehand, each costs this (Pocock 1977)."""


class State(StrEnum):
    """Of a gate. Only fail, error and, under --strict, inconclusive decide an exit code."""

    PASS = "pass"
    FAIL = "fail"
    INCONCLUSIVE = "inconclusive"
    ERROR = "error"
    SKIPPED = "skipped"


class Because(StrEnum):
    """What decided the state."""

    SHOWN = "shown"
    OPEN = "open"
    SEVERAL_GATES = "several-gates"
    ERRORS_DECIDE = "errors-decide"
    CALLS_LOST = "calls-lost"
    BROKEN_DESIGN = "broken-design"
    NOT_RUN = "not-run"


@dataclass(frozen=True)
class Measured:
    """A gate on the calls that came back, and with every lost one counted as not right. lost: of the probe's calls."""

    complete: Gate
    worst: Gate
    lost: Rate


@dataclass(frozen=True)
class Broken:
    """A gate whose design did not hold: not balanced, truncated, a dead endpoint."""

    probe: str
    name: str
    reason: str


@dataclass(frozen=True)
class NotRun:
    """A gate of a probe that was not asked for, or that needs what the target lacks."""

    probe: str
    name: str
    reason: str


Entry = Measured | Broken | NotRun


@dataclass(frozen=True)
class Verdict:
    """p_holds, p_broken: Holm-adjusted within the probe, on complete cases; None where nothing was judged.

    gates: how many the probe was judged on. needs: about how many more items would settle it, when inconclusive.
    """

    probe: str
    gate: str
    state: State
    because: Because
    reason: str = ""
    p_holds: float | None = None
    p_broken: float | None = None
    gates: int = 0
    needs: Need | None = None


@dataclass(frozen=True)
class _Adjusted:
    holds: float
    broken: float
    broken_in_suite: float
    gates: int

    def state(self, alpha: float) -> State:
        if self.holds <= alpha:
            return State.PASS
        if self.broken <= alpha and self.broken_in_suite <= alpha:
            return State.FAIL
        return State.INCONCLUSIVE


def alpha_of(looks: int) -> float:
    """α of each look. UsageError for a number of looks that is not planned for."""
    if looks not in ALPHAS:
        raise UsageError(f"looks: expected 1 or 2, found {looks}", "write the number of looks before the first run")
    return ALPHAS[looks]


def verdicts(entries: Sequence[Entry], looks: int = 1) -> list[Verdict]:
    """One verdict per entry, in order. Gates with too many lost calls, and those that were not run, adjust nobody."""
    alpha = alpha_of(looks)
    judged = [entry for entry in entries if isinstance(entry, Measured) and not _too_many(entry.lost)]
    complete, worst = _adjusted([e.complete for e in judged]), _adjusted([e.worst for e in judged])
    decided = {id(e): (c, w) for e, c, w in zip(judged, complete, worst, strict=True)}
    return [_verdict(entry, decided.get(id(entry)), alpha) for entry in entries]


def _adjusted(gates: Sequence[Gate]) -> list[_Adjusted]:
    """Of every gate: Holm within its probe, Benjamini–Hochberg over all."""
    probes = [gate.probe for gate in gates]
    suite = benjamini_hochberg([gate.p_broken for gate in gates])
    holds = _within([gate.p_holds for gate in gates], probes, holm)
    broken = _within([gate.p_broken for gate in gates], probes, holm)
    counts = [probes.count(probe) for probe in probes]
    return [_Adjusted(*found) for found in zip(holds, broken, suite, counts, strict=True)]


def _within(p: Sequence[float], probes: Sequence[str], adjust: Callable[[Sequence[float]], list[float]]) -> list[float]:
    found = [1.0] * len(p)
    for probe in dict.fromkeys(probes):
        at = [i for i, name in enumerate(probes) if name == probe]
        for i, value in zip(at, adjust([p[i] for i in at]), strict=True):
            found[i] = value
    return found


def _verdict(entry: Entry, decided: tuple[_Adjusted, _Adjusted] | None, alpha: float) -> Verdict:
    match entry:
        case NotRun(probe, name, reason):
            return Verdict(probe, name, State.SKIPPED, Because.NOT_RUN, reason)
        case Broken(probe, name, reason):
            return Verdict(probe, name, State.ERROR, Because.BROKEN_DESIGN, reason)
        case Measured(gate, _, lost):
            if decided is None:
                reason = f"{lost} calls lost, at most {MOST_LOST:.0%} may be"
                return Verdict(gate.probe, gate.name, State.ERROR, Because.CALLS_LOST, reason)
            return _of_measured(gate, *decided, alpha)
        case never:
            assert_never(never)


def _of_measured(gate: Gate, complete: _Adjusted, worst: _Adjusted, alpha: float) -> Verdict:
    state, because = complete.state(alpha), Because.SHOWN
    if worst.state(alpha) != state:
        state, because = State.INCONCLUSIVE, Because.ERRORS_DECIDE
    elif state is State.INCONCLUSIVE:
        alone = min(gate.p_holds, gate.p_broken) <= alpha
        because = Because.SEVERAL_GATES if alone and complete.gates > 1 else Because.OPEN
    needs = gate.needs if state is State.INCONCLUSIVE else None
    p = complete.holds, complete.broken
    return Verdict(gate.probe, gate.name, state, because, "", *p, complete.gates, needs)


def _too_many(lost: Rate) -> bool:
    return lost.n == 0 or lost.hits > MOST_LOST * lost.n
