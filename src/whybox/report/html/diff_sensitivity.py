"""The page of a sensitivity: what to keep, a bar for every part, exact numbers."""

from whybox.report.diff_sensitivity_lines import COLUMNS, advice, cells, groups, notes
from whybox.report.document import Lang
from whybox.report.document.diff import SensitivityDocument
from whybox.report.html.page import Bundle, Table, page
from whybox.report.numbers import exact
from whybox.report.words import say

BUNDLE = Bundle(("theme.js", "copy.js", "comparison.js"), ("base.css", "why.css", "run.css"))
MOST_BARS = 96


def sensitivity_page(document: SensitivityDocument, lang: Lang) -> str:
    """One self-contained HTML file, as every page here."""
    parts = [row for row in document.units if row.kind == "part"][:MOST_BARS]
    most = max((row.gain for row in parts), default=0.0) or 1.0
    return page(
        "diff_sensitivity.html.jinja",
        lang,
        tables=[_table(document, lang)],
        data={"document": document.model_dump(mode="json", by_alias=True)},
        bundle=BUNDLE,
        doc=document,
        headline=advice(document, lang),
        sides=" ↔ ".join(f"{side.name} ({side.precision})" for side in document.sides),
        notes=list(notes(document, lang)),
        bars=[(row.name, max(row.gain, 0.0) / most, cells(row, document, lang)[1]) for row in parts],
        columns=[say(f"sens.column.{name}", lang) for name in COLUMNS],
        groups=[
            (kind, [cells(row, document, lang) for row in rows[:12]])
            for kind, rows in groups(document)
            if rows and kind != "part"
        ],
    )


def _table(document: SensitivityDocument, lang: Lang) -> Table:
    names = ("kind", "name", "parameters", "bytes_more", "kl", "gain", "low", "high")
    rows = [
        [row.kind, row.name, str(row.parameters), exact(row.bytes_more), exact(row.kl), exact(row.gain)]
        + [exact(bound) for bound in row.interval or (None, None)]
        for row in (*document.units, *document.sets)
    ]
    return Table("restored", list(names), rows, 48)
