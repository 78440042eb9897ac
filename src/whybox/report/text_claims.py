"""The ledger of claims on a terminal: the totals first, then each claim with what is right, last how to read it."""

from rich.console import Console
from rich.text import Text

from whybox.report.claims_lines import ERRATUM, broken, headline, legend, status, verdict
from whybox.report.document import ClaimRow, ClaimsDocument, Lang
from whybox.report.terminal import heading, model_line, plain_table
from whybox.report.words import say

STYLES = {"right": "blue", "imprecise": "", "wrong": "yellow"}


def render_claims(document: ClaimsDocument, console: Console, lang: Lang) -> None:
    """Two columns: which claim and its status; what it says, what is right, why."""
    if document.runs:
        console.print(model_line(document))
    heading(console, headline(document, lang))
    console.print(Text(verdict(document, lang), style="bold yellow" if document.broken else ""))
    console.print()
    table = plain_table(console)
    table.show_header = False
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for claim in document.claims:
        table.add_row(_name(claim, lang), _said(claim, lang))
        table.add_row("", "")
    console.print(table)
    for line in legend(document, lang):
        console.print(Text(line, style="dim"))


def _name(claim: ClaimRow, lang: Lang) -> Text:
    name = f"{claim.id} {ERRATUM}" if claim.erratum else claim.id
    return Text.assemble((name, "bold"), "\n", (status(claim, lang), STYLES[claim.status]), "\n", _where(claim))


def _where(claim: ClaimRow) -> Text:
    return Text("\n".join(claim.where), style="dim")


def _said(claim: ClaimRow, lang: Lang) -> Text:
    parts = Text.assemble((f"{say('claims.stated', lang)}: ", "dim"), claim.stated)
    parts.append_text(Text.assemble("\n", (f"{say('claims.right', lang)}: ", "dim"), claim.right))
    parts.append_text(Text.assemble("\n", (f"{say('claims.why', lang)}: ", "dim"), claim.why))
    if (fault := broken(claim, lang)) is not None:
        parts.append_text(Text.assemble("\n", (fault, "bold yellow")))
    return parts
