"""What a report of a run says by itself: states, reasons, the line of an estimate."""

from whybox.report.document import GateRow, Lang, ProbeRow
from whybox.report.estimate_line import Shown, line, p_text
from whybox.report.run_words import say
from whybox.statistics.unknown import Unknown

MARKS = {"pass": "✓", "fail": "✗", "inconclusive": "?", "error": "!", "skipped": "–", None: "·"}


def why(gate: GateRow, lang: Lang) -> str:
    """What decided a gate, in one sentence with its numbers."""
    values = {"detail": gate.detail, "demand": gate.demand}
    values |= {"holds": _p(gate.p_holds), "broken": _p(gate.p_broken)}
    said = say(f"because.{gate.because}.{gate.verdict}", lang, **values)
    if gate.needs_n is not None:
        said += " " + say("run.needs", lang, n=gate.needs_n)
    elif gate.verdict == "inconclusive" and gate.needs_n_reason:
        said += f" {gate.needs_n_reason}"
    return said


def estimate_of(probe: ProbeRow, lang: Lang) -> str:
    """The line of the first statistic of a probe; why there is none."""
    if not probe.estimates:
        return probe.not_measured
    row = probe.estimates[0]
    if row.unit != "share":
        return f"{row.statistic} {row.estimate} {row.unit}"
    shown = Shown(
        row.statistic,
        Unknown(row.estimate_reason or "") if row.estimate is None else row.estimate,
        row.interval,
        Unknown(row.floor_reason or "") if row.floor is None else row.floor,
        Unknown(row.null_95_reason or "") if row.null_95 is None else row.null_95,
        row.p,
        row.p_adjusted,
        row.n,
        round(probe.calls / row.n) if row.n else 0,
        probe.errors,
    )
    return line(shown, lang)


def _p(value: float | None) -> str:
    return "—" if value is None else p_text(value)
