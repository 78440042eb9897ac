"""Each stage of quick and full effort: a study in, one more thing known of it."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from whybox.cause import full as f
from whybox.cause.ablation import ablate
from whybox.cause.answers import STEPS, answer
from whybox.cause.bench import LOOKED
from whybox.cause.candidates import candidates
from whybox.cause.components import Component, all_heads, all_mlps
from whybox.cause.context import Sources, attribute, sources_of
from whybox.cause.decision import Reading
from whybox.cause.effects import Unknown
from whybox.cause.flipping import EdgeAction, Edited, edges, flipping, towards
from whybox.cause.floor import noise
from whybox.cause.floor import runs as noise_runs
from whybox.cause.full import Context, FoundSet, Full, Turning, where
from whybox.cause.ground import Ground, at_decision
from whybox.cause.knockout import knock_out_segments
from whybox.cause.ledger import NOTHING, said
from whybox.cause.null import FEWEST
from whybox.cause.pairs import pairs_of
from whybox.cause.references import Other, References, by_role, reference_prompts, references
from whybox.cause.repair import repairs
from whybox.cause.replacement import Zeroed
from whybox.cause.screen import DRAWS, screen
from whybox.cause.spans import keys_of
from whybox.cause.study import Study
from whybox.engine.ablation import REFERENCES
from whybox.engine.read import LogProb
from whybox.engine.trace import Change, Trace
from whybox.errors import CaseError, PromptError, SiteError, UnsupportedError, UsageError
from whybox.measure.attribution import DirectAttribution, direct_attribution, wishes
from whybox.text.prompt import Prompt

T = TypeVar("T")
_WRITERS = ("head_out", "mlp_out")
_FEW_PROMPTS = "fewer than {n} reference prompts fit the model's context"


def screened(study: Study) -> None:
    """Every head and MLP at the decision; the strongest with values of 16 other prompts."""
    ground = ground_of(study)
    study.screen = attempted(lambda: screen(ground, _ends(study, ground, DRAWS), _written(study), _generator(study)))


def context(study: Study) -> None:
    """The parts of the prompt that the written answer rests on."""
    at = where(ground_of(study))
    study.full = Full(at.said, at.rows is None)
    study.full.context = attempted(lambda: _attributed(study))


def ranked(study: Study) -> None:
    """Which parts the stages behind are about."""
    ground, full = ground_of(study), _full(study)
    found = attempted(lambda: candidates(ground, Zeroed(where(ground).rows), _wrote(study)))
    full.candidates = None if isinstance(found, Unknown) else found


def ablations(study: Study) -> None:
    """The strongest parts by zero, mean and resample."""
    ground, full = ground_of(study), _full(study)
    known = full.candidates
    if known is None:
        return
    at = where(ground)
    every: list[Component] = [*all_heads(ground.spec), *all_mlps(ground.spec)]
    chosen = known.strongest(every, f.TOP)
    full.ablated = attempted(
        lambda: ablate(
            ground, [(one,) for one in chosen], _references(study, ground, chosen), _generator(study), at.rows
        )
    )


def repaired(study: Study) -> None:
    """Direct, total and conditional effect at the decision, of the heads that write or act there."""
    ground, full = ground_of(study), _full(study)
    known, wrote = full.candidates, _wrote(study)
    if known is None:
        return
    sizes = {head: max(known.at_decision(head), abs(wrote.get(head, 0.0))) for head in all_heads(ground.spec)}
    heads = sorted(sizes, key=lambda head: -sizes[head])[: f.HEADS]
    out = Zeroed(ground.answer_rows)
    full.repairs = attempted(lambda: repairs(ground, out, heads, _generator(study), since=ground.row))


def paired(study: Study) -> None:
    """Every pair of the strongest parts."""
    ground, full = ground_of(study), _full(study)
    if full.candidates is None:
        return
    largest = f.of_repair(full.repairs, full.candidates)
    order = sorted(largest, key=lambda one: -abs(largest[one]))
    full.pairs = attempted(lambda: pairs_of(ground, Zeroed(where(ground).rows), order, _generator(study)))


def sets(study: Study) -> None:
    """The smallest sets that turn the outcome: of parts removed, and of edges where all of them together flip."""
    ground, full = ground_of(study), _full(study)
    if full.candidates is not None:
        largest = f.of_repair(full.repairs, full.candidates)
        at, base = where(ground), study.decided.base.decision
        anew = Zeroed(None if at.rows is None else slice(base.answer_row, None))
        full.sets.append(_set(study, "removal", (), Zeroed(at.rows), anew, towards(ground, largest)))
    evidence, trials = study.roles.evidence, study.trials
    if "boost" in trials and trials["boost"].flips:
        full.sets.append(_edge_set(study, "boost", evidence))
    for name in [name for name in study.cuts if trials[name].flips][:1]:
        full.sets.append(_edge_set(study, "cut", (name.removeprefix("cut "),)))


def segments(study: Study) -> None:
    """Direct, total, mediated, muted and removed, beside other spans; the segments with the largest direct effects."""
    ground, full = ground_of(study), _full(study)
    sizes = {one.name: abs(one.direct.ld) if isinstance(one.direct, Reading) else 0.0 for one in study.segments}
    names = sorted(sizes, key=lambda name: -sizes[name])[: f.SEGMENTS]
    full.segments = attempted(lambda: knock_out_segments(ground, names, FEWEST))


def mapped(study: Study) -> None:
    """Estimates by gradient, and their proof."""
    ground, full = ground_of(study), _full(study)
    if where(ground).rows is not None:
        full.gradients = Unknown(f"the text has more than {f.LONGEST} tokens")
        return
    full.gradients = attempted(lambda: f.gradients(ground, Zeroed(), _generator(study)))
    if isinstance(full.gradients, f.Gradients):
        study.bench.enter(ground.trace.ids, "gradient of LD at every head, MLP, query and key", kind="gradient")
        for one in full.gradients.along:
            for _ in range(one.shared.gradients):
                study.bench.enter(ground.trace.ids, f"gradient of LD along {one.shared.place}", kind="gradient")


def ground_of(study: Study) -> Ground:
    """The decision as the ground of all experiments; its runs are entered like the bench's own."""
    if study.ground is None:
        base, model = study.decided.base, study.bench.model
        found = at_decision(model, study.asked.case, base.decision, study.decided.delta)
        path = study.path if study.path.ids[: found.length] == base.decision.ids else found.prompt
        study.ground = replace(found, prompt=path, told=_teller(study, "LD"))
        study.bench.enter(base.decision.ids, NOTHING, ("LD", study.ground.value))
    return study.ground


