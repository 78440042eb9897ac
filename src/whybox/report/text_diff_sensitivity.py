"""The sensitivity of a quantised model on a terminal: keep these, then what every part gives back."""

from rich.console import Console
from rich.text import Text

from whybox.report.diff_sensitivity_lines import COLUMNS, MOST_TENSORS, advice, cells, groups, notes
from whybox.report.document import Lang
from whybox.report.document.diff import SensitivityDocument
from whybox.report.terminal import heading, plain_table
from whybox.report.visible import one_line
from whybox.report.words import say


def render_sensitivity(document: SensitivityDocument, console: Console, lang: Lang) -> None:
    """Advice, notes, tables: parts, kinds of matrix, the first tensors, sets."""
    sides = " ↔ ".join(f"{side.name} ({side.precision})" for side in document.sides)
    console.print(Text(one_line(sides), style="dim"))
    heading(console, one_line(advice(document, lang)))
    for line in notes(document, lang):
        console.print(Text(one_line(line)))
    for kind, rows in groups(document):
        if not rows:
            continue
        heading(console, say(f"sens.{kind}", lang))
        table = plain_table(console)
        for column in COLUMNS:
            table.add_column(say(f"sens.column.{column}", lang), overflow="fold")
        for row in rows[:MOST_TENSORS] if kind == "tensor" else rows:
            table.add_row(*(Text(one_line(cell)) for cell in cells(row, document, lang)))
        console.print(table)
        if kind == "tensor" and len(rows) > MOST_TENSORS:
            console.print(Text(say("sens.left_out", lang, n=len(rows) - MOST_TENSORS), style="dim"))
