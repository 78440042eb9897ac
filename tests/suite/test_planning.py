"""The plan before any call: what it counts, what it skips, and what a run of nothing ends with."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from tests.suite.fake import FakeTarget, calls_of
from whybox.jobs.run_document import run_document
from whybox.probes.design import AbilityName, AnyRequest, Call, Design, Finding, Ground, Measure, Plan, Record
from whybox.statistics.intervals import Rate
from whybox.statistics.unknown import Unknown
from whybox.suite.behaviour import Behaviour
from whybox.suite.planning import plan, rows
from whybox.suite.whole import Prepared, run
from whybox.targets.target import Abilities, Failure, no


class Needy(Design):
    """A probe that needs log-probabilities, and reads nothing."""

    NAME: ClassVar[str] = "needy"
    ABOUT: ClassVar[str] = "Nothing."
    NEEDS: ClassVar[tuple[AbilityName, ...]] = ("logprobs",)
    MEASURES: ClassVar[dict[str, Measure]] = {"x": Measure("rate", ("X.", "X。"))}

    items: int = 3
    runs: int = 1

    def plan(self, name: str, ground: Ground) -> Plan:
        calls: Sequence[Call] = calls_of(self.items)
        return Plan(tuple(calls), (), Unknown("nothing to find"))

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        raise AssertionError("it was skipped")


GATE = "\ngates: [{probe: needy, statistic: x, at_least: .5}]\n"


def suite(monkeypatch: pytest.MonkeyPatch) -> Behaviour:
    monkeypatch.setattr("whybox.suite.behaviour.PROBES", {"needy": Needy})
    return Behaviour.parse("suite: s\ntargets: [fake]\nprobes: {needy: }" + GATE)


def test_a_probe_that_needs_what_is_missing_is_skipped_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lacking = Abilities(logprobs=no("the server sends none"))
    target = FakeTarget(abilities=lacking)
    read = suite(monkeypatch)
    grounds = {"fake": Ground("fake", lacking)}
    planned = plan(read, grounds)
    assert planned.calls == ()
    assert [row.skipped for row in rows(planned, grounds, ())] == ["", "needs logprobs: the server sends none"]
    prepared = Prepared(read, {"fake": target}, grounds, planned)
    document = run_document(prepared, run(prepared, tmp_path / "run.sqlite"), "en", strict=False)
    assert target.asked == []
    assert (document.exit_code, document.verdict) == (5, "skipped")
    assert document.gates[0].detail == "needs logprobs: the server sends none"
    assert document.probes[0].not_measured == "needs logprobs: the server sends none"


def test_a_plan_counts_calls_and_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    grounds = {"fake": Ground("fake", Abilities(), count=lambda text: len(text.split()))}
    planned = plan(suite(monkeypatch), grounds)
    floor, needy = rows(planned, grounds, {call.cell for call in planned.calls})
    assert (floor.calls, floor.items) == (3 * 3 * 5, 3)
    assert (needy.calls, needy.items, needy.arms) == (12, 3, 2)
    assert needy.tokens_read == 12 * len(["Question", "0,", "put", "as", "a?"])
    assert needy.tokens_written == 6 * 8 + 6 * 9


class Asking(Needy):
    """Asks every item again whose answer came back, twice over; and the other target beside it."""

    NAME: ClassVar[str] = "asking"
    NEEDS: ClassVar[tuple[AbilityName, ...]] = ()

    def plan(self, name: str, ground: Ground) -> Plan:
        calls = [replace(call, probe=name, target=ground.target) for call in calls_of(8, arms=("first",), runs=1)]
        return Plan(tuple(calls), (), Unknown("nothing to find"))

    def more(self, name: str, plan: Plan, records: Sequence[Record], ground: Ground) -> Sequence[Call]:
        came = [r.call for r in records if not isinstance(r.outcome, Failure) and r.call.arm in ("first", "second")]
        following = {"first": "second", "second": "third"}
        here = [replace(call, arm=following[call.arm], request=_again(call, 1)) for call in came]
        return here + [
            replace(call, target=other, arm=f"beside {ground.target}") for call in came for other in ground.others
        ]

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        assert {record.call.cell for record in records} == {call.cell for call in plan.calls}
        arms = tuple(sorted(f"{record.call.target} {record.call.arm}" for record in records))
        return Finding((), {}, Rate(0, len(records)), notes=arms)


def _again(call: Call, more: int) -> AnyRequest:
    return replace(call.request, repeat=call.request.repeat + more)


def test_rounds_go_on_until_nothing_new_is_asked_and_resume_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("whybox.suite.behaviour.PROBES", {"asking": Asking})
    read = Behaviour.parse("suite: s\ntargets: [one, two]\nprobes: {asking: }\nrun: {floor: {items: 2, times: 2}}\n")
    found = []
    for attempt in range(2):
        targets = {name: FakeTarget(faults=0.3) for name in ("one", "two")}
        names = tuple(targets)
        grounds = {name: Ground(name, Abilities(), others=tuple(set(names) - {name})) for name in names}
        prepared = Prepared(read, targets, grounds, plan(read, grounds))
        found.append(run(prepared, tmp_path / "run.sqlite"))
        asked = sum(len(target.asked) for target in targets.values())
        assert asked == (found[0].counts.finished if attempt == 0 else 0)
    one = found[0].findings["asking", "one"]
    assert isinstance(one, Finding)
    counted = Counter(one.notes)
    came = counted["one second"]
    assert 0 < came < 8, "some failed, and were not asked again"
    assert counted == {"one first": 8, "one second": came, "one third": came, "two beside one": came}
    assert found[0].findings == found[1].findings
    assert found[0].counts == found[1].counts
