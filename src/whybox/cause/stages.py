"""The plan of a study, stage by stage: which experiments, in which order, with how many runs at most."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whybox.cause import floor, removals, trials
from whybox.cause.answers import STEPS, Answered, answer, log_prob, read
from whybox.cause.asking import Experiment, Read, Write
from whybox.cause.bench import Work
from whybox.cause.decision import Reading, decision_after, mention, shared
from whybox.cause.effects import Base, head_effects, key_effects, segment_effects
from whybox.cause.form_writers import is_explained, is_illegal
from whybox.cause.hidden import hidden
from whybox.cause.letters import as_written
from whybox.cause.parts import asked_alone, other_orders, roles_of, with_fact, without
from whybox.cause.proofs import REMOVALS, asks_of_all_evidence, hidden_work, proofs, shams_work, variants_work
from whybox.cause.spans import keys_of, other_spans, stretches
from whybox.cause.study import Study
from whybox.cause.supplied import fact_shams, moves, said, supplying
from whybox.cause.trials import Maker, Setting
from whybox.engine.read import logit_difference
from whybox.items.instance import CaseInstance
from whybox.items.script import is_chinese

ASKED_ALONE = "the question alone"
_UNKNOWN = -1.0  # a noise floor that was not measured yet
MOST_KEYS = 256  # beyond, single keys are not cut one by one


@dataclass(frozen=True)
class Stage:
    """One step of a study. work: at most so many runs."""

    name: str
    work: Work
    act: Callable[[Study], None]


def stages(study: Study) -> list[Stage]:
    """The plan: every branch of the verdict tree first, then the map of what matters. Runs are upper bounds; what is
    known already makes them smaller.
    """
    trials_of = len(study.roles.others) + 1
    prompts = 2 + len(study.demanding) + len(other_orders(study.asked.case, study.roles))
    heads = sum(layer.attention.heads for layer in study.bench.model.spec.layers)
    keys = min(len(study.asked.prompt) + study.asked.settings.limit, MOST_KEYS)
    return [
        Stage("answer", Work(4, 2), _answer),
        Stage("noise floor", Work(reads=floor.runs(study.bench.model)), _floor),
        Stage("other prompts", Work(2 * prompts, prompts), _prompts),
        Stage("form and decoding", Work(6, 4), _form),
        Stage(removals.EDGES, Work(2 * trials_of, trials_of), _edges),
        Stage(REMOVALS, removals.work(study), removals.remove),
        Stage("variants", variants_work(study), _variants),
        Stage("shams", shams_work(study), _shams),
        Stage("evidence hidden", hidden_work(study), _hidden),
        Stage("segments", Work(reads=_most_cuts(study)), _segments),
        Stage("keys", Work(reads=keys), _keys),
        Stage("heads", Work(reads=heads), _heads),
    ]


def _most_cuts(study: Study) -> int:
    found = stretches(study.asked.prompt.segments, len(study.asked.prompt))
    return sum(3 + len(other_spans(len(one.keys), one.keys, len(study.asked.prompt))) for one in found) + 3


def run_stages(study: Study, plan: list[Stage]) -> str | None:
    """Run the plan. Ctrl-C ends it: the name of the stage that was broken off, None when all ran.

    KeyboardInterrupt before the answer and its floor are known passes on: there is nothing to keep yet.
    """
    study.bench.planned = total(plan)
    for number, stage in enumerate(plan):
        study.bench.stage = stage.name
        try:
            stage.act(study)
        except KeyboardInterrupt:
            if study.setting is None or study.setting.delta < 0:
                raise
            return stage.name
        study.done.append(stage.name)
        study.bench.planned = study.bench.made + total(stages(study)[number + 1 :])
    return None


def total(plan: Sequence[Stage]) -> Work:
    return sum((stage.work for stage in plan), Work())


def _answer(study: Study) -> None:
    """The own run. A wrong answer that the case does not name is what was written, or else the runner-up."""
    bench = study.bench
    if not study.asked.wrong:
        study.asked = replace(study.asked, wrong=bench.result(_stand_in(study)), stand_in=True)
    study.own = bench.result(answer(bench.model, study.asked))
    if not study.asked.stand_in and _takes_its_letters(study, study.own):
        study.own = bench.result(answer(bench.model, study.asked))
    decision = study.own.decision
    study.asked = replace(study.asked, in_form=asks_form(study.asked.case, study.own))
    base = Base(study.asked, decision, study.own.reading)
    study.setting = Setting(base, study.roles, _UNKNOWN, len(bench.model.spec.layers), study.own.text)
    right, wrong = bench.results([log_prob(decision, decision.right), log_prob(decision, decision.wrong)])
    study.log_probs = right, wrong


def asks_form(case: CaseInstance, own: Answered) -> bool:
    """Whether a change must keep the contract to be right: always, but where the answer as it is has neither the right
    value nor the form. Then its value is what is explained, and a model that never keeps the form has one as well.
    """
    return case.contract_prefix is not None and (own.score.right or not case.breaks_contract(own.text))


def _takes_its_letters(study: Study, own: Answered) -> bool:
    """Whether both answers, here and in the variants, are now compared in other letters: those that were written."""

    def lettered(case: CaseInstance) -> CaseInstance:
        return as_written(case, study.asked.case, own)

    case = lettered(study.asked.case)
    if case is study.asked.case:
        return False
    study.variants = tuple(lettered(variant) for variant in study.variants)
    study.asked = replace(study.asked, case=case, wrong=case.wrong or "")
    return True


async def _stand_in(study: Study) -> str:
    asked, tokenizer = study.asked, study.bench.model.tokenizer
    written = await Write(asked.prompt.ids, asked.settings, lambda written, _: written)
    text = tokenizer.text(written.ids)
    if asked.score(text, written.stopped).right or not text.strip():
        return await _runner_up(study, text)
    return text


async def _runner_up(study: Study, text: str) -> str:
    """The second choice of the model where its right answer begins (or at the start): a token's text."""
    model, asked = study.bench.model, study.asked
    prefix = text[: mention(text, asked.right) or 0]
    ids = model.join(asked.prompt, prefix + asked.right)[0]
    before = ids[: shared(ids, model.join(asked.prompt, prefix)[0])]
    ranked = await Read(before, lambda logits: np.argsort(-logits[-1], kind="stable")[:50])
    labels = (model.tokenizer.decode_bytes([int(i)]).decode(errors="ignore").strip() for i in ranked)
    return next(label for label in labels if label and not asked.right.startswith(label))