def _teller(study: Study, read: str) -> Callable[[Trace, float | None], None]:
    def told(run: Trace, value: float | None) -> None:
        kept = LOOKED if value is None else ""
        study.bench.enter(run.ids, f"{said(run.edits)}{kept}", (read, value))

    return told


def attempted(make: Callable[[], T]) -> T | Unknown:
    """What is found, or why it cannot be made here."""
    try:
        return make()
    except (UsageError, UnsupportedError, PromptError, SiteError, CaseError) as error:
        return Unknown(f"{error.cause}: {error.remedy}" if error.remedy else error.cause)


def _full(study: Study) -> Full:
    assert study.full is not None, "the first stage of full effort opens it"
    return study.full


def _generator(study: Study) -> np.random.Generator:
    """Fresh for each experiment, so that one does not depend on the other."""
    return np.random.default_rng(study.seed)


def _written(study: Study) -> DirectAttribution | Unknown:
    """What heads and MLPs wrote at the decision; refused where the last residual is no sum of writes."""
    decision, bench = study.decided.base.decision, study.bench
    return attempted(lambda: _attribution(study, bench.see(decision.ids, wishes(bench.model.spec), last=1)))


def _attribution(study: Study, trace: Trace) -> DirectAttribution:
    decision = study.decided.base.decision
    return direct_attribution(trace, study.bench.model.weights, decision.right[0], decision.wrong[0])


def _wrote(study: Study) -> dict[Component, float]:
    known = study.screen
    if known is None or isinstance(known, Unknown):
        return {}
    return {one.component: one.wrote for one in known.parts if isinstance(one.wrote, float)}


