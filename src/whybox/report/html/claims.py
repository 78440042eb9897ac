"""The page of the ledger of claims: the totals, each claim beside what is right, every number with its bounds."""

from whybox.report.claims_lines import ERRATUM, broken, headline, legend, status, verdict
from whybox.report.document import ClaimsDocument, Lang
from whybox.report.html.page import Bundle, Table, page
from whybox.report.numbers import exact
from whybox.report.words import say

BUNDLE = Bundle(("theme.js", "copy.js", "comparison.js"), ("base.css", "why.css", "run.css"))
STATES = {"right": "pass", "imprecise": "inconclusive", "wrong": "fail"}
MOST_NUMBERS = 120


def claims_page(document: ClaimsDocument, lang: Lang) -> str:
    """One self-contained HTML file, as every page here."""
    return page(
        "claims.html.jinja",
        lang,
        tables=[_numbers(document, lang)],
        data={"document": document.model_dump(mode="json", by_alias=True)},
        bundle=BUNDLE,
        doc=document,
        headline=headline(document, lang),
        verdict=verdict(document, lang),
        legend=legend(document, lang),
        claims=[(claim, STATES[claim.status], status(claim, lang), broken(claim, lang)) for claim in document.claims],
        erratum=ERRATUM,
    )


def _numbers(document: ClaimsDocument, lang: Lang) -> Table:
    names = ("claim", "name", "value", "expected", "stated")
    rows = [
        [
            claim.id,
            number.name,
            " ".join(map(exact, number.value)),
            " ".join(f"{exact(low)}…{exact(high)}" for low, high in number.expected),
            " ".join(number.stated),
        ]
        for claim in document.claims
        for number in claim.numbers
    ]
    return Table("numbers", [say(f"claims.column.{name}", lang) for name in names], rows, MOST_NUMBERS)
