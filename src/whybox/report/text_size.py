"""The document of `size` on a terminal, and its curve as a table of numbers."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whybox.report.document import FormulaRow, Lang, SizeDocument
from whybox.report.numbers import csv_text, exact
from whybox.report.size_lines import SECTIONS, asked, cell, columns, headline, made_of, rows_of, verdict
from whybox.report.terminal import heading, plain_table
from whybox.report.visible import calm, one_line
from whybox.report.words import say
from whybox.verdict.experiment_words import named

WIDEST_NUMBERS = 46
TERMINAL_COLUMNS = ("context", "kv", "total", "decode", "prefill", "decode_s", "batch")


def render_size(document: SizeDocument, console: Console, lang: Lang) -> None:
    """What it is, the headline, then every number with its formula, the curve, what was assumed."""
    console.print(Text(one_line(made_of(document, lang)), style="dim"))
    console.print(Text(asked(document, lang), style="dim"))
    heading(console, headline(document, lang))
    if (fits := verdict(document, lang)) is not None:
        console.print(Text(fits, style="bold"))
    for section, _ in SECTIONS:
        _section(document, section, console, lang)
    heading(console, say("size.title.curve", lang))
    console.print(_curve(document, console, lang))
    for note in document.notes:
        console.print(Text(calm(named(note, lang)), style="dim"))


def _section(document: SizeDocument, section: str, console: Console, lang: Lang) -> None:
    rows = rows_of(document, section, lang)
    missing = {"fit": document.fit_reason, "roofline": document.roofline_reason}.get(section)
    if not rows:
        return
    heading(console, say(f"size.title.{section}", lang))
    table = plain_table(console)
    table.show_header = False
    table.add_column(overflow="fold", min_width=18)
    table.add_column(overflow="fold", justify="right", min_width=16)
    table.add_column(overflow="fold", style="dim")
    for name, value, row in rows:
        shown = row.numbers if len(row.numbers) <= WIDEST_NUMBERS else row.formula
        table.add_row(name, value, _equals(shown, value, row))
    console.print(table)
    if missing:
        console.print(Text(say("size.none", lang, reason=missing), style="dim"))
    if section == "roofline" and document.roofline is not None:
        for phase, found in (("decode", document.roofline.decode), ("prefill", document.roofline.prefill)):
            name = say(f"size.is.intensity.{phase}", lang)
            console.print(Text(f"{name}: {say(f'size.limit.{found.limit}', lang)}"))
    console.print(Text(say(f"size.why.{section}", lang), style="dim"))


def _equals(shown: str, value: str, row: FormulaRow) -> str:
    """What the value comes from, and the whole number where the value beside it is rounded."""
    whole = f"{row.value:,}"
    if not isinstance(row.value, int) or whole in value:
        return "" if shown == whole else shown
    return whole if shown == whole else f"{shown} = {whole}"


def _curve(document: SizeDocument, console: Console, lang: Lang) -> Table:
    shown = [name for name in columns(document) if name in TERMINAL_COLUMNS]
    table = plain_table(console)
    for name in shown:
        table.add_column(say(f"size.column.{name}", lang), justify="right", overflow="fold")
    for point in document.curve:
        here = point.context == document.load.context
        table.add_row(*(cell(point, name) for name in shown), style="bold" if here else "")
    return table


def size_csv(document: SizeDocument) -> str:
    """The curve: exact numbers, one row a context."""
    names = ["context", "kv_bytes", "total_bytes", "decode_flops", "prefill_flops", "scores_bytes"]
    names += ["decode_s", "prefill_s", "batch"]
    return csv_text(names, [[exact(getattr(point, name)) for name in names] for point in document.curve])
