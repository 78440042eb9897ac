"""Parts of the model on a terminal: the strongest few, and one sentence for each thing that full effort found."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whybox.report import findings
from whybox.report.document import Lang, PartRow, WhyDocument
from whybox.report.numbers import number
from whybox.report.sentences import effect, tone_of
from whybox.report.terminal import STYLES, heading, plain_table
from whybox.report.visible import one_line
from whybox.report.words import say
from whybox.verdict.experiment_words import parts_named

MOST_PARTS = 5


def parts(document: WhyDocument, console: Console, lang: Lang) -> None:
    """What was taken out, what that did, and what stands beside it."""
    if document.parts is not None:
        heading(console, findings.parts_finding(document, lang))
        console.print(_table(document, console, lang))
    for sentence in filter(None, findings.findings(document, lang)):
        console.print(Text("· " + one_line(sentence)))


def _table(document: WhyDocument, console: Console, lang: Lang) -> Table:
    table = plain_table(console)
    unit = document.metric.unit
    table.add_column(say("column.name", lang), no_wrap=True)
    table.add_column(Text(f"{say('column.zero', lang)}, {one_line(unit)}"), justify="right", no_wrap=True)
    table.add_column(say("column.resample", lang), justify="right")
    table.add_column(say("column.p_draws", lang), justify="right")
    table.add_column(say("column.flags", lang), overflow="fold")
    for row in _shown(document):
        table.add_row(parts_named(row.name, lang), *_cells(row, document.metric.noise, lang))
    return table


def _shown(document: WhyDocument) -> list[PartRow]:
    """The first few, and the one that the sentence above speaks of where it stands further down."""
    rows = document.parts.rows if document.parts else ()
    spoken = findings.confirmed(document) if rows and rows[0].flags else None
    return [row for place, row in enumerate(rows) if place < MOST_PARTS or row is spoken]


def _cells(row: PartRow, noise: float, lang: Lang) -> tuple[Text, str, str, Text]:
    zero = Text(effect(row.zero.value, noise, lang), style=STYLES[tone_of(row.zero.value, noise)])
    again = "—" if row.resample is None else findings.spread(row.resample, noise, lang)
    p = "—" if row.zero.p is None else f"{number(row.zero.p)} ({row.zero.draws})"
    return zero, again, p, Text(findings.flags(row.flags, lang))
