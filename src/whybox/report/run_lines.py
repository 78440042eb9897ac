"""What a report of a run says by itself: states, reasons, the line of an estimate."""

from collections.abc import Iterator

from whybox.report.doctor_words import say as doctor
from whybox.report.document import DoctorCheck, EstimateRow, GateRow, Lang, Mechanism, ProbeRow, RunDocument
from whybox.report.estimate_line import Shown, line, p_text
from whybox.report.numbers import interval, number
from whybox.report.reasons import reason
from whybox.report.run_names import statistic, told
from whybox.report.run_words import say
from whybox.report.text_doctor import sentence
from whybox.report.words import say as say_estimate
from whybox.statistics.unknown import Unknown
from whybox.verdict.experiment_words import named

MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "error": "!", "skipped": "–", None: "·"}


def why(gate: GateRow, lang: Lang) -> str:
    """What decided a gate, in one sentence with its numbers."""
    values = {"detail": told(gate.detail, lang), "demand": gate.demand}
    values |= {"holds": _p(gate.p_holds), "broken": _p(gate.p_broken)}
    said = say(f"because.{gate.because}.{gate.verdict}", lang, **values)
    if gate.needs_n is not None:
        said += " " + say("run.needs", lang, n=gate.needs_n)
    elif gate.verdict == "inconclusive" and gate.needs_n_reason:
        said += f" {reason(gate.needs_n_reason, lang)}"
    return said


def estimate_of(probe: ProbeRow, lang: Lang) -> str:
    """The line of the first statistic of a probe; why there is none."""
    if not probe.estimates:
        return told(probe.not_measured, lang)
    row = probe.estimates[0]
    if row.unit not in ("share", "difference"):
        return _number(row, lang) + cut(probe, lang)
    shown = Shown(
        statistic(row.statistic, lang),
        _known(row.estimate, row.estimate_reason, lang),
        row.interval,
        _known(row.floor, row.floor_reason, lang),
        _known(row.null_95, row.null_95_reason, lang),
        row.p,
        row.p_adjusted,
        row.n,
        round(probe.calls / row.n) if row.n else 0,
        probe.errors,
        row.net,
        row.unit,
    )
    return line(shown, lang) + cut(probe, lang)


def _known(value: float | None, missing: str | None, lang: Lang) -> float | Unknown:
    return Unknown(reason(missing or "", lang)) if value is None else value


def _number(row: EstimateRow, lang: Lang) -> str:
    """A statistic on a scale of its own: half-life 6.20 turns [4.10, 9.00] · n 40 items."""
    return f"{_on_its_scale(row, lang)} · {say_estimate('estimate.items', lang, items=row.n)}"


def _on_its_scale(row: EstimateRow, lang: Lang) -> str:
    name = statistic(row.statistic, lang)
    if row.estimate is None:
        return say_estimate("estimate.unknown", lang, name=name, reason=reason(row.estimate_reason or "", lang))
    bounds = "" if row.interval is None else f" {interval(row.interval)}"
    return say_estimate(f"estimate.{row.unit}", lang, name=name, value=number(row.estimate), bounds=bounds)


def cut(probe: ProbeRow, lang: Lang) -> str:
    """What to do about answers that ended before they gave a whole value; nothing where there are none."""
    return f" · {say('run.cut.one' if probe.cut == 1 else 'run.cut', lang, n=probe.cut)}" if probe.cut else ""


def faults(document: RunDocument, lang: Lang) -> Iterator[tuple[str, str]]:
    """Each target with what was found before the first item that would spoil its numbers."""
    for target in document.targets:
        for check in target.checks:
            if check.state == "fault":
                yield target.name, examined(check, lang)


def examined(check: DoctorCheck, lang: Lang) -> str:
    """What a short examination found, and what the target said itself."""
    quoted = f" ({doctor('quote', lang, quote=check.quote)})" if check.quote else ""
    return f"{doctor(f'state.{check.state}', lang)}: {sentence(check, lang)}{quoted}"


def mechanisms(probe: ProbeRow, lang: Lang) -> Iterator[tuple[str, str]]:
    """Each explained item with what was found for it, or why nothing was."""
    for row in probe.deciding:
        if row.mechanism is not None:
            yield row.item, mechanism(row.mechanism, lang)


def mechanism(found: Mechanism, lang: Lang) -> str:
    """Code, what undid the answer with its effect and interval, the sentence, and of what it speaks."""
    if found.code is None:
        return say("why.none", lang, reason=reason(found.code_reason or "", lang))
    code = " · ".join(filter(None, (found.code, found.detail)))
    undone = "" if found.undone_by is None else _undone(found, found.undone_by, lang)
    scope = say("why.this-prompt", lang) if found.scope == "this-prompt" else ""
    return say("why.code", lang, code=code, effect=undone, sentence=found.sentence) + scope


def _undone(found: Mechanism, what: str, lang: Lang) -> str:
    what = named(what, lang)
    if found.effect is None:
        return say("why.undone", lang, what=what)
    bounds = "" if found.interval is None else f" {interval(found.interval)}"
    return say("why.effect", lang, what=what, effect=number(found.effect, signed=True), interval=bounds)


def _p(value: float | None) -> str:
    return "—" if value is None else p_text(value)
