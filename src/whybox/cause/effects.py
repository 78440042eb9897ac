"""Effects of segments, keys and heads on the metric at the decision, with matched nulls."""

from collections.abc import Sequence
from dataclasses import dataclass

from whybox.cause.answers import Asked, read
from whybox.cause.bench import Bench
from whybox.cause.decision import Decision, Reading, decision_after
from whybox.cause.parts import without
from whybox.cause.spans import Edge, Stretch, other_spans
from whybox.engine.edit import Edit, cut
from whybox.errors import PromptError, SiteError, UnsupportedError
from whybox.statistics.ranks import NullBand, null_band
from whybox.text.prompt import SegmentKind


@dataclass(frozen=True)
class Unknown:
    """An effect that was not obtained, and why."""

    reason: str


Effect = Reading | Unknown


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


def segment_effects(bench: Bench, base: Base, stretch: Stretch) -> SegmentEffects:
    """Direct, total and removed effect of one segment, and the null of the direct one."""
    direct = _cut_from(bench, base, stretch.keys)
    null = _null(bench, base, stretch, direct)
    return SegmentEffects(stretch.name, direct, _total(bench, base, stretch), _removed(bench, base, stretch), null)


def key_effects(bench: Bench, base: Base) -> list[float]:
    """LD effect of cutting decision → key, for every key before the decision row."""
    found = [_cut_from(bench, base, (key,)) for key in range(base.decision.row)]
    return [effect.ld if isinstance(effect, Reading) else 0.0 for effect in found]


def head_effects(bench: Bench, base: Base, keys: Sequence[int]) -> dict[tuple[int, int], float]:
    """LD effect of cutting one head's edge decision → keys, for every (layer, head)."""
    layers = bench.model.spec.layers
    return {
        (layer, head): _change(bench, base, [Edge("cut", tuple(keys), (layer,), (head,)).from_row(base.decision.row)])
        for layer in range(len(layers))
        for head in range(layers[layer].attention.heads)
    }


def _cut_from(bench: Bench, base: Base, keys: Sequence[int]) -> Effect:
    return _effect(bench, base, [Edge("cut", tuple(keys)).from_row(base.decision.row)])


def _total(bench: Bench, base: Base, stretch: Stretch) -> Effect:
    """Each range of the segment is hidden from all positions behind it."""
    if stretch.ranges[-1].stop > base.decision.row:
        return Unknown("no position lies after it")
    return _effect(bench, base, [cut(q=slice(piece.stop, None), k=piece) for piece in stretch.ranges])


def _removed(bench: Bench, base: Base, stretch: Stretch) -> Effect:
    """The metric behind the same prefix, in the prompt rendered anew without the part. Positions shift."""
    if stretch.kind is not SegmentKind.PART:
        return Unknown("not a part of the case")
    if len(base.asked.case.parts) < 2:
        return Unknown("nothing would be left of the prompt")
    try:
        other = base.asked.rendered(bench.model, without(base.asked.case, (stretch.name,)))
        known = base.decision
        moved = decision_after(bench.model, other.prompt, known.prefix, other.right, other.wrong, "forced")
    except (PromptError, UnsupportedError) as error:
        return Unknown(f"the prompt cannot be rendered without it: {error.cause}")
    return read(bench, other, moved).less(base.reading)


def _effect(bench: Bench, base: Base, edits: Sequence[Edit]) -> Effect:
    try:
        return read(bench, base.asked, base.decision, edits).less(base.reading)
    except SiteError as error:
        return Unknown(error.cause)


def _change(bench: Bench, base: Base, edits: Sequence[Edit]) -> float:
    found = _effect(bench, base, edits)
    return found.ld if isinstance(found, Reading) else 0.0


def _null_spans(stretch: Stretch, base: Base) -> list[range]:
    if stretch.span is None or stretch.kind is not SegmentKind.PART:
        return []
    return other_spans(len(stretch.keys), stretch.keys, len(base.asked.prompt.ids))


def _null(bench: Bench, base: Base, stretch: Stretch, direct: Effect) -> NullBand | Unknown:
    if isinstance(direct, Unknown):
        return direct
    if stretch.span is None:
        return Unknown("it lies in several places: no single span matches it")
    if stretch.kind is not SegmentKind.PART:
        return Unknown("only parts of the case are compared with other spans")
    drawn = [_cut_from(bench, base, tuple(span)) for span in _null_spans(stretch, base)]
    band = null_band(direct.ld, [effect.ld for effect in drawn if isinstance(effect, Reading)])
    return band if band is not None else Unknown("no other span of this length")
