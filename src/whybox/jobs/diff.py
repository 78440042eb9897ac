"""`diff`: two sides → what was found as a document."""

import time
from collections.abc import Sequence

import numpy as np

from whybox.compare.coded import moved_by_codes
from whybox.compare.comparison import Asked, Comparison, compare
from whybox.compare.harm import Harm
from whybox.compare.naming import Tried
from whybox.compare.profile import Profile
from whybox.compare.recorded import Recorded
from whybox.compare.served import Served
from whybox.compare.sides import Computed, Live, Side
from whybox.errors import UsageError
from whybox.jobs.diff_served import diff_served
from whybox.jobs.diff_sides import side_row
from whybox.jobs.provenance import model_info
from whybox.report.document import Lang
from whybox.report.document.base import obtained
from whybox.report.document.diff import (
    DiffDocument,
    HarmRow,
    HeldRow,
    LeftRow,
    NamedRow,
    OverflowRow,
    PartingRow,
    ProfileRow,
    RungRow,
    SuspectRow,
    UndoneRow,
    UnsaidRow,
)
from whybox.statistics.intervals import wilson

EXCHANGED = (("the order of the sides", "the first one has NaN or Inf, and stands second"),)
NOT_FINITE = "NaN or Inf on one side"
FAILING = ("named", "part-named", "not-determined", "unlike")


def diff(ours: Side, theirs: Side, asked: Asked, seed: int = 0, lang: Lang = "en") -> DiffDocument:
    """The comparison, told. UsageError for weights that have nothing to do with each other, EndpointError for an
    endpoint that cannot be asked.
    """
    match ours, theirs:
        case Live(), Live() | Recorded():
            return _computed(ours, theirs, asked, seed, lang)
        case Live() | Served(), Served():
            return diff_served(ours, theirs, asked, seed, lang)
        case Served(), Live():
            return diff_served(theirs, ours, asked, seed, lang)
        case _:
            first = ours.name if isinstance(ours, Recorded) else theirs.name
            raise UsageError(f"{first} is a recording: it cannot be run", "put the model first, the recording second")


def _computed(ours: Live, theirs: Computed, asked: Asked, seed: int, lang: Lang) -> DiffDocument:
    begun = time.perf_counter()
    found = compare(ours, theirs, asked)
    sides = side_row(ours), side_row(theirs)
    return DiffDocument(
        schema=DiffDocument.identity(),
        lang=lang,
        model=model_info(ours.model),
        seed=seed,
        sides=sides[::-1] if found.exchanged else sides,
        verdict=found.verdict,
        same_experiment=found.reason is None,
        reason=found.reason,
        ladder=tuple(RungRow(check=r.check, state=r.state, detail=r.detail) for r in found.rungs),
        texts=tuple(text.name for text in found.texts),
        floor=_finite(found.floor),
        floor_reason=None if _finite(found.floor) is not None else "no logits on both sides",
        first=_first(found),
        profile=None if found.profile is None else _profile(found.profile),
        suspects=_suspects(found.tried),
        named=_named(found),
        overflow=_overflow(found),
        undone=_undone(found),
        left=tuple(
            LeftRow(piece=piece, site=at.site, layer=at.layer, position=at.position) for piece, at in found.left
        ),
        harm=None if found.harm is None else _harm(found.harm),
        harm_reason=None if found.harm is not None else "no logits on both sides",
        held=tuple(HeldRow(precision=p, error=e) for p, e in moved_by_codes(ours, theirs).items()),
        missing_sites=found.missing,
        windows_not_reached=found.unreached,
        unsaid=tuple(UnsaidRow(what=what, why=why) for what, why in (*found.unsaid, *EXCHANGED[: found.exchanged])),
        took_s=time.perf_counter() - begun,
    )


def _first(found: Comparison) -> PartingRow | None:
    at = found.first
    if at is None:
        return None
    return PartingRow(
        site=at.site,
        layer=at.layer,
        position=at.position,
        **obtained(NOT_FINITE, error=at.error, allowed=at.allowed),
        text=found.first_text or "",
        heads=found.heads,
        channels=found.channels,
    )


def _profile(found: Profile) -> ProfileRow:
    rows = tuple(_finite(float(value)) for value in found.by_position)
    return ProfileRow(
        shape=found.shape,
        **obtained("no position is beyond the floor", first=found.first),
        site=found.site,
        by_position=rows,
        by_layer=found.by_layer,
    )


def _suspects(tried: Sequence[Tried]) -> tuple[SuspectRow, ...]:
    """Each once, the nearest to the floor first."""
    best: dict[str, Tried] = {}
    for each in tried:
        known = best.get(each.fault.what)
        if known is None or (each.named, -each.left) > (known.named, -known.left):
            best[each.fault.what] = each
    ordered = sorted(best.values(), key=lambda each: (not each.named, each.left))
    return tuple(
        SuspectRow(
            name=each.fault.name,
            what=each.fault.what,
            piece=each.piece,
            **obtained(NOT_FINITE, undone_error=each.left),
            named=each.named,
        )
        for each in ordered
    )


def _named(found: Comparison) -> tuple[NamedRow, ...]:
    over = found.overflow
    if over is not None and over.explained:
        where = over.site if over.layer is None else f"{over.site} of layer {over.layer}"
        what = f"{where} reaches {over.value:,.0f} at token {over.position}, beyond 65,504"
        return (NamedRow(name="fp16-overflow", what=what),)
    return tuple(NamedRow(name=n.fault.name, what=n.fault.what, layers=n.layers) for n in found.named)


def _overflow(found: Comparison) -> OverflowRow | None:
    over = found.overflow
    if over is None:
        return None
    return OverflowRow(
        site=over.site, layer=over.layer, position=over.position, **obtained(NOT_FINITE, value=over.value)
    )


def _undone(found: Comparison) -> UndoneRow | None:
    done = found.undone
    if done is None:
        return None
    return UndoneRow(**obtained(NOT_FINITE, error=done.error, allowed=done.allowed), at_floor=done.at_floor)


def _harm(found: Harm) -> HarmRow:
    flips = found.flips
    return HarmRow(
        positions=found.positions,
        **obtained(NOT_FINITE, kl_mean=found.kl_mean, kl_p999=found.kl_p999, moved=found.moved),
        **obtained("KL is exact: it needs no bounds", variation=None),
        **obtained("no position was compared", same_top=found.same_top.share, same_top_interval=wilson(found.same_top)),
        ties=found.ties,
        **obtained("no token was turned beyond rounding's reach", widest_turned=found.widest),
        **obtained(
            "no text was written on" if flips is None else "no text parts", first_divergent_token=found.first_divergent
        ),
        **obtained(
            "no text was written on",
            flips=None if flips is None else flips.hits,
            prompts=None if flips is None else flips.n,
            flips_interval=found.flipped,
        ),
    )


def _finite(value: float | None) -> float | None:
    return value if value is not None and np.isfinite(value) else None
