"""The document of `look` on a terminal, 80 columns wide, and its table of heads as CSV."""

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from whybox.errors import UsageError
from whybox.report.diagnosis_words import evidence
from whybox.report.document import Diagnosis, HeadLook, Lang, LookDocument, LookSegment
from whybox.report.look_words import COLUMNS, say
from whybox.report.numbers import csv_text, exact, number, percent
from whybox.report.terminal import heading, model_line, plain_table, sparkline
from whybox.report.visible import calm, one_line
from whybox.verdict.experiment_words import named

MOST_HEADS = 20
LONGEST = 10_000  # where the curve of a dilution ends
PARTS = {"classes", "secondary_sinks", "decision_segments", "value_segments"}


@dataclass(frozen=True)
class Shown:
    """Which heads the table lists. sort: a column, largest first. layer, head: only these. None: the clearest."""

    sort: str | None = None
    layer: int | None = None
    head: int | None = None


def render_look(document: LookDocument, console: Console, lang: Lang, shown: Shown = Shown()) -> None:
    """Diagnoses, segments, classes, heads, layers, dilution."""
    console.print(model_line(document))
    heads = len(document.heads)
    title = say("title", lang, n=len(document.tokens), layers=len(document.layers), heads=heads)
    console.print(Text(title if not document.title else f"{one_line(document.title)} · {title}", style="bold"))
    for line in _cautions(document, lang):
        console.print(Text(line, style="yellow"))
    _diagnoses(document, console, lang)
    _segments(document, console, lang)
    console.print(Text(say("banner", lang), style="dim"))
    _classes(document, console, lang)
    _heads(document, console, lang, shown)
    _layers(document, console, lang)
    _dilution(document, console, lang)
    for note in document.notes:
        console.print(Text(calm(named(note, lang)), style="dim"))


def sortable() -> list[str]:
    """Columns that heads can be sorted by: every number of a head."""
    return [name for name in _columns() if name not in ("layer", "head")]


def require_column(name: str | None) -> None:
    """UsageError for a column that does not exist."""
    if name is not None and name not in sortable():
        near = difflib.get_close_matches(name, sortable(), n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"heads have no column {name!r}", f"{hint}columns: {', '.join(sortable())}")


def heads_csv(document: LookDocument) -> str:
    """One line a head: every number that was measured, its classes, its segments at the decision."""
    names = [segment.name for segment in document.segments if segment.kind != "sink"]
    columns = [*_columns(), "classes", *(f"decision {name}" for name in names), *(f"value {name}" for name in names)]
    return csv_text(columns, [list(_cells(head, len(names))) for head in document.heads])


def _columns() -> list[str]:
    return [name for name in HeadLook.model_fields if name not in PARTS and not name.endswith("_reason")]


def _cells(head: HeadLook, segments: int) -> Iterator[str]:
    """Shares that were not obtained are empty cells."""
    values = dict(head)
    yield from (exact(values[name]) for name in _columns())
    yield " ".join(name.replace(" ", "-") for name in head.classes)
    for shares in (head.decision_segments, head.value_segments):
        yield from map(exact, shares or (None,) * segments)


def chosen(document: LookDocument, shown: Shown) -> list[HeadLook]:
    """The heads that the table lists, in its order. UsageError for a column that does not exist."""
    require_column(shown.sort)
    heads = [h for h in document.heads if shown.layer in (None, h.layer) and shown.head in (None, h.head)]
    if shown == Shown():
        opened = [(each.layer, each.head) for each in document.opened]
        return sorted((h for h in heads if (h.layer, h.head) in opened), key=lambda h: opened.index((h.layer, h.head)))
    if shown.sort is None:
        return heads
    column = shown.sort
    return sorted(heads, key=lambda head: _descending(dict(head)[column]))


def _descending(value: float | None) -> tuple[bool, float]:
    return value is None, -(value or 0.0)


def _cautions(document: LookDocument, lang: Lang) -> Iterator[str]:
    if document.short_text:
        yield say("short", lang, n=len(document.tokens))
    if document.beyond_training:
        yield say("beyond", lang)


def _diagnoses(document: LookDocument, console: Console, lang: Lang) -> None:
    telling = [each for each in document.diagnoses if not each.common]
    heading(console, say("diagnoses", lang, n=len(telling)) if telling else say("diagnoses.none", lang))
    for each in telling:
        _diagnosis(each, console, lang)
    common = [each for each in document.diagnoses if each.common]
    if common:
        heading(console, f"{say('common.title', lang)} ({common[0].action_reason})")
        for each in common:
            _diagnosis(each, console, lang)
    if document.not_said:
        told = " · ".join(f"{', '.join(codes)} ({reason})" for reason, codes in document.not_said_by_reason.items())
        console.print(Text(say("not_said", lang, told=calm(told)), style="dim"))


def _diagnosis(each: Diagnosis, console: Console, lang: Lang) -> None:
    numbers = ", ".join(" ".join(evidence(name, value, lang)) for name, value in each.evidence.items())
    rate = "" if each.base_rate is None else _rate(each, lang)
    line = Text(each.code, style="dim" if each.common else "cyan")
    for part in (_places(each), numbers, rate):
        line.append(one_line(f" · {part}") if part else "", style="dim" if each.common else "default")
    console.print(line)
    if not each.common:
        test = "" if each.action is None else say("test", lang, action=each.action)
        console.print(Padding(Text(calm(f"{each.meaning} {test}")), (0, 0, 0, 2)))


def _rate(each: Diagnosis, lang: Lang) -> str:
    assert each.base_rate is not None
    found = say("rate", lang, share=percent(each.base_rate.hits / each.base_rate.n), n=each.base_rate.n)
    return found if not each.note else f"{found} ({each.note})"


