"""A study as the machine document of `why`. Nothing is computed here that a study does not know."""

import math
from collections.abc import Iterator
from string import ascii_uppercase

from whybox.cause.decision import Reading
from whybox.cause.effects import Effect, SegmentEffects, Unknown
from whybox.cause.floor import asks_reference
from whybox.cause.screen import Screen
from whybox.cause.spans import TEMPLATE, Stretch
from whybox.cause.study import GENERATED, Study
from whybox.items.question import ASKS
from whybox.jobs.provenance import model_info, versions
from whybox.jobs.regression import Opened, regression_test, source_of
from whybox.jobs.regression_suite import finding_of, regression_suite
from whybox.jobs.tokens import shown_tokens
from whybox.jobs.views import HeatMap, Views, evidence_share
from whybox.jobs.why_parts import NOT_RUN, full_view, parts_view
from whybox.jobs.why_runs import run_rows, run_texts, stage_rows
from whybox.jobs.why_verdict import ONE_PROMPT, Told, tried_rows, verdict_of
from whybox.report import document as d
from whybox.statistics.ranks import NullBand
from whybox.text.prompt import SegmentKind, extend
from whybox.verdict.facts import Facts
from whybox.verdict.tree import Ruling

MOST_DRAWN = 40  # variants, the case among them


def document(study: Study, views: Views, facts: Facts, ruling: Ruling, told: Told, took_s: float) -> d.WhyDocument:
    """The whole document."""
    heads = tuple(_heads(study, views))
    heat, agreement = views.heat, _agreement(study, views)
    model, kept = study.bench.model, finding_of(study, told.case, facts.right)
    opened = Opened(model.name, model.way, model.allow_long)
    return d.WhyDocument(
        schema=d.WhyDocument.identity(),
        lang=told.lang,
        model=model_info(study.bench.model),
        seed=study.seed,
        took_s=took_s,
        case=d.CaseInfo(id=told.case.id, file=told.file),
        answer=_answer(study),
        prompt=_prompt(study),
        metric=_metric(study),
        segments=tuple(_segment(study, views, stretch) for stretch in study.stretches),
        heads=heads,
        heads_reason=None if heads else _missing("heads", study, "the case names no evidence"),
        lens=tuple(d.LensRow(layer=r.layer, right=r.right, wrong=r.wrong, ld=r.ld) for r in views.lens),
        decided_at=views.decided,
        decided_at_reason=None if views.decided is not None else "the last layer does not exceed the noise floor",
        agreement=agreement,
        agreement_reason=None if agreement else _missing("heads", study, "no evidence, or shares that are all alike"),
        verdict=verdict_of(study, ruling, facts, told),
        regression_test=regression_test(opened, study.seed, source_of(told.case, told.file), ruling, kept),
        regression_suite=regression_suite(opened.name, study.seed, ruling, kept).to_yaml(),
        parts=parts_view(study.screen) if isinstance(study.screen, Screen) else None,
        parts_reason=_no_parts(study),
        full=None if study.full is None else full_view(study.full),
        full_reason=None if study.full is not None else _no_full(study, told),
        tried=tuple(tried_rows(study, facts)),
        broken_off=told.broken_off or "",
        stages=tuple(stage_rows(study.bench.ledger, told.announced)),
        texts=tuple(run_texts(study.bench.ledger, study.bench.model.tokenizer)),
        runs=tuple(run_rows(study.bench.ledger)),
        pattern=None if isinstance(heat, Unknown) else _map(study, heat),
        pattern_reason=heat.reason if isinstance(heat, Unknown) else None,
        provenance=_provenance(study, views, facts, told),
    )


def _answer(study: Study) -> d.Answer:
    decision = study.decided.base.decision
    right, wrong = study.log_probs or (None, None)
    texts = decision.answers
    reason = None if study.log_probs else "not run"
    ended = study.answered.written.stopped
    return d.Answer(
        right=d.AnswerSide(text=texts[0], logprob=right, logprob_reason=reason),
        wrong=d.AnswerSide(text=texts[1], logprob=wrong, logprob_reason=reason, stand_in=study.asked.stand_in),
        got=study.answered.text,
        cut_at=None if ended else study.asked.settings.limit,
        cut_at_reason="the model ended its answer itself" if ended else None,
        prefix=d.Prefix(kind=decision.kind, text=decision.prefix, flag="; ".join(decision.flags)),
        position=decision.row,
    )


def _prompt(study: Study) -> d.PromptView:
    path, stretches = study.path, study.stretches
    owner = {key: index for index, stretch in enumerate(stretches) for key in stretch.keys}
    tokens = tuple(shown_tokens(path, owner))
    names = {stretch.name for stretch in stretches}
    evidence = tuple(name for name in study.roles.evidence if name in names)
    return d.PromptView(text=path.text, tokens=tokens, segments=tuple(_infos(stretches)), evidence=evidence)


