"""A study as the machine document of `why`. Nothing is computed here that a study does not know."""

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase

import numpy as np

from whybox.cause.claims import Changed, Screened
from whybox.cause.decision import NOT_OWN, Reading
from whybox.cause.effects import Effect, SegmentEffects, Unknown
from whybox.cause.floor import asks_reference
from whybox.cause.spans import Stretch
from whybox.cause.study import GENERATED, Study
from whybox.cause.trials import Trial
from whybox.items.case import Case
from whybox.jobs.observed import checks
from whybox.jobs.provenance import model_info, versions
from whybox.jobs.regression import regression_test, source_of
from whybox.jobs.regression_suite import finding_of, regression_suite
from whybox.jobs.tokens import shown_tokens
from whybox.jobs.views import HeatMap, Views, evidence_share
from whybox.report import document as d
from whybox.statistics.ranks import NullBand
from whybox.text.prompt import SegmentKind
from whybox.verdict.facts import Facts, Try
from whybox.verdict.tree import Leaf, Ruling
from whybox.verdict.words import because, next_step, would_change

_NOT_WRITTEN = "not written anew"
_NO_PATH = "the metric's place does not exist in this run"


@dataclass(frozen=True)
class Told:
    """What the caller knows and the report repeats. broken_off: the stage at which Ctrl-C came."""

    case: Case
    command: str
    file: str
    effort: str
    lang: d.Lang
    broken_off: str | None


def document(study: Study, views: Views, facts: Facts, ruling: Ruling, told: Told, took_s: float) -> d.WhyDocument:
    """The whole document."""
    heads = tuple(_heads(study, views))
    heat, agreement = views.heat, _agreement(study, views)
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
        verdict=_verdict(study, ruling, facts, told),
        regression_test=regression_test(study.bench.model.name, told.case.id, source_of(told.case, told.file), ruling),
        regression_suite=regression_suite(
            study.bench.model.name, study.seed, ruling, finding_of(study, told.case)
        ).to_yaml(),
        tried=tuple(_tried(study, facts)),
        pattern=None if isinstance(heat, Unknown) else _map(study, heat),
        pattern_reason=heat.reason if isinstance(heat, Unknown) else None,
        provenance=_provenance(study, views, facts, told),
    )


def _answer(study: Study) -> d.Answer:
    decision = study.decided.base.decision
    right, wrong = study.log_probs or (None, None)
    reason = None if study.log_probs else "not run"
    return d.Answer(
        right=d.AnswerSide(text=study.asked.right, logprob=right, logprob_reason=reason),
        wrong=d.AnswerSide(text=study.asked.wrong, logprob=wrong, logprob_reason=reason),
        got=study.answered.text,
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
                letter = "T" if stretch.name == "template" else next(free)
                yield d.SegmentInfo(name=stretch.name, kind="template", letter=letter)


def _metric(study: Study) -> d.Metric:
    base, label = study.decided.base, study.bench.model.tokenizer.label
    right, wrong = label(base.decision.right[0]), label(base.decision.wrong[0])
    return d.Metric(
        name="LD",
        definition=f"z[{right}] − z[{wrong}] at the decision position",
        unit="nats",
        base=base.reading.ld,
        noise=5 * study.decided.delta,
    )


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
        direct_n=1,
        total=_ld(effects.total),
        total_reason=_reason(effects.total),
        removed=_ld(effects.removed),
        removed_reason=_reason(effects.removed),
        direct_sides=_sides(effects.direct),
        total_sides=_sides(effects.total),
        removed_sides=_sides(effects.removed),
        noise=5 * study.decided.delta,
        null=d.Null(low=null.low, high=null.high, p=null.p, draws=null.draws) if isinstance(null, NullBand) else None,
        null_reason=null.reason if isinstance(null, Unknown) else None,
    )


def _ld(effect: Effect) -> float | None:
    return effect.ld if isinstance(effect, Reading) else None


def _reason(effect: Effect) -> str | None:
    return effect.reason if isinstance(effect, Unknown) else None


def _sides(effect: Effect) -> d.Sides | None:
    return d.Sides(right=effect.right, wrong=effect.wrong) if isinstance(effect, Reading) else None


def _heads(study: Study, views: Views) -> Iterator[d.HeadRow]:
    """Share of the evidence and effect of cutting that very edge, largest effect first."""
    shares = evidence_share(study, views.budget)
    if study.heads is None or not shares:
        return
    sizes = np.sort([abs(effect) for effect in study.heads.values()])
    for (layer, head), effect in sorted(study.heads.items(), key=lambda pair: -abs(pair[1])):
        rank = float(np.searchsorted(sizes, abs(effect), side="left")) / max(len(sizes) - 1, 1)
        yield d.HeadRow(
            layer=layer, head=head, share=shares[layer, head], effect=effect, null_percentile=min(rank, 1.0)
        )


def _agreement(study: Study, views: Views) -> d.Agreement | None:
    """Share on the evidence against the effect of cutting it, over heads, signed and by size."""
    shares, signed, absolute = evidence_share(study, views.budget), views.by_head_signed, views.by_head
    if study.heads is None or not shares or signed is None or absolute is None:
        return None
    layer, head = max(shares, key=lambda place: shares[place])
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
    )