def _prompts(study: Study, ground: Ground) -> tuple[str, tuple[Prompt, ...]]:
    """Reference prompts that fit the context, the variants of the case where they are enough."""
    model = study.bench.model
    own = tuple(model.prompt(case) for case in study.variants[:REFERENCES])
    name, found = (f"{len(own)} variants of the case", own) if len(own) >= REFERENCES else reference_prompts(ground)
    return name, tuple(prompt for prompt in found if 0 < len(prompt) <= model.spec.context)


def _ends(study: Study, ground: Ground, count: int) -> References | Unknown:
    """What other prompts write at the row that plays the part of the decision: one row is kept of each."""
    name, prompts = _prompts(study, ground)
    if len(prompts) < count:
        return Unknown(_FEW_PROMPTS.format(n=count))
    chosen = _generator(study).choice(len(prompts), size=count, replace=False)
    return References(name, tuple(_end(study, ground, prompts[index]) for index in chosen))


def _end(study: Study, ground: Ground, prompt: Prompt) -> Other:
    row = by_role(ground.prompt, prompt)[ground.row]
    return Other(study.bench.see(prompt.ids[: row + 1], _WRITERS, last=1), {ground.row: 0})


def _references(study: Study, ground: Ground, parts: Sequence[Component]) -> References:
    """32 other prompts: all rows, or one of each where parts are changed at the decision alone."""
    if where(ground).rows is not None:
        found = _ends(study, ground, REFERENCES)
        if isinstance(found, Unknown):
            raise UsageError(found.reason)
        return found
    name, prompts = _prompts(study, ground)
    others = references(ground, prompts, parts, name)
    for prompt in prompts:
        study.bench.enter(prompt.ids, f"{NOTHING}{LOOKED}")
    return others


def sources(study: Study, prompt: Prompt) -> Sources:
    """Parts of the context beside the question; sentences where there is only one."""
    return sources_of(prompt, (study.roles.question,) if study.roles.question else ())


def _attributed(study: Study) -> Context:
    """log P of the answer that was written, behind the decision's prefix."""
    decision, model = study.decided.base.decision, study.bench.model
    right, wrong = decision.answers
    chosen, text = (decision.wrong, wrong) if study.wrong_here else (decision.right, right)
    ids, start = (*decision.ids, *chosen), len(decision.ids)
    trace = model.run(ids[:-1], tail=len(chosen))
    read = LogProb(chosen, start)
    study.bench.enter(trace.ids, NOTHING, ("log P", float(read(trace))))
    delta = noise(model, trace, read, _generator(study))
    for _ in range(noise_runs(model)):
        study.bench.enter(trace.ids, "repeats and random edits, for the noise floor of log P")
    ground = Ground(model, trace, read, start - 1, study.path, delta, told=_teller(study, "log P"))
    parts = sources(study, study.path)
    return Context(text, not study.wrong_here, tuple(parts), attribute(ground, parts, _generator(study)))


def _set(
    study: Study,
    what: Turning,
    about: tuple[str, ...],
    edited: Edited,
    anew: Edited,
    candidates: Sequence[Component],
) -> FoundSet:
    """A set, and the answer written with it changed. anew: the edits as they hold while an answer is written."""
    found = flipping(ground_of(study), edited, candidates)
    if isinstance(found, Unknown):
        return FoundSet(what, about, found)
    written = study.bench.result(answer(study.bench.model, study.asked, anew(found.parts)))
    right = written.score.right and written.reading.ld > STEPS * study.decided.delta
    return FoundSet(what, about, found, written, right if study.wrong_here else not written.score.right)


def _edge_set(study: Study, action: EdgeAction, names: tuple[str, ...]) -> FoundSet:
    """Heads whose edges, decision → parts, are changed."""
    ground, base = ground_of(study), study.decided.base.decision
    keys = keys_of(study.asked.prompt, names)
    edited = edges(action, keys, slice(base.row, None))
    moved = ground.moved([Change(edited((head,))) for head in all_heads(ground.spec)])
    single: dict[Component, float] = {head: one.effect for head, one in zip(all_heads(ground.spec), moved, strict=True)}
    anew = edges(action, keys, slice(base.answer_row, None))
    return _set(study, action, names, edited, anew, towards(ground, single))
