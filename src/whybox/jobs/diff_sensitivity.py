"""`diff A B --sensitivity`: which parts of a quantised model to keep in higher precision, as a document."""

import time

from whybox.compare.comparison import Asked
from whybox.compare.prompts import default_texts
from whybox.compare.sensitivity import Restored, sensitivity
from whybox.compare.sides import Live, Side
from whybox.errors import UsageError
from whybox.jobs.diff_sides import side_row
from whybox.jobs.provenance import model_info
from whybox.report.document import Lang
from whybox.report.document.base import obtained
from whybox.report.document.diff import RestoredRow, SensitivityDocument

FEW_BLOCKS = "fewer than two blocks of positions, or all alike"
NO_BYTES = "how many bytes its weights take is not known"
NOTHING_ENOUGH = "nothing that was given back takes away half of it"


def diff_sensitivity(ours: Live, theirs: Side, asked: Asked, seed: int = 0, lang: Lang = "en") -> SensitivityDocument:
    """Every part given back alone. UsageError for a second side that is no quantisation of the first."""
    begun = time.perf_counter()
    if not isinstance(theirs, Live):
        raise UsageError(f"{theirs.name} holds no weights to give back", "whybox diff smollm2 @int4 --sensitivity")
    texts = asked.texts or tuple(default_texts(ours.model))
    found = sensitivity(ours, theirs, texts, asked.effort)
    return SensitivityDocument(
        schema=SensitivityDocument.identity(),
        lang=lang,
        model=model_info(ours.model),
        seed=seed,
        sides=(side_row(ours), side_row(theirs)),
        texts=tuple(text.name for text in texts),
        positions=found.positions,
        blocks=found.blocks,
        kl=found.kl,
        **obtained(FEW_BLOCKS, interval=found.interval),
        as_run=found.as_run,
        floor=found.floor,
        **obtained(NO_BYTES, bytes_held=found.bytes_held),
        units=tuple(map(_row, found.units)),
        sets=tuple(map(_row, found.sets)),
        keep=None if found.keep is None else _row(found.keep),
        keep_reason=NOTHING_ENOUGH if found.keep is None else None,
        runs=found.runs,
        took_s=time.perf_counter() - begun,
    )


def _row(found: Restored) -> RestoredRow:
    unit = found.unit
    return RestoredRow(
        kind=unit.kind,
        name=unit.name,
        parameters=unit.parameters,
        **obtained(NO_BYTES, bytes_more=unit.bytes_more),
        kl=found.kl,
        gain=found.gain,
        **obtained(FEW_BLOCKS, interval=found.interval),
    )
