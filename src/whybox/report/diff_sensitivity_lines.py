"""What is said of a sensitivity: the advice, what it rests on, and the rows of its tables."""

from collections.abc import Iterator, Sequence

from whybox.report.document import Lang
from whybox.report.document.diff import RestoredRow, SensitivityDocument
from whybox.report.numbers import interval, number, percent
from whybox.report.words import say

MOST_TENSORS = 12
COLUMNS = ("restored", "gain", "interval", "left", "share", "more")


def advice(document: SensitivityDocument, lang: Lang) -> str:
    """Keep these, with numbers; or that nothing measured is enough."""
    keep = document.keep
    if keep is None:
        return say("sens.no.advice", lang, kl=number(document.kl))
    values = {"name": named(keep, lang), "before": number(document.kl), "after": number(keep.kl)}
    return say("sens.advice", lang, more=more(keep, document, lang), **values)


def notes(document: SensitivityDocument, lang: Lang) -> Iterator[str]:
    """What was measured, on what, and how sure."""
    bounds = "" if document.interval is None else " " + interval(document.interval)
    counted = {"positions": document.positions, "texts": len(document.texts), "runs": document.runs}
    yield say("sens.base", lang, kl=number(document.kl) + bounds, blocks=document.blocks, **counted)
    yield say("sens.as_run", lang, kl=number(document.as_run))
    yield say("sens.floor", lang, floor=number(document.floor))


def named(row: RestoredRow, lang: Lang) -> str:
    """A unit by its name; one kind of matrix says that it is meant everywhere."""
    return say("sens.role", lang, name=row.name) if row.kind == "role" else row.name


def more(row: RestoredRow, document: SensitivityDocument, lang: Lang) -> str:
    """Bytes more in 16 bits, and their share of the quantised weights; parameters where no bytes are known."""
    if row.bytes_more is None or not document.bytes_held:
        return say("sens.parameters", lang, n=f"{row.parameters:,}")
    return f"{number(row.bytes_more / 1e6)} MB ({percent(row.bytes_more / document.bytes_held)})"


def groups(document: SensitivityDocument) -> Iterator[tuple[str, Sequence[RestoredRow]]]:
    """Parts in their order; kinds of matrix, tensors and sets, the largest gain first."""
    yield "part", [row for row in document.units if row.kind == "part"]
    for title, kind in (("kinds", "role"), ("tensor", "tensor")):
        yield title, sorted((row for row in document.units if row.kind == kind), key=lambda row: -row.gain)
    yield "sets", document.sets


def cells(row: RestoredRow, document: SensitivityDocument, lang: Lang) -> tuple[str, ...]:
    """Of one row, in the order of COLUMNS. A gain below the floor is no gain."""
    small = abs(row.gain) <= document.floor
    gain = say("sens.zero", lang) if small else number(row.gain)
    bounds = "" if row.interval is None else interval(row.interval)
    share = percent(min(1.0, max(0.0, row.gain / document.kl))) if document.kl else ""
    return named(row, lang), gain, bounds, number(row.kl), share, more(row, document, lang)
