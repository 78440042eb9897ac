"""The page of two runs compared: verdict, differences as intervals, settings, items answered otherwise."""

from whybox.report.comparison_words import COMPARISONS
from whybox.report.document import ComparisonDocument, Lang
from whybox.report.html.figures import Span, span
from whybox.report.html.page import Bundle, page
from whybox.report.html.run_figures import in_points
from whybox.report.html.scale import scale_over
from whybox.report.run_names import detail, word
from whybox.report.text_comparison import MARKS, comparison_head, difference, sides
from whybox.report.visible import shortened

BUNDLE = Bundle(("theme.js", "copy.js", "comparison.js"), ("base.css", "why.css", "run.css"))
MOST_ROWS, MOST_CHANGED, MOST_SETTINGS, MOST_TEXT = 60, 60, 60, 4_000
STATES = {"worse": "fail", "better": "pass", "same": "pass", "alike": "pass", "open": "inconclusive"}


def comparison_page(document: ComparisonDocument, lang: Lang) -> str:
    """One self-contained HTML file, as every page here."""
    every = (*document.probes, *document.rows)
    rows = every[:MOST_ROWS]
    scale = scale_over([bound for row in rows for bound in row.interval or ()], 2.0, 98.0)

    def whisker(index: int) -> Span | None:
        interval = rows[index].interval
        return None if interval is None else span(scale, *interval)

    return page(
        "comparison.html.jinja",
        lang,
        tables=[],
        data={"document": document.model_dump(mode="json", by_alias=True)},
        bundle=BUNDLE,
        doc=document,
        headline=comparison_head(document, lang),
        sides=sides(document, lang),
        rows=rows,
        whiskers=[whisker(i) for i in range(len(rows))],
        dots=[None if row.difference is None else scale.at(row.difference) for row in rows],
        zero=scale.at(0.0),
        ticks=in_points(scale),
        told=lambda row: difference(row, lang),
        word=lambda shown: COMPARISONS["cmp.equal" if shown == "same" else f"cmp.{shown}"][lang == "zh"],
        marks=MARKS,
        states=STATES,
        settings=document.settings[:MOST_SETTINGS],
        changed=document.changed[:MOST_CHANGED],
        changed_more=max(0, len(document.changed) - MOST_CHANGED) + document.changed_more,
        rows_more=len(every) - len(rows),
        word_of=lambda name: word(name, lang),
        detail=lambda value: detail(value, lang),
        short=lambda text: shortened(text, MOST_TEXT),
    )