def _floor(study: Study) -> None:
    model, decision = study.bench.model, study.decided.base.decision
    read = logit_difference(decision.right[0], decision.wrong[0])
    delta = floor.noise(model, model.run(decision.ids, tail=1), read, np.random.default_rng(study.seed))
    for _ in range(floor.runs(model)):
        study.bench.enter(decision.ids, "repeats and random edits, for the noise floor")
    study.setting = replace(study.decided, delta=delta)


def _prompts(study: Study) -> None:
    """Evidence alone, closed book, other orders; without evidence, the fact added where one was given."""
    makers: dict[str, Maker] = {}
    if study.fact and study.roles.question is not None:
        added = with_fact(study.asked.case, study.roles.question, study.fact)
        makers["fact"] = trials.prompted("fact added", added, frozenset({"fact"}))
    if study.roles.evidence:
        makers["closed"] = trials.without_context
    if study.roles.evidence and study.wrong_here:
        if study.roles.others:
            makers["alone"] = trials.evidence_alone
            makers |= {
                f"without {name}": _without(study, name) for name in study.demanding if _is_one_of_several(study)
            }
        makers |= {
            f"order {' '.join(order)}": trials.moved(order) for order in other_orders(study.asked.case, study.roles)
        }
    study.orders += [name for name in study.run(makers) if name.startswith("order ")]


def _is_one_of_several(study: Study) -> bool:
    """Whether a part is not all that stands beside the evidence: without it, more than the evidence is left."""
    return len(study.roles.others) > 1


def _without(study: Study, name: str) -> Maker:
    return trials.prompted(f"without {name}", without(study.asked.case, [name]), frozenset({name}))


def _form(study: Study) -> None:
    """The start of the answer, a prefix that the model did not write, greedy decoding where another is stated; of an
    illegal answer its lenient reading, and, where the right answer leads at the start, the choice there carried out.
    """
    case = study.asked.case
    prefix = case.contract_prefix or ("答案：" if is_chinese(_asking_text(study)) else "Answer: ")
    start, forced = study.bench.results([_behind(study, ""), _behind(study, prefix)])
    study.start, study.forced = start, (prefix, forced)
    makers: dict[str, Maker] = {}
    if case.contract_prefix and _is_contract(case):
        makers["contract"] = trials.behind_prefix(case.contract_prefix)
    if not study.asked.settings.greedy:
        makers["greedy"] = trials.greedily
    if is_illegal(study) or study.answered.score.outcome == "invalid" or case.breaks_contract(study.answered.text):
        makers["lenient"] = trials.leniently
    study.run(makers)
    if is_illegal(study) and not is_explained(study) and start.ld > STEPS * study.decided.delta:
        study.run({"choice": trials.chosen})


