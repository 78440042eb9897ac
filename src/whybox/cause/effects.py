"""Effects of segments, keys and heads on the metric at the decision, with matched nulls."""

from collections.abc import Sequence
from dataclasses import dataclass

from whybox.cause.answers import Asked, read
from whybox.cause.asking import Experiment, together
from whybox.cause.decision import Decision, Reading, moved_to
from whybox.cause.parts import without
from whybox.cause.spans import Edge, Stretch, other_spans
from whybox.engine.edit import Edit, cut
from whybox.errors import PromptError, SiteError, UnsupportedError
from whybox.model import Model
from whybox.statistics.ranks import NullBand, null_band
from whybox.statistics.unknown import Unknown as Unknown
from whybox.text.prompt import SegmentKind

Effect = Reading | Unknown
NOTHING_AFTER = Unknown("it reaches up to the decision: no position lies after all of it")  # so there is no total


@dataclass(frozen=True)
class SegmentEffects:
    """direct: edges decision → segment cut. total: edges from every later position cut. removed: rendered without it.

    null: direct effects of other spans of the same length; a text where there is none.
    """

    name: str
    direct: Effect
    total: Effect
    removed: Effect
    null: NullBand | Unknown


@dataclass(frozen=True)
class Base:
    """What effects are measured against."""

    asked: Asked
    decision: Decision
    reading: Reading


async def segment_effects(model: Model, base: Base, stretch: Stretch) -> SegmentEffects:
    """Direct, total and removed effect of one segment, and the null of the direct one."""
    spans = [_cut_from(base, tuple(span)) for span in _null_spans(stretch, base)]
    direct, total, removed, *drawn = await together(
        [_cut_from(base, stretch.keys), _total(base, stretch), _removed(model, base, stretch), *spans]
    )
    return SegmentEffects(stretch.name, direct, total, removed, _null(stretch, direct, drawn))


async def key_effects(base: Base) -> list[float]:
    """LD effect of cutting decision → key, for every key before the decision row."""
    return await together([_change(_cut_from(base, (key,))) for key in range(base.decision.row)])


async def head_effects(model: Model, base: Base, keys: Sequence[int]) -> dict[tuple[int, int], float]:
    """LD effect of cutting one head's edge decision → keys, for every (layer, head)."""
    heads = [(layer, head) for layer, one in enumerate(model.spec.layers) for head in range(one.attention.heads)]
    edges = [Edge("cut", tuple(keys), (layer,), (head,)) for layer, head in heads]
    found = await together([_change(_effect(base, [edge.from_row(base.decision.row)])) for edge in edges])
    return dict(zip(heads, found, strict=True))


def _cut_from(base: Base, keys: Sequence[int]) -> Experiment[Effect]:
    return _effect(base, [Edge("cut", tuple(keys)).from_row(base.decision.row)])


async def _total(base: Base, stretch: Stretch) -> Effect:
    """Each range of the segment is hidden from all positions behind it."""
    if stretch.ranges[-1].stop > base.decision.row:
        return NOTHING_AFTER
    return await _effect(base, [cut(q=slice(piece.stop, None), k=piece) for piece in stretch.ranges])


async def _removed(model: Model, base: Base, stretch: Stretch) -> Effect:
    """The metric behind the same prefix, in the prompt rendered anew without the part. Positions shift."""
    if stretch.kind is not SegmentKind.PART:
        return Unknown("not a part of the case")
    if len(base.asked.case.parts) < 2:
        return Unknown("nothing would be left of the prompt")
    try:
        other = base.asked.rendered(model, without(base.asked.case, (stretch.name,)))
        moved = moved_to(model, other.prompt, base.decision)
    except (PromptError, UnsupportedError) as error:
        return Unknown(f"the prompt cannot be rendered without it: {error.cause}")
    return (await read(other, moved)).less(base.reading)


async def _effect(base: Base, edits: Sequence[Edit]) -> Effect:
    try:
        return (await read(base.asked, base.decision, edits)).less(base.reading)
    except SiteError as error:
        return Unknown(error.cause)


async def _change(effect: Experiment[Effect]) -> float:
    found = await effect
    return found.ld if isinstance(found, Reading) else 0.0


def _null_spans(stretch: Stretch, base: Base) -> list[range]:
    if stretch.span is None or stretch.kind is not SegmentKind.PART:
        return []
    return other_spans(len(stretch.keys), stretch.keys, len(base.asked.prompt.ids))


def _null(stretch: Stretch, direct: Effect, drawn: Sequence[Effect]) -> NullBand | Unknown:
    if isinstance(direct, Unknown):
        return direct
    if stretch.span is None:
        return Unknown("it lies in several places: no single span matches it")
    if stretch.kind is not SegmentKind.PART:
        return Unknown("only parts of the case are compared with other spans")
    band = null_band(direct.ld, [effect.ld for effect in drawn if isinstance(effect, Reading)])
    return band if band is not None else Unknown("no other span of this length")
