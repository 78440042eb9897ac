"""What terminal and page say of the ledger of claims alike."""

from whybox.report.document import ClaimRow, ClaimsDocument, Lang
from whybox.report.words import say

MARKS = {"right": "✓", "imprecise": "≈", "wrong": "✗"}
ERRATUM, ONCE = "★", "†"


def headline(document: ClaimsDocument, lang: Lang) -> str:
    totals = document.totals
    counts = {"right": totals.right, "imprecise": totals.imprecise, "wrong": totals.wrong}
    return say("claims.head", lang, n=len(document.claims), **counts)


def verdict(document: ClaimsDocument, lang: Lang) -> str:
    """Whether the ledger still stands."""
    if document.broken:
        return say("claims.broken", lang, ids=", ".join(document.broken))
    return say("claims.holds", lang, computed=document.computed, once=document.numbers - document.computed)


def status(claim: ClaimRow, lang: Lang) -> str:
    """Mark and word: the colour never stands alone."""
    return f"{MARKS[claim.status]} {say(f'claims.status.{claim.status}', lang)}"


def broken(claim: ClaimRow, lang: Lang) -> str | None:
    """What no longer holds of one claim."""
    if claim.holds:
        return None
    names = [number.name for number in claim.numbers if number.fits is False]
    return say("claims.not_held", lang, names=", ".join(names)) if names else say("claims.status_not_held", lang)


def legend(document: ClaimsDocument, lang: Lang) -> list[str]:
    """The marks that occur, and where the claims come from."""
    lines = [say("claims.mark.status", lang)]
    if any(claim.erratum for claim in document.claims):
        lines.append(say("claims.mark.erratum", lang))
    reasons = dict.fromkeys(
        number.value_reason for claim in document.claims for number in claim.numbers if number.value_reason
    )
    if reasons:
        lines.append(say("claims.mark.once", lang, reasons=("；" if lang == "zh" else "; ").join(map(str, reasons))))
    return [*lines, say("claims.sources", lang)]
