"""The evidence hidden from all that follows it: as a control of other changes, and as an effect beside its null."""

from collections.abc import Sequence
from dataclasses import dataclass

from whybox.cause.answers import read
from whybox.cause.asking import together
from whybox.cause.bench import Work
from whybox.cause.effects import Base
from whybox.cause.null import FEWEST
from whybox.cause.spans import SHAMS, keys_of, other_spans
from whybox.engine.edit import Edit, cut
from whybox.statistics.ranks import NullBand, null_band
from whybox.text.prompt import Prompt

WORK = Work(reads=1 + SHAMS)


@dataclass(frozen=True)
class Hidden:
    """Total effect of the evidence on LD, and those of other spans of its length (None where there are too few)."""

    effect: float
    null: NullBand | None


def hide(prompt: Prompt, names: Sequence[str]) -> tuple[Edit, ...]:
    """No position behind a segment sees it; its ids and positions stay."""
    return tuple(hide_span(range(one.start, one.end)) for one in map(prompt.segment, names))


def hide_span(span: range) -> Edit:
    return cut(q=slice(span.stop, None), k=span)


async def hidden(base: Base, evidence: Sequence[str]) -> Hidden:
    """The evidence, and every other span as long as it, hidden from all later positions."""
    prompt = base.asked.prompt
    keys = keys_of(prompt, evidence)
    spans = other_spans(len(keys), keys, len(prompt.ids))
    edits = [hide(prompt, evidence), *((hide_span(span),) for span in spans)]
    own, *others = await together([read(base.asked, base.decision, each) for each in edits])
    drawn = [one.ld - base.reading.ld for one in others]
    effect = own.ld - base.reading.ld
    return Hidden(effect, null_band(effect, drawn) if len(drawn) >= FEWEST else None)
