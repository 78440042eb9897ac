"""The page of `run`: verdict, what was run, a section for each probe, every call with its texts, provenance."""

from dataclasses import dataclass

from whybox.report.doctor_words import say as doctor
from whybox.report.document import CallsPayload, GateRow, GridRow, Lang, ProbeRow, RunDocument
from whybox.report.estimate_line import p_text, points
from whybox.report.html.page import Bundle, Table, page
from whybox.report.html.run_data import packed_calls
from whybox.report.html.run_figures import Forest, RateCurve, forest, rate_curve
from whybox.report.numbers import exact, number
from whybox.report.reasons import reason
from whybox.report.run_lines import MARKS, cut, examined, faults, mechanism, why
from whybox.report.run_names import ability, axis, detail, statistic, told, word
from whybox.report.run_page_words import RUN_PAGE, SCRIPT_KEYS
from whybox.report.visible import shortened
from whybox.report.words import say

BUNDLE = Bundle(("theme.js", "copy.js", "calls.js", "run.js"), ("base.css", "why.css", "run.css"), table_nodes=900)
MOST_GATES, MOST_PROBES, MOST_TARGETS = 24, 16, 8
MOST_CURVE_NODES = 700
CURVE_NODES = 34
MOST_GRID, MOST_GRIDS = 8, 3
MOST_DECIDING, MOST_TEXT = 4, 2_000
MOST_FAULTS, MOST_CHECKS = 12, 16
WORST = ("fail", "error", "inconclusive", "pass", "skipped")
HEADS = {"fail": "gate", "error": "error", "inconclusive": "open", "skipped": "skipped"}


@dataclass(frozen=True)
class Section:
    """One probe on one target, as it is drawn. more: curves that only the table holds."""

    id: str
    probe: ProbeRow
    gates: list[GateRow]
    forest: Forest | None
    curves: list[RateCurve]
    more: int
    grids: list[GridRow]


def run_page(document: RunDocument, calls: CallsPayload, lang: Lang) -> str:
    """One self-contained HTML file: offline, inert towards the text it shows, at most 3,000 elements and 8 MB."""
    packed = packed_calls(calls)
    shown = document.probes[:MOST_PROBES]
    sections = [_section(document, probe, i, len(shown)) for i, probe in enumerate(shown)]
    data = {
        "document": document.model_dump(mode="json", by_alias=True),
        "calls": packed.text,
        "said": {key: RUN_PAGE[key][lang == "zh"] for key in SCRIPT_KEYS},
    }
    return page(
        "run.html.jinja",
        lang,
        tables=[table for section in sections for table in _tables(section, lang)],
        data=data,
        bundle=BUNDLE,
        doc=document,
        headline=headline(document, lang),
        ranked=sorted(document.gates, key=lambda gate: WORST.index(gate.verdict))[:MOST_GATES],
        more_gates=max(0, len(document.gates) - MOST_GATES),
        sections=sections,
        more_probes=max(0, len(document.probes) - MOST_PROBES),
        targets=document.targets[:MOST_TARGETS],
        any_wrong=any(call.outcome not in ("right", None) for call in calls.calls),
        packed=packed,
        marks=MARKS,
        why=lambda gate: why(gate, lang),
        cut=lambda probe: cut(probe, lang),
        examined=lambda check: examined(check, lang),
        condition=lambda name: doctor(f"condition.{name}", lang),
        faults=list(faults(document, lang))[:MOST_FAULTS],
        most_checks=MOST_CHECKS,
        mechanism=lambda found: mechanism(found, lang),
        points=points,
        statistic=lambda name: statistic(name, lang),
        axis=lambda name: axis(name, lang),
        word=lambda name: word(name, lang),
        detail=lambda value: detail(value, lang),
        ability=lambda text: ability(text, lang),
        told=lambda text: told(text, lang),
        short=lambda text: shortened(text, MOST_TEXT),
        most_grid=MOST_GRID,
        most_deciding=MOST_DECIDING,
    )


def headline(document: RunDocument, lang: Lang) -> str:
    """The verdict in one sentence, with the gate that decided it."""
    if document.verdict in (None, "pass"):
        return say(f"rp.head.{document.verdict or 'none'}", lang)
    gate = next(gate for gate in document.gates if gate.verdict == document.verdict)
    values = {"probe": gate.probe, "target": gate.target, "says": gate.says}
    return say(f"rp.head.{HEADS[gate.verdict]}", lang, **values)


def _section(document: RunDocument, probe: ProbeRow, index: int, sections: int) -> Section:
    gates = [gate for gate in document.gates if (gate.probe, gate.target) == (probe.probe, probe.target)]
    curves = [drawn for drawn in map(rate_curve, probe.curves) if drawn]
    room = max(1, MOST_CURVE_NODES // sections // CURVE_NODES)
    return Section(
        f"probe-{index}",
        probe,
        gates[:MOST_GATES],
        forest(probe.estimates),
        curves[:room],
        max(0, len(curves) - room),
        list(probe.grids[:MOST_GRIDS]),
    )


def _tables(section: Section, lang: Lang) -> list[Table]:
    tables = [
        Table(f"{section.id}-estimates", _named("statistic value low high unit n floor null p holm", lang), [], 20)
    ]
    for row in section.probe.estimates:
        low, high = row.interval or (None, None)
        unit = say(f"rp.unit.{row.unit}", lang)
        numbers = [exact(row.floor), exact(row.null_95), _p(row.p), _p(row.p_adjusted)]
        value = number(row.estimate) if row.estimate is not None else f"— ({reason(row.estimate_reason or '', lang)})"
        told = [statistic(row.statistic, lang), value, exact(low), exact(high), unit, str(row.n)]
        tables[0].rows.append([*told, *numbers])
    if section.probe.curves:
        rows = [
            [*named, p.label, str(p.hits), str(p.n), *map(exact, p.interval or (None, None))]
            for curve in section.probe.curves
            for named in [(statistic(curve.name, lang), axis(curve.axis, lang))]
            for p in curve.points
        ]
        columns = [say("rp.curve.name", lang), "·", *_named("at hits n low high", lang)]
        tables.append(Table(f"{section.id}-curves", columns, rows, 24))
    return tables


def _named(names: str, lang: Lang) -> list[str]:
    own = {"n": "n", "p": "p", "floor": say("rp.legend.floor", lang)}
    return [own.get(name) or say(f"rp.{name}", lang) for name in names.split()]


def _p(value: float | None) -> str:
    return "—" if value is None else p_text(value)
