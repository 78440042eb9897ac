"""The page of `diff`: the verdict, what was alike, where the runs part, why, and whether it matters."""

import math
from collections.abc import Sequence

from whybox.report.diff_scale import TICKS, height
from whybox.report.document import DiffDocument, Lang
from whybox.report.html.page import Bundle, Table, page
from whybox.report.numbers import exact
from whybox.report.reasons import reason
from whybox.report.text_diff import codes_line, harm, verdict_line, where, why
from whybox.report.words import say

BUNDLE = Bundle(("theme.js", "copy.js", "comparison.js"), ("base.css", "why.css", "run.css"))
MOST_POINTS = 1024
STATES = {"same": "pass", "different": "fail", "unknown": "skipped"}
CARDS = {
    "identical": "pass",
    "rounding": "pass",
    "within-repeats": "pass",
    "same-text": "pass",
    "not-determined": "inconclusive",
}


def diff_page(document: DiffDocument, lang: Lang) -> str:
    """One self-contained HTML file, as every page here."""
    profile = document.profile
    return page(
        "diff.html.jinja",
        lang,
        tables=[_suspects(document, lang), _positions(document, lang), _layers(document, lang)],
        data={"document": document.model_dump(mode="json", by_alias=True)},
        bundle=BUNDLE,
        doc=document,
        card=CARDS.get(document.verdict, "fail"),
        states=STATES,
        ladder=[(rung.check, rung.state, reason(rung.detail, lang)) for rung in document.ladder],
        headline=verdict_line(document, lang),
        codes=codes_line(document, lang),
        sides=" ↔ ".join(f"{side.name} ({side.precision})" for side in document.sides),
        where=list(where(document, lang)),
        why=list(why(document, lang)),
        harm=list(harm(document, lang)),
        by_position=_line(profile.by_position) if profile else "",
        by_layer=_line(profile.by_layer) if profile else "",
        ticks=_ticks(),
    )


def _line(values: Sequence[float | None]) -> str:
    """Points of a line in a box of 100 by 100, logarithms upwards; what was not compared is left out."""
    step = max(1, math.ceil(len(values) / MOST_POINTS))
    width = max(1, len(values) - 1)
    kept = ((place, value) for place, value in enumerate(values) if value is not None and place % step == 0)
    return " ".join(f"{100 * place / width:.3f},{100 * (1 - height(value)):.3f}" for place, value in kept)


def _ticks() -> list[tuple[float, str]]:
    return [(height(10.0**power), label) for power, label in TICKS]


def _suspects(document: DiffDocument, lang: Lang) -> Table:
    columns = [say(f"diff.{name}", lang) for name in ("suspect", "piece", "undone_error")]
    rows = [[each.what, each.piece, exact(each.undone_error)] for each in document.suspects]
    return Table("suspects", columns, rows, 24)


def _positions(document: DiffDocument, lang: Lang) -> Table:
    values = document.profile.by_position if document.profile else ()
    rows = [[str(place), exact(value)] for place, value in enumerate(values)]
    return Table("positions", [say("diff.position", lang), say("diff.error", lang)], rows)


def _layers(document: DiffDocument, lang: Lang) -> Table:
    values = document.profile.by_layer if document.profile else ()
    rows = [[str(place), exact(value)] for place, value in enumerate(values)]
    return Table("layers", [say("diff.layer", lang), say("diff.error", lang)], rows)