def _infos(stretches: tuple[Stretch, ...]) -> Iterator[d.SegmentInfo]:
    """Letters: T template, G generated, the others in order."""
    free = iter(letter for letter in (*ascii_uppercase, *map(str, range(1, 1000))) if letter not in "GT")
    for stretch in stretches:
        match stretch.kind:
            case SegmentKind.GENERATED:
                yield d.SegmentInfo(name=stretch.name, kind="generated", letter="G")
            case SegmentKind.PART:
                yield d.SegmentInfo(name=stretch.name, kind="part", letter=next(free))
            case _:
                letter = "T" if stretch.name == TEMPLATE else next(free)
                yield d.SegmentInfo(name=stretch.name, kind="template", letter=letter)


def _null(band: NullBand) -> d.Null:
    return d.Null(
        low=band.low, high=band.high, p=band.p, draws=band.draws, same_way=band.same_way, same_way_reason=None
    )


def _metric(study: Study) -> d.Metric:
    base = study.decided.base
    right, wrong = (_label(study, ids) for ids in (base.decision.right, base.decision.wrong))
    return d.Metric(
        name="LD",
        definition=f"z[{right}] − z[{wrong}] at the decision position",
        unit="nats",
        base=base.reading.ld,
        noise=5 * study.decided.delta,
    )


def _label(study: Study, answer: tuple[int, ...]) -> str:
    """The first token of an answer behind the decision: one that holds part of a character says which part of which."""
    path, ids = study.path, study.decided.base.decision.ids
    if path.ids != ids:
        return study.bench.model.tokenizer.label(answer[0])
    return extend(study.bench.model.tokenizer, path, answer, "answer").tokens[len(ids)].label


def _segment(study: Study, views: Views, stretch: Stretch) -> d.SegmentRow:
    unknown = Unknown(_missing("segments", study, "not run"))
    found = next((one for one in study.segments if one.name == stretch.name), None)
    effects = found or SegmentEffects(stretch.name, unknown, unknown, unknown, unknown)
    null = effects.null
    return d.SegmentRow(
        name=stretch.name,
        share=views.budget.mean()[stretch.name],
        direct=_ld(effects.direct),
        direct_reason=_reason(effects.direct),
        direct_interval=None,
        direct_interval_reason=ONE_PROMPT,
        direct_n=1,
        total=_ld(effects.total),
        total_reason=_reason(effects.total),
        removed=_ld(effects.removed),
        removed_reason=_reason(effects.removed),
        direct_sides=_sides(effects.direct),
        total_sides=_sides(effects.total),
        removed_sides=_sides(effects.removed),
        noise=5 * study.decided.delta,
        null=_null(null) if isinstance(null, NullBand) else None,
        null_reason=null.reason if isinstance(null, Unknown) else None,
    )


def _ld(effect: Effect) -> float | None:
    return effect.ld if isinstance(effect, Reading) else None


def _reason(effect: Effect) -> str | None:
    return effect.reason if isinstance(effect, Unknown) else None


def _sides(effect: Effect) -> d.Sides | None:
    return d.Sides(right=effect.right, wrong=effect.wrong) if isinstance(effect, Reading) else None


def _no_parts(study: Study) -> str | None:
    match study.screen:
        case Screen():
            return None
        case Unknown(reason):
            return reason
        case None:
            return _missing("heads and MLPs", study, "not run")


def _no_full(study: Study, told: Told) -> str:
    return NOT_RUN if told.effort != "full" else _missing("context", study, "not run")


def _heads(study: Study, views: Views) -> Iterator[d.HeadRow]:
    """Share of the evidence and effect of cutting that very edge, largest first; null: the heads of its layer."""
    shares = evidence_share(study, views.budget)
    if study.heads is None or not shares:
        return
    for (layer, head), effect in sorted(study.heads.items(), key=lambda pair: -abs(pair[1])):
        beside = [other for place, other in study.heads.items() if place[0] == layer and place != (layer, head)]
        smaller = sum(abs(other) < abs(effect) for other in beside)
        yield d.HeadRow(
            layer=layer,
            head=head,
            share=shares[layer, head],
            effect=effect,
            null_percentile=smaller / len(beside) if beside else None,
            null_percentile_reason=None if beside else "no other head in its layer",
        )


