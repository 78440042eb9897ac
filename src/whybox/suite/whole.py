"""A whole suite, in the order of an experiment: plan, floor, calls, findings, verdicts. No step is left out."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from whybox.probes.design import Call, Cell, Finding, Ground, Plan, Record
from whybox.probes.ways import variant_of
from whybox.statistics.intervals import Rate
from whybox.suite import floor, schedule
from whybox.suite.behaviour import Behaviour
from whybox.suite.cache import AnswerCache, Cache, NoCache
from whybox.suite.database import only_writer
from whybox.suite.examined import Examined
from whybox.suite.executor import Executor, LocalExecutor
from whybox.suite.floor import FLOOR, FloorFound
from whybox.suite.judgement import NOT_ASKED, Judged, Skipped, Where, judge
from whybox.suite.observed import Observed, observed
from whybox.suite.planning import Planned
from whybox.suite.progress import Tell, unseen
from whybox.suite.runner import Sitting, target_key
from whybox.suite.scores import ScoredCall, scores_of
from whybox.suite.shared_time import seconds_taken
from whybox.suite.store import Counts, Store
from whybox.suite.terms import terms_of
from whybox.targets.target import Target
from whybox.targets.until_done import until_closed


@dataclass(frozen=True)
class Choice:
    """Which part of a plan is run, and how. cache: the file of earlier answers; None for none."""

    pattern: str | None = None
    limit: int | None = None
    retry_errors: bool = False
    cache: Path | None = None

    def of(self, planned: Planned) -> list[Call]:
        """The calls of the probes that are made; the floors are always made whole. UsageError where none is left."""
        probed = [call for call in planned.calls if call.probe != FLOOR]
        return schedule.selected(probed, self.pattern, self.limit) if probed else []


@dataclass(frozen=True)
class Tally:
    """Of one probe on one target: calls that are finished, those without an answer, and their seconds.

    seconds: of the time that the run was asking; calls under way together share it.
    errors: failed calls, and answers that the limit of tokens cut before they gave a whole value. cut: these alone.
    """

    calls: int = 0
    errors: int = 0
    cut: int = 0
    seconds: float = 0.0


@dataclass(frozen=True)
class Found:
    """What a run found. records are not kept: they are in the store."""

    findings: Mapping[Where, Finding | Skipped]
    tallies: Mapping[Where, Tally]
    judged: Sequence[Judged]
    floors: Mapping[str, Sequence[FloorFound]]
    counts: Counts
    selected: int
    scores: Sequence[ScoredCall] = ()
    observed: Mapping[str, Mapping[str, Observed]] = field(default_factory=dict)


@dataclass(frozen=True)
class Prepared:
    """A suite with its targets and its plan. examined: what was found out of each target before; no item was asked."""

    suite: Behaviour
    targets: Mapping[str, Target]
    grounds: Mapping[str, Ground]
    planned: Planned
    examined: Mapping[str, Examined] = field(default_factory=dict)


def run(prepared: Prepared, store_path: Path, choice: Choice = Choice(), tell: Tell = unseen) -> Found:
    """Makes the calls that are not finished, then reads all. EndpointError as `Sitting.make`."""
    calls, targets = prepared.planned.calls, prepared.targets
    with only_writer(store_path), Store(store_path) as store:
        digests = {title: target.identity.digest for title, target in targets.items()}
        name = store.begin(calls, digests, terms_of(prepared.suite, prepared.grounds, targets))
        with _cache(choice, prepared.suite, name) as cache:
            going = _Going(prepared, choice, Sitting(store, cache, tell))
            until_closed(going.make(), targets.values())
        return going.found()


@dataclass
class _Going:
    """One go at a suite. plans: with the calls of later rounds. owner: whose call it is; a call may ask another target
    than the one that its probe is planned for.
    """

    prepared: Prepared
    choice: Choice
    sitting: Sitting
    plans: dict[Where, Plan | Skipped] = field(init=False)
    owner: dict[Cell, Where] = field(init=False)
    chosen: list[Call] = field(init=False)
    keys: dict[str, str] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        planned = self.prepared.planned
        self.plans = dict(planned.probes)
        self.owner = {call.cell: where for where, plan in self._planned() for call in plan.calls}
        self.chosen = self.choice.of(planned)

    @property
    def store(self) -> Store:
        return self.sitting.store

    async def make(self) -> None:
        """The floors, then the calls of the probes round by round, until none of them has more to ask."""
        floors = {name: self._left(calls) for name, calls in self.prepared.planned.floors.items()}
        round_ = self._left(self.chosen)
        self.sitting.plan(sum(map(len, floors.values())) + len(round_))
        for name, calls in floors.items():
            await self._floor(name, calls)
        await self._round(round_)
        while more := self._more():
            round_ = self._left(more)
            self.sitting.add(len(round_))
            await self._round(round_)

    async def _floor(self, name: str, calls: Sequence[Call]) -> None:
        """One at a time, but for those that are to be made at once. Who answers, as it says, names the answers."""
        target = self.prepared.targets[name]
        executor: Executor = LocalExecutor(target)
        for call in calls:
            if call.arm != "concurrent":
                await self.sitting.make([call], executor, "")
        await self.sitting.make([call for call in calls if call.arm == "concurrent"], executor, "")
        shown = floor.fingerprint(list(self.store.records(self.prepared.planned.floors[name])))
        self.keys[name] = target_key(target.identity, shown)

    async def _round(self, calls: Sequence[Call]) -> None:
        """Target after target, in random order; one that is run another way is built for its calls alone."""
        targets = self.prepared.targets
        for name in dict.fromkeys([*targets, *(call.target for call in calls)]):
            asked = [call for call in calls if call.target == name]
            if not asked:
                continue
            target = targets[name] if name in targets else variant_of(name, targets)
            shared = bool(target.abilities.shared_prefixes)
            ordered = schedule.scheduled(asked, self.prepared.suite.file.seed, shared)
            key = self.keys[name] if name in self.keys else target_key(target.identity, "")
            await self.sitting.make(ordered, LocalExecutor(target), key)
            if name not in targets:
                await target.close()

    def _left(self, calls: Sequence[Call]) -> list[Call]:
        return self.store.unfinished(calls, self.choice.retry_errors)

    def _more(self) -> list[Call]:
        """What the probes ask because of what came back, and have not asked before."""
        records, added = self._records(), list[Call]()
        for where, plan in self._planned():
            design, ground = self.prepared.suite.probes[where[0]], self.prepared.grounds[where[1]]
            asked = design.more(where[0], plan, records.get(where, []), ground) if where in records else ()
            fresh = {call.cell: call for call in asked if call.cell not in self.owner and self._is_wanted(call)}
            new = list(fresh.values())
            self.plans[where] = replace(plan, calls=(*plan.calls, *new))
            self.owner |= {call.cell: where for call in new}
            added += new
        self.store.extend(added)
        self.chosen += added
        return added

    def _is_wanted(self, call: Call) -> bool:
        return self.choice.pattern is None or schedule.fits(call, self.choice.pattern)

    def _planned(self) -> list[tuple[Where, Plan]]:
        return [(where, plan) for where, plan in self.plans.items() if isinstance(plan, Plan)]

    def _records(self) -> dict[Where, list[Record]]:
        records: dict[Where, list[Record]] = {}
        for record in self.store.records(self.chosen):
            records.setdefault(self.owner[record.call.cell], []).append(record)
        return records

    def found(self) -> Found:
        """Everything that is finished, read."""
        suite, records = self.prepared.suite, self._records()
        findings = {where: _finding(suite, where, plan, records.get(where, [])) for where, plan in self.plans.items()}
        measures = {name: design.MEASURES for name, design in suite.probes.items()}
        judged = judge(suite.file.gates, measures, findings, suite.file.run.looks)
        floors = self.prepared.planned.floors
        again = {name: list(self.store.records(calls)) for name, calls in floors.items()}
        repeated = {name: floor.found(each) for name, each in again.items()}
        scores = {where: tuple(scores_of(plan, records.get(where, []))) for where, plan in self._planned()}
        took = seconds_taken(self.store.asked())
        tallies = {where: _tally(records.get(where, []), scores.get(where, ()), took) for where in self.plans}
        every = tuple(each for found in scores.values() for each in found)
        able = observed(record for each in (*again.values(), *records.values()) for record in each)
        return Found(findings, tallies, judged, repeated, self.store.counts(), len(self.chosen), every, able)


def _tally(records: Sequence[Record], scores: Sequence[ScoredCall], took: Mapping[Cell, float]) -> Tally:
    """took: seconds of every call that was asked; what came from the cache took none."""
    errors = sum(each.undecided for each in scores)
    cut = sum("truncated" in each.flags for each in scores)
    return Tally(len(records), errors, cut, sum(took.get(record.call.cell, 0.0) for record in records))


def _finding(suite: Behaviour, where: Where, planned: Plan | Skipped, records: Sequence[Record]) -> Finding | Skipped:
    if isinstance(planned, Skipped):
        return planned
    if planned.broken:
        return Finding((), {}, Rate(0, 0), broken=planned.broken)
    if not records:
        return Skipped(NOT_ASKED)
    return suite.probes[where[0]].read(planned, records, suite.file.seed)


class _Nothing(NoCache):
    """No cache, as a context."""

    def __enter__(self) -> Cache:
        return self

    def __exit__(self, *ended: object) -> None:
        """Nothing is held."""


def _cache(choice: Choice, suite: Behaviour, run_name: str) -> AnswerCache | _Nothing:
    if choice.cache is None or not suite.file.run.cache:
        return _Nothing()
    return AnswerCache(choice.cache, run_name)
