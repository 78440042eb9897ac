"""What a study found about parts of the model and the context, as pieces of the document."""

from collections.abc import Iterator

from whybox.cause.ablation import Ablated
from whybox.cause.components import Component, Group, Head, Mlp, named
from whybox.cause.context import Attributed
from whybox.cause.effects import Unknown
from whybox.cause.full import Along, Context, FoundSet, Full, Gradients, repair_flags
from whybox.cause.knockout import SegmentKnockout
from whybox.cause.measured import Measured
from whybox.cause.null import Null
from whybox.cause.pairs import Pairs
from whybox.cause.repair import Repair, Repairs
from whybox.cause.screen import Screen, Screened
from whybox.cause.verification import Checked
from whybox.errors import UsageError
from whybox.report import document as d
from whybox.statistics.ranks import Correlation

_ONE = "one run"
_ALIKE = "all draws are alike"
_NO_PART = "an MLP has no heads"
NOT_RUN = "run with --effort full"
NO_SET = "no change of edges flips, and the parts were not ranked"


def parts_view(found: Screen) -> d.Parts:
    """The screen, strongest first."""
    return d.Parts(references=found.references, rows=tuple(map(_part, found.parts)))


def _part(part: Screened) -> d.PartRow:
    kind, layer, head = _place(part.component)
    return d.PartRow(
        name=str(part.component),
        kind=kind,
        layer=layer,
        head=head,
        head_reason=None if head is not None else _NO_PART,
        wrote=part.wrote if isinstance(part.wrote, float) else None,
        wrote_reason=_reason(part.wrote),
        zero=effect_of(part.zero),
        resample=effect_of(part.resample) if isinstance(part.resample, Measured) else None,
        resample_reason=_reason(part.resample),
        flags=part.flags,
    )


def _place(component: Component) -> tuple[d.PartKind, int, int | None]:
    match component:
        case Head(layer, head):
            return "head", layer, head
        case Mlp(layer):
            return "mlp", layer, None
        case _:
            raise UsageError(f"{component} is neither a head nor an MLP")


def effect_of(found: Measured) -> d.Effect:
    """An effect with its spread and null, or why there are none."""
    null, bounds = found.null, found.interval
    known = isinstance(null, Null)
    why_not = None if known else _reason(null)
    return d.Effect(
        value=found.value,
        changed=found.changed,
        n=found.n,
        sd=found.sd,
        sd_reason=None if found.sd is not None else _ONE,
        interval=bounds,
        interval_reason=None if bounds is not None else _ONE if found.sd is None else _ALIKE,
        draws=null.n if isinstance(null, Null) else 0,
        percentile=None if found.percentile is None else found.percentile / 100,
        percentile_reason=why_not,
        p=found.p,
        p_reason=why_not,
        smallest_p=null.smallest_p if isinstance(null, Null) else None,
        smallest_p_reason=why_not,
    )


def _reason(found: object) -> str | None:
    return found.reason if isinstance(found, Unknown) else None


def full_view(found: Full) -> d.Full:
    """Everything that full effort found, each piece or why it is missing."""
    sets = tuple(map(_set, found.sets))
    repairs = found.repairs
    return d.Full(
        where=found.where,
        ablations=() if isinstance(found.ablated, Unknown) else tuple(map(_ablation, found.ablated)),
        ablations_reason=_reason(found.ablated),
        repairs=() if isinstance(repairs, Unknown) else tuple(_repair(one, found) for one in repairs.parts),
        repairs_reason=_reason(repairs),
        joint=None if isinstance(repairs, Unknown) else _joint(repairs),
        joint_reason=_reason(repairs),
        pairs=() if isinstance(found.pairs, Unknown) else tuple(_pairs(found.pairs)),
        pairs_reason=_no_pairs(found.pairs),
        pairs_tried=0 if isinstance(found.pairs, Unknown) else found.pairs.tried,
        sets=sets,
        sets_reason=None if sets else NO_SET,
        context=None if isinstance(found.context, Unknown) else _context(found.context),
        context_reason=_reason(found.context),
        gradients=None if isinstance(found.gradients, Unknown) else _gradients(found.gradients),
        gradients_reason=_reason(found.gradients),
        segments=() if isinstance(found.segments, Unknown) else tuple(map(_segment, found.segments)),
        segments_reason=_reason(found.segments),
    )


def _ablation(one: Ablated) -> d.AblationRow:
    zero, mean, resample = map(effect_of, (one.zero, one.mean, one.resample))
    return d.AblationRow(name=named(one.claim), zero=zero, mean=mean, resample=resample, flags=one.flags)


def _repair(one: Repair, found: Full) -> d.RepairRow:
    alone = found.candidates.alone[one.component] if found.candidates and found.everywhere else None
    return d.RepairRow(
        name=str(one.component),
        direct=effect_of(one.direct),
        total=effect_of(one.total),
        repaired=one.repaired,
        repaired_reason=None if one.repaired is not None else "the direct effect is within the floor",
        conditional=effect_of(one.conditional),
        given=_names(one.given),
        everywhere=alone,
        everywhere_reason=None if alone is not None else "parts are changed at the decision position",
        flags=repair_flags(one, found.candidates, found.everywhere),
    )


def _names(group: Group) -> tuple[str, ...]:
    return tuple(map(str, group))


