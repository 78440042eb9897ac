"""The ledger of a study as the appendix of its document: stages, texts, and every run."""

from collections import Counter
from collections.abc import Iterator, Mapping

from whybox.cause.ledger import Entry, Ledger
from whybox.report import document as d
from whybox.text.tokenizer import Tokenizer

MOST_CHARACTERS = 2_000  # of one text
NO_NUMBER = "no single number was read"


def stage_rows(ledger: Ledger, announced: Mapping[str, int]) -> Iterator[d.StageRow]:
    """Every stage of the plan, in its order: announced at most, and made."""
    made = Counter(entry.stage for entry in ledger.entries)
    for name in dict.fromkeys((*announced, *made)):
        yield d.StageRow(name=name, announced=announced.get(name, 0), made=made[name])


def run_rows(ledger: Ledger) -> Iterator[d.RunRow]:
    """Every run in its order."""
    yield from map(_row, ledger.entries)


def _row(entry: Entry) -> d.RunRow:
    return d.RunRow(
        stage=entry.stage,
        kind=entry.kind,
        text=entry.text,
        what=entry.what,
        read=entry.read if entry.value is not None else "",
        value=entry.value,
        value_reason=None if entry.value is not None else NO_NUMBER,
        answer=entry.answer,
    )


def run_texts(ledger: Ledger, tokenizer: Tokenizer) -> Iterator[d.RunText]:
    """Each text that was run, cut where it is long."""
    for ids in ledger.texts:
        text = tokenizer.text(ids)
        left_out = max(len(text) - MOST_CHARACTERS, 0)
        yield d.RunText(tokens=len(ids), text=text[:MOST_CHARACTERS], left_out=left_out)
