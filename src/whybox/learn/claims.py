"""`learn --claims`: every claim of the documents recomputed, as a document."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Literal

from whybox.jobs.provenance import model_info
from whybox.learn.ground import Ground
from whybox.learn.ledger import Lang, shipped
from whybox.learn.recompute import Entry, Number, Tell, planned_runs, recompute
from whybox.model import Model
from whybox.report.claims_lines import ONCE
from whybox.report.document import ClaimNumber, ClaimRow, ClaimsDocument, ClaimTotals, ModelInfo
from whybox.report.words import say

NO_MODEL = ModelInfo(name="none", family="none", digest="", engine="numpy", precision="fp64", kernel="parts")
JOINED = {"en": " / ", "zh": "、"}


def _nobody(_done: int, _planned: int) -> None:
    pass


def planned(ids: Sequence[str]) -> int:
    """How many runs of the model these claims take; 0 where none needs it. UsageError for an id that is not there."""
    return planned_runs(shipped().chosen(ids))


def claims(ids: Sequence[str], lang: Lang, open_model: Callable[[], Model], tell: Tell = _nobody) -> ClaimsDocument:
    """Those of these ids, or all. open_model: called once where a claim rests on the default model. tell: runs, of all.

    UsageError for an id that is not there.
    """
    begun, chosen = time.perf_counter(), shipped().chosen(ids)
    ground = Ground(open_model)
    entries = recompute(chosen, ground, tell)
    numbers = [number for entry in entries for number in entry.numbers]
    counted = Counter(claim.status for claim in chosen)
    return ClaimsDocument(
        schema=ClaimsDocument.identity(),
        lang=lang,
        model=NO_MODEL if ground.opened is None else model_info(ground.opened),
        seed=0,
        took_s=time.perf_counter() - begun,
        claims=tuple(_row(entry, lang) for entry in entries),
        totals=ClaimTotals(right=counted["right"], imprecise=counted["imprecise"], wrong=counted["wrong"]),
        computed=sum(number.found is not None for number in numbers),
        numbers=len(numbers),
        runs=planned_runs(chosen),
        broken=tuple(entry.claim.id for entry in entries if not entry.holds),
    )


def _row(entry: Entry, lang: Lang) -> ClaimRow:
    claim, blanks = entry.claim, {number.name: _blank(number, lang) for number in entry.numbers}
    return ClaimRow(
        id=claim.id,
        where=claim.where,
        status=claim.status,
        erratum=claim.erratum,
        stated=claim.stated.of(lang),
        right=claim.right.of(lang).format_map(blanks),
        why=claim.why.of(lang).format_map(blanks),
        basis=_basis(entry),
        holds=entry.holds,
        numbers=tuple(_number(number, lang) for number in entry.numbers),
    )


def _blank(number: Number, lang: Lang) -> str:
    """What fills the blank of a sentence; marked where it was not computed now."""
    written = JOINED[lang].join(number.shown)
    return written if number.found is not None else written + ONCE


def _basis(entry: Entry) -> Literal["computed", "once", "reading"]:
    if not entry.numbers:
        return "reading"
    return "computed" if any(number.found is not None for number in entry.numbers) else "once"


def _number(number: Number, lang: Lang) -> ClaimNumber:
    places = range(len(number.rest.expected or number.found or ()))
    return ClaimNumber(
        name=number.name,
        figure=number.rest.figure,
        value=number.found or (),
        value_reason=None if number.found is not None else say(f"claims.once.{number.rest.once}", lang),
        shown=number.shown,
        expected=tuple(number.rest.bounds(place) for place in places),
        stated=tuple(printed.text for printed in number.rest.stated),
        agrees=number.agrees,
        fits=number.fits,
    )