def _verdict(study: Study, ruling: Ruling, facts: Facts, told: Told) -> d.Verdict:
    return d.Verdict(
        causes=tuple(_cause(leaf) for leaf in ruling.causes),
        because=because(ruling, facts, told.lang),
        would_change_my_mind=would_change(ruling, told.lang),
        scope="variants" if ruling.variants else "this-prompt",
        next_step=next_step(ruling, told.lang),
        checked=tuple(checks(study, told.case)),
    )


def _cause(leaf: Leaf) -> d.Cause:
    change = leaf.undone_by
    if change is None:
        reason = "the answer is right" if leaf.code == "none" else "no change undoes it"
        return d.Cause(code=_code(leaf), detail=leaf.detail, about=leaf.about, effect=None, effect_reason=reason)
    return d.Cause(
        code=_code(leaf),
        detail=leaf.detail,
        about=leaf.about,
        undone_by=change.what,
        effect=change.effect,
        effect_reason=None if change.effect is not None else _NO_PATH,
        after=change.own if change.after is None or change.earlier_fork else change.after,
        flips=_flips(change),
        shams=_shams(change),
    )


def _code(leaf: Leaf) -> d.Code:
    return d.Cause.model_validate({"code": leaf.code, "effect": None, "effect_reason": "-"}).code


def _flips(change: Try) -> d.Count:
    """On the failing variants where they were run, else on this prompt alone."""
    if change.repeats is None:
        return d.Count(hits=int(change.flips), n=1)
    return d.Count(hits=change.repeats.hits, n=change.repeats.n)


def _shams(change: Try) -> d.Shams | None:
    shams = change.shams
    return None if shams is None else d.Shams(n=shams.n, flipped=shams.flipped, p=shams.p, after=shams.after)


def _tried(study: Study, facts: Facts) -> Iterator[d.Tried]:
    yield from (_tried_row(trial) for trial in study.trials.values())
    known = {switch.what for switch in facts.switches}
    computed = [facts.reference] if facts.reference is not None and facts.reference.what not in known else []
    for switch in (*computed, *facts.switches):
        yield d.Tried(what=switch.what, effect=switch.effect, flips=switch.flips, answer=switch.answer)
    base = study.decided.base.reading.ld
    forced = [("the start of the answer", study.start)] if study.start is not None else []
    if study.forced is not None:
        forced.append((f"behind the prefix “{study.forced[0]}”", study.forced[1]))
    for what, reading in forced:
        yield d.Tried(what=what, effect=reading.ld - base, flips=None, flips_reason=_NOT_WRITTEN, flags=(NOT_OWN,))
    yield from (_screened_row(screen, base) for screen in study.screens)
    yield from (_changed_row(changed) for changed in study.changed)


def _screened_row(screen: Screened, base: float) -> d.Tried:
    """Many runs in one row, the one that did most by name; what looked promising has a row of its own."""
    return d.Tried(
        what=f"{screen.what}: {screen.runs} runs, most by {screen.best}",
        effect=screen.value - base if screen.of_ld else None,
        effect_reason=None if screen.of_ld else f"another metric: {screen.value:+.3g} nats",
        flips=None,
        flips_reason=_NOT_WRITTEN,
    )


def _changed_row(changed: Changed) -> d.Tried:
    return d.Tried(
        what=f"the evidence says {changed.value}",
        effect=None,
        effect_reason=_NO_PATH,
        flips=None,
        flips_reason="another answer would be right here",
        answer=changed.answer,
        flags=("the answer follows" if changed.follows else "the answer does not follow",),
    )


def _tried_row(trial: Trial) -> d.Tried:
    return d.Tried(
        what=trial.what,
        effect=trial.effect,
        effect_reason=None if trial.effect is not None else _NO_PATH,
        flips=trial.flips,
        answer=trial.outcome.answer,
        flags=tuple(_flags(trial)),
    )


def _flags(trial: Trial) -> Iterator[str]:
    if trial.outcome.earlier_fork:
        yield "earlier fork"
    if trial.shams is not None:
        yield f"{trial.shams.flipped} of {len(trial.shams.after)} shams flip"
    if trial.unread is not None:
        yield f"with the evidence hidden: {'flips as well' if trial.unread else 'does not flip'}"
    if trial.repeats is not None:
        yield f"flips {sum(trial.repeats.flips)} of {len(trial.repeats.flips)} failing variants"


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
    if study.roles.presumed:
        yield "the case names no evidence: the sentences that state the right answer stand in for it"
    if told.case.got is not None and told.case.got.strip() != study.answered.text.strip():
        yield "the output observed elsewhere differs from the one written here"
    if told.effort == "full":
        yield "full effort runs what quick runs: its further instruments do not exist yet"
    others = "" if facts.reference is not None else "other engines and precisions, "
    yield f"not run: {others}mean and resample ablation, gradients"
    if told.broken_off is not None:
        yield f"the work was ended during “{told.broken_off}”; what follows it was not run"
    yield from (str(warning) for warning in study.path.warnings)
    yield from model.spec.notes


__all__ = ["GENERATED", "Told", "document"]
