"""The ids that a target really reads for a case, with those of each named part; None where it does not reveal them."""

from collections.abc import Callable, Iterator
from functools import partial

from whybox.items.generate import Encoded
from whybox.items.instance import CaseInstance
from whybox.model import Model
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.text import ids_of, split
from whybox.targets.local import LocalTarget
from whybox.targets.target import Target
from whybox.text.prompt import Part, SegmentKind

Encoder = Callable[[CaseInstance], Encoded]


def encoder_of(target: Target) -> Encoder | None:
    """How a target encodes a case: models of this machine and bots say so, endpoints do not."""
    match target:
        case LocalTarget():
            return partial(_local, target.model)
        case BotTarget():
            return _bot
        case _:
            return None


def _local(model: Model, case: CaseInstance) -> Encoded:
    prompt = model.prompt(case)
    parts = (segment for segment in prompt.segments if segment.kind is SegmentKind.PART)
    return Encoded(prompt.ids, {part.name: (part.start, part.end) for part in parts})


def _bot(case: CaseInstance) -> Encoded:
    """As `bots.text.rendered`, with the parts. A bot counts BOS as one token."""
    tokens: list[str] = []
    spans: dict[str, tuple[int, int]] = {}
    groups: list[tuple[str, tuple[Part, ...]]] = [(message.role, message.parts) for message in case.messages]
    groups = groups or [("", case.raw_parts)]
    for role, parts in groups:
        tokens += [f"<{role}>"] if role else []
        pieces = split(case.join.join(part.text for part in parts))
        ends = list(_ends(pieces))
        at = 0
        for part in parts:
            owned = [i for i, end in enumerate(ends) if at < end <= at + len(part.text)]
            spans[part.name] = (1 + len(tokens) + owned[0], 2 + len(tokens) + owned[-1]) if owned else (0, 0)
            at += len(part.text) + len(case.join)
        tokens += [*pieces, "</>"] if role else pieces
    tokens += ["<assistant>"] if case.messages else []
    return Encoded(ids_of(tokens, 1), spans)


def _ends(pieces: list[str]) -> Iterator[int]:
    at = 0
    for piece in pieces:
        at += len(piece)
        yield at
