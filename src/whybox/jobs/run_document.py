"""What a run found, as its document."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from whybox.jobs.provenance import model_info
from whybox.probes.design import Curve, Deciding, Estimate, Finding
from whybox.report.document import (
    AaRow,
    AbilityRow,
    ArmAnswer,
    CallCounts,
    CurvePoint,
    CurveRow,
    DecidingRow,
    DoctorCheck,
    EstimateRow,
    GateRow,
    GridRow,
    Lang,
    Mechanism,
    ModelInfo,
    ProbeRow,
    RunDocument,
    SuiteTarget,
)
from whybox.report.estimate_line import limit
from whybox.statistics.intervals import wilson
from whybox.statistics.multiplicity import holm
from whybox.statistics.unknown import Unknown
from whybox.suite.behaviour import Behaviour
from whybox.suite.floor import FloorFound
from whybox.suite.gates import State
from whybox.suite.judgement import Judged, Skipped, Where, of_probe
from whybox.suite.observed import Observed
from whybox.suite.store import Counts
from whybox.suite.whole import Found, Prepared, Tally
from whybox.targets.local import LocalTarget
from whybox.targets.target import Ability, Target

NOT_REVEALED = "not revealed"
NO_GATE, SETTLED, NO_TEST = "no gate", "no gate is open", "no test"
FLIPS_SEEN = "flips were seen"
NO_INTERVAL = "no interval is made of it"
WORST = (State.FAIL, State.ERROR, State.INCONCLUSIVE, State.PASS, State.SKIPPED)
NOTHING_RUN, EXIT = 5, {State.FAIL: 1, State.ERROR: 3}
INCONCLUSIVE = 4
Mechanisms = Mapping[tuple[Where, int], Mechanism]
"""What was found with the weights, by probe and target, and the place among the items that decided it."""
NO_MECHANISMS: Mechanisms = MappingProxyType({})


def run_document(
    prepared: Prepared,
    found: Found,
    lang: Lang,
    strict: bool,
    mechanisms: Mechanisms = NO_MECHANISMS,
) -> RunDocument:
    """The document of a run; `took_s` is set by who measured it."""
    suite, targets = prepared.suite, prepared.targets
    states = {each.verdict.state for each in found.judged}
    verdict = next((state for state in WORST if state in states), None)
    counts = found.counts
    return RunDocument(
        schema=RunDocument.identity(),
        lang=lang,
        model=_model(next(iter(targets.values()))),
        seed=suite.file.seed,
        took_s=0.0,
        suite=suite.file.suite,
        suite_digest=suite.digest,
        targets=tuple(_target(name, prepared, found.observed.get(name, {})) for name in targets),
        calls=CallCounts(
            planned=counts.planned,
            chosen=found.selected,
            finished=counts.finished,
            failed=counts.failed,
            cached=counts.cached,
        ),
        floor=tuple(_aa(name, row) for name, rows in found.floors.items() for row in rows),
        probes=tuple(_probe(suite, where, found, mechanisms) for where in found.findings),
        gates=tuple(_gate(suite, each, lang) for each in found.judged),
        verdict=None if verdict is None else verdict.value,
        verdict_reason=NO_GATE if verdict is None else None,
        exit_code=_exit_code(verdict, counts, strict or suite.file.report.strict),
    )


def _exit_code(verdict: State | None, counts: Counts, strict: bool) -> int:
    """A run without a single answer is no score, whether or not a gate asks for one."""
    if counts.finished == 0 and verdict is not State.ERROR:
        return NOTHING_RUN
    if counts.failed == counts.finished:
        return EXIT[State.ERROR]
    if verdict is State.INCONCLUSIVE and strict:
        return INCONCLUSIVE
    return EXIT.get(verdict, 0) if verdict else 0


def _model(target: Target) -> ModelInfo:
    if isinstance(target, LocalTarget):
        return model_info(target.model)
    name, kind, hidden = target.identity.model, target.identity.kind, NOT_REVEALED
    return ModelInfo(name=name, family=kind, digest=hidden, engine=hidden, precision=hidden, kernel=hidden)


def _target(name: str, prepared: Prepared, seen: Mapping[str, Observed]) -> SuiteTarget:
    identity = prepared.targets[name].identity
    found = prepared.grounds[name].abilities
    examined = prepared.examined.get(name)
    told = {
        "chat": found.chat,
        "raw": found.raw,
        "logprobs": found.logprobs,
        "scores": found.scores,
        "seed": found.seed,
        "ids": found.ids,
        "usage": found.usage,
        "shared_prefixes": found.shared_prefixes,
        "chat_scores": found.chat_scores,
    }
    abilities = {ability: _ability(has) for ability, has in told.items()}
    return SuiteTarget(
        name=name,
        kind=identity.kind,
        model=identity.model,
        details=dict(identity.details),
        abilities=abilities,
        checks=() if examined is None else tuple(map(DoctorCheck.model_validate, examined.checks)),
        observed=tuple(
            AbilityRow(ability=ability, shown=each.rate.hits, asked=each.rate.n, why=each.why)
            for ability, each in sorted(seen.items())
        ),
    )


def _ability(found: Ability) -> str:
    """yes, no or "not known", each with its reason."""
    said = "not known" if found.has is None else "yes" if found.has else "no"
    return f"{said} ({found.why})" if found.why else said


def _aa(target: str, row: FloorFound) -> AaRow:
    return AaRow(
        target=target,
        condition=row.condition,
        items=row.items,
        calls=row.differing.n,
        differing=row.differing.hits,
        lost=row.lost,
        bound=row.bound,
        bound_reason=None if row.bound is not None else FLIPS_SEEN if row.differing.hits else "no call came back",
    )


def _probe(suite: Behaviour, where: Where, found: Found, mechanisms: Mechanisms) -> ProbeRow:
    name, target = where
    finding, tally = found.findings[where], found.tallies[where]
    state = of_probe(found.judged, name, target) or _ungated(finding)
    rows = () if isinstance(finding, Skipped) else _estimates(finding.estimates)
    limit = suite.file.report.failures
    shown = (
        {}
        if isinstance(finding, Skipped)
        else _shown(finding, limit, {i: each for (at, i), each in mechanisms.items() if at == where})
    )
    return ProbeRow(
        probe=name,
        kind=suite.probes[name].NAME,
        target=target,
        **_maybe("verdict", None if state is None else state.value, NO_GATE),
        **_headline(rows, _reason(finding)),
        **_needs([each for each in found.judged if (each.text.probe, each.target) == where]),
        **_tallied(tally),
        not_measured=_reason(finding),
        estimates=rows,
        **shown,
    )


def _tallied(tally: Tally) -> dict[str, Any]:
    return {"calls": tally.calls, "errors": tally.errors, "cut": tally.cut, "seconds": tally.seconds}


def _reason(finding: Finding | Skipped) -> str:
    return finding.reason if isinstance(finding, Skipped) else finding.broken


def _ungated(finding: Finding | Skipped) -> State | None:
    if isinstance(finding, Skipped):
        return State.SKIPPED
    return State.ERROR if finding.broken else None


def _headline(rows: Sequence[EstimateRow], reason: str) -> dict[str, Any]:
    """The first statistic, as the row of the probe shows it."""
    if rows:
        return rows[0].model_dump(exclude={"unit", "net", "null_95", "null_95_reason"})
    names = ("estimate", "interval", "floor", "p", "p_adjusted")
    unknown = [_maybe(name, None, reason) for name in names]
    return {"statistic": "", "n": 0} | {key: value for each in unknown for key, value in each.items()}


def _estimates(estimates: Sequence[Estimate]) -> tuple[EstimateRow, ...]:
    """p adjusted by Holm over the primary statistics of the probe."""
    tested = {i: each.p for i, each in enumerate(estimates) if each.p is not None and each.primary}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return tuple(_estimate(each, adjusted.get(i)) for i, each in enumerate(estimates))


def _estimate(each: Estimate, adjusted: float | None) -> EstimateRow:
    by_null = NO_INTERVAL if isinstance(each.null_95, Unknown) else "read by its null"
    why = each.value.reason if isinstance(each.value, Unknown) else by_null
    no_test = each.null_95.reason if isinstance(each.null_95, Unknown) else NO_TEST
    return EstimateRow(
        statistic=each.statistic,
        unit=each.unit,
        n=each.items,
        **_number("estimate", each.value),
        **_maybe("interval", each.interval, why),
        **_number("floor", each.floor),
        net=each.net,
        **_number("null_95", each.null_95),
        **_maybe("p", each.p, no_test),
        **_maybe("p_adjusted", adjusted, no_test if each.p is None else "beside the primary statistic"),
    )


def _needs(gates: Sequence[Judged]) -> dict[str, Any]:
    """The largest need among the open gates: all of them must be settled."""
    open_gates = [each.verdict.needs for each in gates if each.verdict.state is State.INCONCLUSIVE]
    unknown = next((need.reason for need in open_gates if isinstance(need, Unknown)), None)
    known = [need for need in open_gates if isinstance(need, int)]
    reason = unknown or (SETTLED if gates else NO_GATE)
    return _maybe("needs_n", None if unknown or not known else max(known), reason)


def _gate(suite: Behaviour, each: Judged, lang: Lang) -> GateRow:
    verdict, text = each.verdict, each.text
    needs = verdict.needs
    measure = suite.probes[text.probe].MEASURES[text.statistic]
    languages: tuple[Lang, ...] = ("en", "zh")
    sentences: dict[Lang, str] = {
        each: said.format(limit=limit(text.limit, measure.unit, each))
        for each, said in zip(languages, measure.says, strict=True)
    }
    not_judged = verdict.reason or "not judged"
    need = _number("needs_n", Unknown(SETTLED) if needs is None else needs)
    return GateRow(
        gate=text.name or text.demand,
        probe=text.probe,
        target=each.target,
        demand=text.demand,
        says=sentences[lang],
        sentences=sentences,
        verdict=verdict.state.value,
        because=verdict.because.value,
        detail=verdict.reason,
        **_maybe("p_holds", verdict.p_holds, not_judged),
        **_maybe("p_broken", verdict.p_broken, not_judged),
        **need,
    )


def _shown(finding: Finding, limit: int, mechanisms: Mapping[int, Mechanism]) -> dict[str, Any]:
    """What the report shows in full: the first items, and all that were explained."""
    deciding = [(i, each) for i, each in enumerate(finding.deciding) if i < limit or i in mechanisms]
    return {
        "curves": tuple(map(_curve, finding.curves)),
        "deciding": tuple(_deciding(each, mechanisms.get(i)) for i, each in deciding),
        "notes": finding.notes,
        "words": dict(finding.words),
        "grids": tuple(GridRow(name=g.name, rows=g.rows, columns=g.columns, counts=g.counts) for g in finding.grids),
    }


def _curve(curve: Curve) -> CurveRow:
    points_of = tuple(
        CurvePoint(label=label, hits=rate.hits, n=rate.n, **_maybe("interval", wilson(rate), "no call came back"))
        for label, rate in curve.points
    )
    return CurveRow(name=curve.name, axis=curve.axis, points=points_of)


def _deciding(each: Deciding, mechanism: Mechanism | None) -> DecidingRow:
    prompt = "\n".join(part.text for part in each.case.parts)
    answers = _pairs(each.arms, each.answers)
    shown, right = tuple(answers), each.case.right
    return DecidingRow(
        item=each.item, prompt=prompt, right=right, answers=shown, seen=dict(each.seen), mechanism=mechanism
    )


def _pairs(arms: Iterable[str], answers: Iterable[str]) -> Iterable[ArmAnswer]:
    return (ArmAnswer(arm=arm, answer=answer) for arm, answer in zip(arms, answers, strict=True))


def _number(name: str, value: float | int | Unknown) -> dict[str, Any]:
    return _maybe(name, None, value.reason) if isinstance(value, Unknown) else _maybe(name, value, "")


def _maybe(name: str, value: object, reason: str) -> dict[str, Any]:
    """A field that is null exactly when its reason says why."""
    return {name: value, f"{name}_reason": (reason or "not known") if value is None else None}