def _agreement(study: Study, views: Views) -> d.Agreement | None:
    """Share on the evidence against the effect of cutting it, over heads, signed and by size."""
    shares, signed, absolute = evidence_share(study, views.budget), views.by_head_signed, views.by_head
    if study.heads is None or not shares or signed is None or absolute is None:
        return None
    layer, head = max(shares, key=lambda place: shares[place])
    strongest, _ = max(study.heads.items(), key=lambda one: abs(one[1]))
    return d.Agreement(
        segment=" + ".join(study.roles.evidence),
        n=absolute.n,
        signed=signed.rho,
        signed_p=signed.p,
        absolute=absolute.rho,
        absolute_p=absolute.p,
        brightest_layer=layer,
        brightest_head=head,
        brightest_share=shares[layer, head],
        brightest_effect=study.heads[layer, head],
        strongest_layer=strongest[0],
        strongest_head=strongest[1],
        strongest_share=shares[strongest],
        strongest_effect=study.heads[strongest],
    )


def _map(study: Study, heat: HeatMap) -> d.PatternMap:
    tokens = study.path.tokens
    blocks = tuple(
        d.Block(start=block.start, end=block.stop, label="".join(tokens[i].label for i in block if i < len(tokens)))
        for block in heat.blocks
    )
    values = tuple(
        tuple(float(value) if shown else None for value, shown in zip(row, seen, strict=True))
        for row, seen in zip(heat.values, heat.shown, strict=True)
    )
    return d.PatternMap(layer=None, head=None, rows=blocks, columns=blocks, values=values)


def _missing(stage: str, study: Study, otherwise: str) -> str:
    return otherwise if stage in study.done else "the work was ended before it"


def _provenance(study: Study, views: Views, facts: Facts, told: Told) -> d.Provenance:
    return d.Provenance(
        command=told.command,
        effort=told.effort,
        runs=study.bench.made.runs,
        versions=versions(),
        notes=tuple(_notes(study, views, facts, told)),
    )


def _notes(study: Study, views: Views, facts: Facts, told: Told) -> Iterator[str]:
    """What a reader must know to trust or repeat the numbers."""
    model = study.bench.model
    ways = "repeats, batches and cached runs" + (", and the reference engine" if asks_reference(model) else "")
    yield (
        f"noise floor: five times {study.decided.delta:.2g} nats, the largest change of LD over {ways}, on the base "
        "and on 5 random edits; no-op edits changed nothing"
    )
    if study.failing is not None:
        yield f"{len(study.failing.settings) + 1} of {study.failing.drawn} variants drawn fail like the case"
    if views.lift is not None:
        yield f"lift of the evidence at the decision row: {views.lift:.2f} (mean over heads whose sink share is ≤ .3)"
    if views.by_key is not None:
        found = views.by_key
        yield f"ρ(attention share, |effect of the cut|) over {found.n} keys: {found.rho:.2f} (p {found.p:.3f})"
    if study.hidden is not None:
        band = study.hidden.null
        beside = (
            "too few other spans for a null"
            if band is None
            else f"null [{band.low:.2f}, {band.high:.2f}], p {band.p:.3f}"
        )
        yield f"the evidence hidden from all later positions: LD {study.hidden.effect:+.3g} nats ({beside})"
    if study.roles.evidence and not study.roles.presumed and study.roles.question not in (None, ASKS):
        yield f"no part is called `question`: “{study.roles.question}” is taken for the one that asks"
    if study.roles.presumed:
        yield "the case names no evidence: the sentences that state the right answer stand in for it"
    drawn, combined = told.case.variants(seed=study.seed), math.prod(len(each) for each in told.case.text.vary.values())
    if len(drawn) < min(combined, MOST_DRAWN):
        yield f"{len(drawn)} of {combined} combinations of `vary` are used: in the others one value holds another"
    if not study.asked.stand_in and study.asked.right != told.case.filled().right:
        yield f"the answers are compared in the letters that were written: “{study.asked.right}”, “{study.asked.wrong}”"
    if study.decided.base.decision.answers[0] in dict(study.asked.case.options).values():
        right, wrong = study.decided.base.decision.answers
        yield f"the answer is in the words of an option: what the options say is compared: “{right}”, “{wrong}”"
    if study.asked.stand_in:
        what = "what was written" if study.wrong_here else "the second choice where the right answer begins"
        yield f"the case names no wrong answer: {what} stands in for it"
    if told.case.got is not None and told.case.got.strip() != study.answered.text.strip():
        yield "the output observed elsewhere differs from the one written here"
    if left_out := list(_not_run(facts, told)):
        yield f"not run: {', '.join(left_out)}"
    if told.broken_off is not None:
        yield f"the work was ended during “{told.broken_off}”; what follows it was not run"
    yield from (str(warning) for warning in study.path.warnings)
    yield from model.spec.notes


def _not_run(facts: Facts, told: Told) -> Iterator[str]:
    if facts.reference is None:
        yield "other engines and precisions"
    if facts.readers is None:
        yield "activation patching of readers"
    if told.effort != "full":
        yield from ("mean ablation", "self-repair", "pairs", "minimal sets", "context attribution", "gradients")


__all__ = ["GENERATED", "Told", "document"]