def _places(each: Diagnosis) -> str:
    where = each.where
    heads = [f"{layer}.{head}" for layer, head in where.heads[:4]]
    tokens = [f"#{token}" for token in where.tokens[:4]]
    return " ".join([*where.segments[:3], *tokens, *heads])


def _segments(document: LookDocument, console: Console, lang: Lang) -> None:
    top = max(document.segments, key=lambda segment: segment.share)
    key = "segments" if document.decision.position is not None else "segments.mean"
    heading(console, say(key, lang, top=one_line(top.name), share=percent(top.share)))
    table = plain_table(console)
    for name, side in (("", "left"), ("segment", "left"), ("share", "right"), ("lift", "right"), ("value", "right")):
        title = say(f"column.{name}", lang) if name else ""
        table.add_column(title, justify="right" if side == "right" else "left", overflow="fold")
    table.add_column(say("column.mean", lang), justify="right")
    table.add_column(say("column.layers", lang), no_wrap=True)
    for segment in document.segments:
        table.add_row(*_segment_cells(segment))
    console.print(table)


def _segment_cells(segment: LookSegment) -> Sequence[Text | str]:
    lift = "—" if segment.lift is None else number(segment.lift)
    value = "—" if segment.value_share is None else percent(segment.value_share)
    name = Text(one_line(segment.name))
    layers = sparkline(_thinned(segment.share_by_layer))
    return segment.letter, name, percent(segment.share), lift, value, percent(segment.mean_share), layers


def _thinned(values: Sequence[float], most: int = 24) -> list[float]:
    """At most so many, evenly taken."""
    step = -(-len(values) // most)
    return list(values[::step])


def _classes(document: LookDocument, console: Console, lang: Lang) -> None:
    heading(console, say("classes", lang, heads=len(document.heads)))
    found = [f"{each.name} {each.count}" for each in document.classes if each.count]
    console.print(Text(" · ".join(found)))
    if document.probe is not None:
        told = say("probe", lang, draws=document.probe.draws, tokens=document.probe.tokens)
        console.print(Text(told, style="dim"))


def _heads(document: LookDocument, console: Console, lang: Lang, shown: Shown) -> None:
    heads = chosen(document, shown)
    heading(console, _heads_title(document, lang, shown, min(len(heads), MOST_HEADS)))
    extra = [shown.sort] if shown.sort is not None and shown.sort not in COLUMNS else []
    console.print(_head_table(heads[:MOST_HEADS], [*extra, *COLUMNS], console, lang))
    if len(heads) > MOST_HEADS:
        console.print(Text(say("heads.more", lang, n=len(heads) - MOST_HEADS), style="dim"))


def _heads_title(document: LookDocument, lang: Lang, shown: Shown, listed: int) -> str:
    if shown.sort is not None:
        return say("heads.sorted", lang, column=shown.sort, n=listed, all=len(document.heads))
    if shown.layer is not None and shown.head is not None:
        return say("heads.one", lang, head=f"{shown.layer}.{shown.head}")
    return say("heads.clearest", lang) if shown.layer is None else say("heads.layer", lang, layer=shown.layer)


def _head_table(heads: Sequence[HeadLook], columns: Sequence[str], console: Console, lang: Lang) -> Table:
    """As many columns as the width holds, the first ones first; two decimals, since a head is known by its tenths."""
    room = max(1, (min(console.width, 100) - 31) // 7)
    table = plain_table(console)
    table.padding = (0, 1, 0, 0)
    table.add_column(say("column.head", lang), justify="right", no_wrap=True)
    for column in columns[:room]:
        table.add_column(COLUMNS.get(column, column), justify="right", no_wrap=True)
    table.add_column(say("column.classes", lang), overflow="fold")
    for head in heads:
        values = dict(head)
        cells = (_plain(values[column]) for column in columns[:room])
        table.add_row(f"{head.layer}.{head.head}", *cells, Text(", ".join(head.classes)))
    return table


def _plain(value: float | None) -> str:
    return "—" if value is None else f"{value:.2f}" if abs(value) < 100 else f"{value:.0f}"


def _layers(document: LookDocument, console: Console, lang: Lang) -> None:
    median = [layer.score_sd_median for layer in document.layers if layer.score_sd_median is not None]
    if not median:
        return
    heading(console, say("layers", lang))
    values: dict[str, object] = {
        "spark": sparkline(_thinned(median, 48)),
        "low": number(min(median)),
        "high": number(max(median)),
        "dead": sum(layer.dead_units or 0 for layer in document.layers),
        "units": f"{sum(layer.units or 0 for layer in document.layers):,}",
    }
    console.print(Text(say("layers.line", lang, **values)))


def _dilution(document: LookDocument, console: Console, lang: Lang) -> None:
    found = document.dilution
    if found is None:
        return
    heading(console, say("dilution", lang, segment=one_line(found.segment)))
    table = plain_table(console)
    for name in ("tokens", "share", "lift", "brightest"):
        table.add_column(say(f"column.{name}", lang), justify="right")
    table.add_column("")
    for point in found.points:
        brightest = f"{point.brightest_layer}.{point.brightest_head} {percent(point.brightest_share)}"
        lift = "—" if point.lift is None else number(point.lift)
        mark = say("dilution.beyond", lang) if point.beyond_training else ""
        table.add_row(f"{point.tokens:,}", percent(point.share), lift, brightest, Text(mark, style="yellow"))
    console.print(table)
    if found.points[-1].tokens < LONGEST and not found.points[-1].beyond_training:
        console.print(Text(say("dilution.trained", lang, trained=f"{found.trained:,}"), style="dim"))