def _joint(found: Repairs) -> d.Joint:
    joint = found.joint
    return d.Joint(
        parts=_names(joint.claim),
        joint=effect_of(joint.joint),
        sum_of_direct=joint.sum_of_direct,
        sum_of_total=joint.sum_of_singles,
    )


def _pairs(found: Pairs) -> Iterator[d.PairRow]:
    for pair in found.pairs:
        first, second = map(str, pair.parts)
        yield d.PairRow(
            parts=(first, second),
            alone=pair.alone,
            joint=effect_of(pair.joint),
            interaction=pair.interaction,
            flag=pair.flag,
        )


def _no_pairs(found: Pairs | Unknown) -> str | None:
    if isinstance(found, Unknown):
        return found.reason
    return None if found.pairs else f"of {found.tried} pairs of the strongest parts none cancels or does more together"


def _set(found: FoundSet) -> d.SetRow:
    known, missing = found.found, _reason(found.found)
    return d.SetRow(
        what=found.what,
        about=found.about,
        parts=() if isinstance(known, Unknown) else _names(known.parts),
        parts_reason=missing,
        ld=None if isinstance(known, Unknown) else known.ld,
        ld_reason=missing,
        others=() if isinstance(known, Unknown) else tuple(map(_names, known.others)),
        tried=0 if isinstance(known, Unknown) else known.tried,
        turns=found.turns,
        turns_reason=missing,
        answer=None if found.written is None else found.written.text,
        answer_reason=missing,
    )


def _context(found: Context) -> d.ContextView:
    inner = found.found
    drops = () if isinstance(inner.drops, Unknown) else inner.drops
    return d.ContextView(
        answer=found.answer,
        right=found.right,
        method=inner.method,
        exact=inner.exact,
        masks=inner.masks,
        noise=5 * inner.floor,
        lds=inner.lds.rho if isinstance(inner.lds, Correlation) else None,
        lds_reason=_no_correlation(inner.lds),
        fit=None if inner.fit is None else inner.fit.rho,
        fit_reason=None if inner.fit is not None else "the scores come from a surrogate, or are all alike",
        sources=tuple(_source(name, inner) for name in found.sources),
        drops=tuple(
            d.DropRow(k=one.k, top=one.top, random=one.random, random_sd=one.random_sd, draws=one.draws)
            for one in drops
        ),
        drops_reason=None if drops else _reason(inner.drops) or "fewer sources than could be left out",
    )


def _no_correlation(found: Correlation | Unknown | None) -> str | None:
    match found:
        case Correlation():
            return None
        case Unknown(reason):
            return reason
        case None:
            return "undefined: one of the two is constant"


def _source(name: str, found: Attributed) -> d.SourceRow:
    scores, left_out = found.scores, found.left_out
    return d.SourceRow(
        name=name,
        score=None if isinstance(scores, Unknown) else scores[name],
        score_reason=_reason(scores),
        left_out=None if isinstance(left_out, Unknown) else left_out[name],
        left_out_reason=_reason(left_out),
    )


def _gradients(found: Gradients) -> d.GradientMap:
    verified = found.verified
    rank = verified.rank
    undefined = None if rank is not None else "undefined: estimates or effects are all alike"
    rows = [_estimate(one, "largest") for one in verified.top] + [_estimate(one, "random") for one in verified.others]
    return d.GradientMap(
        estimated=len(found.estimates),
        flagged=found.flagged,
        rank=None if rank is None else rank.rho,
        rank_reason=undefined,
        rank_p=None if rank is None else rank.p,
        rank_p_reason=undefined,
        signs=verified.signs.hits,
        clear=verified.signs.n,
        worst=str(verified.worst.estimate.component),
        rows=tuple(rows),
        along=tuple(map(_along, found.along)),
    )


def _along(one: Along) -> d.AlongRow:
    shared = one.shared
    return d.AlongRow(
        place=shared.place,
        estimate=one.estimate,
        joint=shared.joint,
        shared=sum(shared.shares.values()),
        missed=shared.error,
        missed_reason=None if shared.error is not None else "the joint effect is within the noise floor",
        midpoints=shared.midpoints,
        largest=str(one.largest),
        share=shared.shares[one.largest],
        effect=effect_of(one.effect),
        flags=shared.flags,
    )


def _estimate(one: Checked, chosen: d.Chosen) -> d.GradientRow:
    found = one.estimate
    return d.GradientRow(
        name=str(found.component),
        chosen=chosen,
        estimate=found.value,
        effect=effect_of(one.effect),
        low_confidence=found.low_confidence,
        flags=found.flags,
    )


def _segment(one: SegmentKnockout) -> d.KnockoutRow:
    found = {"direct": one.direct, "total": one.total, "between": one.between, "muted": one.muted}
    fields: dict[str, object] = {}
    for name, effect in found.items():
        fields |= {name: effect_of(effect) if isinstance(effect, Measured) else None, f"{name}_reason": _reason(effect)}
    missing = None if one.interaction is not None else "one of the three effects was not obtained"
    by = {name: effect.value for name, effect in one.mediated.items() if isinstance(effect, Measured)}
    return d.KnockoutRow.model_validate(
        {"name": one.name, **fields, "interaction": one.interaction, "interaction_reason": missing, "by": by}
    )
