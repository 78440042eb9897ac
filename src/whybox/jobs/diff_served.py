"""`diff` with an endpoint: what text and log-probabilities tell, as the document of `diff`."""

import time

import numpy as np

from whybox.compare.comparison import Asked
from whybox.compare.harm import TIE
from whybox.compare.served import Served
from whybox.compare.serving import ServedComparison, compare_served
from whybox.compare.sides import Live
from whybox.jobs.diff_sides import side_row
from whybox.jobs.provenance import model_info
from whybox.report.document import Lang, ModelInfo
from whybox.report.document.base import obtained
from whybox.report.document.diff import (
    DiffDocument,
    HarmRow,
    NamedRow,
    PartingRow,
    RepeatsRow,
    RungRow,
    SuspectRow,
    UnsaidRow,
)
from whybox.statistics.intervals import Rate, clopper_pearson, wilson

NO_NUMBERS = "no log-probabilities behind the same tokens"


def diff_served(one: Live | Served, other: Served, asked: Asked, seed: int = 0, lang: Lang = "en") -> DiffDocument:
    """A model and an endpoint, or two endpoints. EndpointError for one that cannot be asked."""
    begun = time.perf_counter()
    found = compare_served(one, other, asked)
    return DiffDocument(
        schema=DiffDocument.identity(),
        lang=lang,
        model=model_info(one.model) if isinstance(one, Live) else _unseen(one),
        seed=seed,
        sides=(side_row(one), side_row(other)),
        verdict=found.verdict,
        same_experiment=found.reason is None,
        reason=found.reason,
        ladder=tuple(RungRow(check=r.check, state=r.state, detail=r.detail) for r in found.rungs),
        texts=tuple(text.name for text in found.texts),
        floor=float(np.median(found.limits)) if len(found.limits) else None,
        floor_reason=None if len(found.limits) else NO_NUMBERS,
        first=_first(found),
        profile=None,
        suspects=tuple(
            SuspectRow(
                name=name,
                what=what,
                piece="whole model",
                **obtained("NaN or Inf with it", undone_error=left),
                named=_is(found, what),
            )
            for name, what, left in found.tried
        ),
        named=() if found.named is None else (NamedRow(name=found.named[0], what=found.named[1]),),
        harm=_harm(found),
        harm_reason=None if found.places or found.flips.n else NO_NUMBERS,
        unsaid=tuple(UnsaidRow(what=what, why=why) for what, why in found.unsaid),
        repeats=_repeats(found),
        explained_by=found.precision,
        rivals=found.rivals,
        took_s=time.perf_counter() - begun,
    )


def _unseen(side: Served) -> ModelInfo:
    """Weights that nobody here has seen."""
    identity = side.target.identity
    return ModelInfo(
        name=side.name,
        family="not told",
        digest=identity.digest,
        engine=identity.kind,
        precision=side.precision,
        kernel="not told",
    )


def _is(found: ServedComparison, what: str) -> bool:
    return found.named is not None and found.named[1] == what


def _first(found: ServedComparison) -> PartingRow | None:
    """The first place, in the order of the texts, that is beyond what is allowed there."""
    beyond = np.flatnonzero(found.errors > found.limits)
    if not beyond.size:
        return None
    at = int(beyond[0])
    place = found.places[at]
    return PartingRow(
        site="logits",
        layer=None,
        position=place.position,
        error=float(found.errors[at]),
        allowed=float(found.limits[at]),
        text=place.text,
    )


def _harm(found: ServedComparison) -> HarmRow | None:
    if not found.places and not found.flips.n:
        return None
    kls = np.array([place.kl for place in found.places])
    known = [place for place in found.places if None not in place.top]
    turned = [place for place in known if place.top[0] != place.top[1]]
    same = Rate(len(known) - len(turned), len(known))
    rounding = float(np.median(found.limits)) if len(found.limits) else 0.0
    bounds = np.array([place.variation for place in found.places])
    return HarmRow(
        positions=len(kls),
        **obtained(
            NO_NUMBERS,
            kl_mean=float(kls.mean()) if len(kls) else None,
            kl_p999=float(np.quantile(kls, 0.999)) if len(kls) else None,
            variation=(float(bounds[:, 0].mean()), float(bounds[:, 1].mean())) if len(kls) else None,
            moved=max((place.moved for place in found.places), default=None),
        ),
        kl_is="at least",
        **obtained("the most probable token is not known", same_top=same.share, same_top_interval=wilson(same)),
        ties=sum(place.gap <= TIE * rounding for place in turned) if rounding else 0,
        **obtained(
            "no token is known to be turned",
            widest_turned=max(place.gap for place in turned) / rounding if turned and rounding else None,
        ),
        **obtained(
            "no text parts" if found.flips.n else "no text was written on", first_divergent_token=found.first_divergent
        ),
        **obtained(
            "no text was written on",
            flips=found.flips.hits,
            prompts=found.flips.n,
            flips_interval=wilson(found.flips),
        ),
    )


def _repeats(found: ServedComparison) -> RepeatsRow:
    bounds = clopper_pearson(found.unsteady)
    calls = found.unsteady.n
    below = 1.0 if bounds is None else bounds[1]
    return RepeatsRow(moved=found.noise, texts_differ=found.unsteady.hits, calls=calls, below=below)
