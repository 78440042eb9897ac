"""From findings and gates to verdicts: every gate of the suite on every target, adjusted over all of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from whybox.probes.design import Finding, Measure, Seen2
from whybox.statistics.gates import Demand, Gate, judged
from whybox.suite.behaviour import GateText, demand_of
from whybox.suite.gates import Broken, Entry, Measured, NotRun, State, Verdict, verdicts

Where = tuple[str, str]
NOT_ASKED = "no call of this probe was made"


@dataclass(frozen=True)
class Skipped:
    """A probe that was not run on a target, and why."""

    reason: str


@dataclass(frozen=True)
class Judged:
    """A gate on one target. gate: None where it was not judged."""

    text: GateText
    target: str
    verdict: Verdict
    gate: Gate | None = None


def judge(
    gates: Sequence[GateText],
    measures: Mapping[str, Mapping[str, Measure]],
    found: Mapping[Where, Finding | Skipped],
    looks: int = 1,
) -> list[Judged]:
    """One verdict for every gate and target. found: by (probe, target); measures: by probe."""
    asked = [(gate, target) for gate in gates for probe, target in found if probe == gate.probe]
    entries = [_entry(gate, target, measures[gate.probe], found[gate.probe, target]) for gate, target in asked]
    return [
        Judged(gate, target, verdict, entry.complete if isinstance(entry, Measured) else None)
        for (gate, target), entry, verdict in zip(asked, entries, verdicts(entries, looks), strict=True)
    ]


def of_probe(judged_gates: Sequence[Judged], probe: str, target: str) -> State | None:
    """The verdict of a probe: the worst of its gates; None where it has none."""
    states = {each.verdict.state for each in judged_gates if (each.text.probe, each.target) == (probe, target)}
    order = (State.ERROR, State.FAIL, State.INCONCLUSIVE, State.PASS, State.SKIPPED)
    return next((state for state in order if state in states), None)


def _entry(gate: GateText, target: str, measures: Mapping[str, Measure], found: Finding | Skipped) -> Entry:
    family, name = f"{gate.probe} · {target}", gate.name or gate.demand
    if isinstance(found, Skipped):
        return NotRun(family, name, found.reason)
    if found.broken:
        return Broken(family, name, found.broken)
    demand = demand_of(gate, measures[gate.statistic])
    parts = found.measured.get(gate.statistic, ())
    if demand is None or not parts:
        return Broken(family, name, f"{gate.statistic} was not measured")
    complete, worst = _gate(family, name, demand, parts, False), _gate(family, name, demand, parts, True)
    return Measured(complete, worst, found.lost)


def _gate(family: str, name: str, demand: Demand, parts: Sequence[tuple[str, Seen2]], is_worst: bool) -> Gate:
    seen = [(part, both.worst if is_worst else both.complete) for part, both in parts]
    return Gate(family, name, tuple(judged(part, demand, each) for part, each in seen))