def _asking_text(study: Study) -> str:
    """What asks, in whose script an answer is begun."""
    case, question = study.asked.case, study.roles.question
    return "\n".join(part.text for part in case.parts) if question is None else case.part(question).text


def _behind(study: Study, prefix: str) -> Experiment[Reading]:
    asked = study.asked
    decision = decision_after(study.bench.model, asked.prompt, prefix, *study.decided.base.decision.answers, "forced")
    return read(asked, decision)


def _is_contract(case: CaseInstance) -> bool:
    """A prefix that holds words of the right answer, of the evidence or of the question is never the contract's."""
    told = " ".join((case.right, *(part.text for part in case.parts)))
    return not set(re.findall(r"\w+", (case.contract_prefix or "").casefold())) & set(
        re.findall(r"\w+", told.casefold())
    )


def _edges(study: Study) -> None:
    if not study.roles.evidence or not study.wrong_here:
        return
    cuts = {f"cut {name}": trials.cut_part(name) for name in study.roles.others}
    study.cuts += [name for name in study.run({"boost": trials.boost_evidence, **cuts}) if name in cuts]


def _variants(study: Study) -> None:
    """What flips here is repeated on the variants that fail alike."""
    found = list(proofs(study))
    if not study.variants or not found or not study.wrong_here:
        return
    study.failing = trials.failing_variants(study.bench, study.decided, study.answered, study.variants, roles_of)
    pairs = [(study.trials[proof.name], proof.make) for proof in found]
    repeated = trials.repeated(study.bench, pairs, study.failing)
    study.trials |= {proof.name: trial for proof, trial in zip(found, repeated, strict=True)}


def _shams(study: Study) -> None:
    """The same changes elsewhere, and with the evidence hidden."""
    for proof in proofs(study):
        trial = study.trials[proof.name]
        if proof.shams is not None:
            trial = trials.with_shams(study.bench, study.decided, trial, proof.shams)
        if proof.control is not None:
            trial = trials.with_control(study.bench, study.decided, trial, proof.control)
        study.trials[proof.name] = trial
    fact, question = study.trials.get("fact"), study.roles.question
    if fact is not None and fact.flips and question is not None:
        shams = fact_shams(study.decided, question, study.fact)
        study.trials["fact"] = trials.with_shams(study.bench, study.decided, fact, lambda _: shams)
        _supplied(study, question)
        _asked_alone(study, question)


def _supplied(study: Study, question: str) -> None:
    """Sentences of the prompt without which the given answer is another one."""
    model, setting, given = study.bench.model, study.decided, study.answered.text
    if not said(setting, given):
        return
    cases = supplying(study.asked.case, question)
    found = study.bench.results([moves(model, setting, given, case) for _, case in cases])
    study.supplied_by = tuple(name for (name, _), moved in zip(cases, found, strict=True) if moved)


def _asked_alone(study: Study, question: str) -> None:
    """Whether the question alone, without the rest of the prompt, is answered right: then nothing is missing."""
    case = asked_alone(study.asked.case, question)
    if case is None:
        return
    make = trials.prompted(ASKED_ALONE, case, frozenset(part.name for part in study.asked.case.parts))
    (found,) = trials.controls(study.bench, study.decided, [make])
    if found is not None:
        study.trials["asked alone"] = found


def _hidden(study: Study) -> None:
    if asks_of_all_evidence(study):
        study.hidden = study.bench.result(hidden(study.decided.base, study.roles.evidence))


def _segments(study: Study) -> None:
    model, base = study.bench.model, study.decided.base
    study.segments += study.bench.results([segment_effects(model, base, stretch) for stretch in study.stretches])


def _keys(study: Study) -> None:
    if study.decided.base.decision.row <= MOST_KEYS:
        study.keys = study.bench.result(key_effects(study.decided.base))


def _heads(study: Study) -> None:
    if not study.roles.evidence:
        return
    keys = keys_of(study.asked.prompt, study.roles.evidence)
    study.heads = study.bench.result(head_effects(study.bench.model, study.decided.base, keys))
