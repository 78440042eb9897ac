"""The page of `size`: the headline, what fits, every number with its formula, curves over the context, matrices."""

from dataclasses import dataclass

from whybox.report.document import FormulaRow, Lang, SizeDocument
from whybox.report.html.page import Bundle, Table, page
from whybox.report.size_chart import Place, charts
from whybox.report.size_lines import SECTIONS, asked, cell, columns, headline, made_of, rows_of, verdict
from whybox.report.words import say

BUNDLE = Bundle(("theme.js", "copy.js", "comparison.js"), ("base.css", "why.css", "run.css", "size.css"))
MOST_MATRICES, MOST_NOTES = 60, 40


@dataclass(frozen=True)
class Section:
    """A part of the page: its figures as (name, value, formula)."""

    name: str
    rows: list[tuple[str, str, FormulaRow]]
    missing: str | None


def size_page(document: SizeDocument, lang: Lang) -> str:
    """One self-contained HTML file, as every page here."""
    missing = {"fit": document.fit_reason, "roofline": document.roofline_reason}
    sections = [Section(name, rows_of(document, name, lang), missing.get(name)) for name, _ in SECTIONS]
    shown = columns(document)
    return page(
        "size.html.jinja",
        lang,
        tables=[_curve_table(document, lang), _matrix_table(document, lang)],
        data={"document": document.model_dump(mode="json", by_alias=True)},
        bundle=BUNDLE,
        doc=document,
        headline=headline(document, lang),
        verdict=verdict(document, lang),
        made_of=made_of(document, lang),
        asked=asked(document, lang),
        sections=sections,
        charts=charts(document, lang),
        points=_points,
        columns=[say(f"size.column.{name}", lang) for name in shown],
        curve=[
            (point.context == document.load.context, [cell(point, name) for name in shown]) for point in document.curve
        ],
        types=document.weights.types,
        limits=document.roofline,
        notes=document.notes[:MOST_NOTES],
        whole=lambda value: f"{value:,}",
    )


def _points(places: tuple[Place, ...]) -> str:
    """Of a polygon in a box of 100 by 100, y downwards."""
    return " ".join(f"{100 * x:.3f},{100 * (1 - y):.3f}" for x, y in places)


def _curve_table(document: SizeDocument, lang: Lang) -> Table:
    """Exact, for copies."""
    names = ["context", "kv_bytes", "total_bytes", "decode_flops", "prefill_flops", "scores_bytes", "batch"]
    rows = [
        ["" if (value := getattr(point, name)) is None else str(value) for name in names] for point in document.curve
    ]
    return Table("curve", names, rows, 24)


def _matrix_table(document: SizeDocument, lang: Lang) -> Table:
    names = ("matrix", "shape", "layers", "copies", "used", "parameters")
    rows = [
        [
            row.name,
            f"{row.shape[0]:,} × {row.shape[1]:,}",
            *map(str, (row.layers, row.copies, row.used)),
            f"{row.parameters:,}",
        ]
        for row in document.matrices
    ]
    return Table("matrices", [say(f"size.column.{name}", lang) for name in names], rows, MOST_MATRICES)
