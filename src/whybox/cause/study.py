"""Everything that is run on one answer, stage by stage. An interrupted study keeps what it has."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from whybox.cause import floor, trials
from whybox.cause.answers import Answered, Asked, answer, log_prob, read, settings_of
from whybox.cause.bench import Bench, Work
from whybox.cause.decision import Reading, decision_after, mention, shared
from whybox.cause.effects import Base, SegmentEffects, head_effects, key_effects, segment_effects
from whybox.cause.parts import Roles, other_orders, roles_of, with_fact, with_presumed_evidence
from whybox.cause.spans import SHAMS, Stretch, keys_of, other_spans, stretches
from whybox.cause.trials import MOST_VARIANTS, Failing, Maker, Setting, ShamMakers, Trial
from whybox.items.instance import CaseInstance
from whybox.text.prompt import Prompt, extend

GENERATED = "answer so far"
_TRIED_REMOVALS = 3
_UNKNOWN = -1.0  # a noise floor that was not measured yet
MOST_KEYS = 256  # beyond, single keys are not cut one by one


@dataclass
class Study:
    """One case on one model: the answer, the decision, and every trial."""

    bench: Bench
    asked: Asked
    variants: tuple[CaseInstance, ...]
    roles: Roles
    seed: int = 0
    fact: str = ""
    own: Answered | None = None
    setting: Setting | None = None
    log_probs: tuple[float, float] | None = None
    trials: dict[str, Trial] = field(default_factory=dict)
    orders: list[str] = field(default_factory=list)
    cuts: list[str] = field(default_factory=list)
    writers: list[str] = field(default_factory=list)
    suppressors: list[str] = field(default_factory=list)
    pairs: list[str] = field(default_factory=list)
    forced: tuple[str, Reading] | None = None
    start: Reading | None = None
    failing: Failing | None = None
    segments: list[SegmentEffects] = field(default_factory=list)
    keys: list[float] | None = None
    heads: dict[tuple[int, int], float] | None = None
    done: list[str] = field(default_factory=list)

    @property
    def decided(self) -> Setting:
        assert self.setting is not None, "the answer comes first"
        return self.setting

    @property
    def answered(self) -> Answered:
        assert self.own is not None, "the answer comes first"
        return self.own

    @property
    def wrong_here(self) -> bool:
        return not self.answered.score.right

    @property
    def path(self) -> Prompt:
        """The prompt with the part of the answer that stands before the decision."""
        ids, prompt = self.decided.base.decision.ids, self.asked.prompt
        if len(ids) <= len(prompt) or ids[: len(prompt)] != prompt.ids:
            return prompt
        return extend(self.bench.model.tokenizer, prompt, ids[len(prompt) :], GENERATED)

    @property
    def stretches(self) -> tuple[Stretch, ...]:
        """Segments up to the decision row."""
        return stretches(self.path.segments, len(self.decided.base.decision.ids))


@dataclass(frozen=True)
class Stage:
    """One step of a study. work: at most so many runs."""

    name: str
    work: Work
    act: Callable[[Study], None]


def open_study(bench: Bench, cases: tuple[CaseInstance, ...], limit: int = 32, seed: int = 0, fact: str = "") -> Study:
    """A study of the first case; the others are its variants. The wrong answer may be missing: it is then the one that
    the model gives, which the first stage reads.
    """
    case, presumed = with_presumed_evidence(cases[0])
    roles = replace(roles_of(case), presumed=presumed)
    prompt = bench.model.prompt(case)
    bench.model.require_fits(len(prompt))
    settings = settings_of(bench.model, case, limit)
    settings = replace(settings, limit=min(settings.limit, bench.model.room(len(prompt))))
    asked = Asked(case, prompt, case.wrong or "", settings)
    return Study(bench, asked, cases[1:], roles, seed, fact)


def stages(study: Study) -> list[Stage]:
    """The plan: every branch of the verdict tree first, then the map of what matters. Runs are upper bounds."""
    trials_of = len(study.roles.others) + 1
    prompts = 2 + len(other_orders(study.asked.case, study.roles))
    shams = _most_shams(study)
    heads = sum(layer.attention.heads for layer in study.bench.model.spec.layers)
    variants = min(len(study.variants), MOST_VARIANTS)
    keys = min(len(study.asked.prompt) + study.asked.settings.limit, MOST_KEYS)
    return [
        Stage("answer", Work(3, 1), _answer),
        Stage("noise floor", Work(reads=floor.RUNS), _floor),
        Stage("other prompts", Work(2 * prompts, prompts), _prompts),
        Stage("form and decoding", Work(4, 2), _form),
        Stage("attention edges", Work(2 * trials_of, trials_of), _edges),
        Stage("removals", Work(heads, _TRIED_REMOVALS), _removals),
        Stage("variants", Work(3 * variants, 3 * variants), _variants),
        Stage("shams", Work(shams, shams), _shams),
        Stage("segments", Work(reads=_most_cuts(study)), _segments),
        Stage("keys", Work(reads=keys), _keys),
        Stage("heads", Work(reads=heads), _heads),
    ]


def _most_shams(study: Study) -> int:
    """Shams of the boost, of one cut or of a removal, whichever could need more."""
    prompt, names = study.asked.prompt, [study.roles.evidence, *((other,) for other in study.roles.others)]
    held = [keys_of(prompt, found) for found in names]
    others = min(SHAMS, study.bench.model.spec.layers[0].attention.heads * len(study.bench.model.spec.layers))
    return max(others, *(len(other_spans(len(keys), keys, len(prompt))) for keys in held))


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
        study.bench.planned = study.bench.made + total(plan[number + 1 :])
    return None


def total(plan: Sequence[Stage]) -> Work:
    return sum((stage.work for stage in plan), Work())


def _answer(study: Study) -> None:
    """The own run. A wrong answer that the case does not name is what was written, or else the runner-up."""
    if not study.asked.wrong:
        study.asked = replace(study.asked, wrong=_stand_in(study), stand_in=True)
    study.own = answer(study.bench, study.asked)
    base = Base(study.asked, study.own.decision, study.own.reading)
    study.setting = Setting(base, study.roles, _UNKNOWN, len(study.bench.model.spec.layers))

    decision = study.own.decision
    study.log_probs = (
        log_prob(study.bench, decision, decision.right),
        log_prob(study.bench, decision, decision.wrong),
    )


def _stand_in(study: Study) -> str:
    written = study.bench.write(study.asked.prompt.ids, study.asked.settings)
    text = study.bench.model.tokenizer.text(written.ids)
    if study.asked.score(text, written.stopped).right or not text.strip():
        return _runner_up(study, text)
    return text


def _runner_up(study: Study, text: str) -> str:
    """The second choice of the model where its right answer begins (or at the start): a token's text."""
    model, asked = study.bench.model, study.asked
    prefix = text[: mention(text, asked.right) or 0]
    ids = model.join(asked.prompt, prefix + asked.right)[0]
    before = ids[: shared(ids, model.join(asked.prompt, prefix)[0])]
    ranked = np.argsort(-study.bench.read(before)[-1], kind="stable")
    labels = (model.tokenizer.decode_bytes([int(i)]).decode(errors="ignore").strip() for i in ranked[:50])
    return next(label for label in labels if label and not asked.right.startswith(label))


def _floor(study: Study) -> None:
    delta = floor.noise(study.bench, study.decided.base.decision, np.random.default_rng(study.seed))
    study.setting = replace(study.decided, delta=delta)


def _run(study: Study, name: str, make: Maker) -> Trial | None:
    """A trial kept under a name; one that cannot be made (a template that refuses, a row left blind) is left out."""
    found = trials.attempt(study.bench, make, study.decided)
    if found is not None:
        study.trials[name] = found
    return found


def _prompts(study: Study) -> None:
    """Evidence alone, closed book, other orders; without evidence, the fact added where one was given."""
    if study.fact and study.roles.question is not None:
        added = with_fact(study.asked.case, study.roles.question, study.fact)
        _run(study, "fact", trials.prompted("fact added", added, frozenset({"fact"})))
    if not study.roles.evidence:
        return
    _run(study, "closed", trials.without_context)
    if study.wrong_here:
        _run(study, "alone", trials.evidence_alone)
        for order in other_orders(study.asked.case, study.roles):
            name = f"order {' '.join(order)}"
            if _run(study, name, trials.moved(order)):
                study.orders.append(name)


def _form(study: Study) -> None:
    """The start of the answer, a prefix that the model did not write, and greedy decoding where another is stated."""
    case = study.asked.case
    study.start = _behind(study, "")
    prefix = case.contract_prefix or ("答案：" if not case.right.isascii() else "Answer: ")
    study.forced = (prefix, _behind(study, prefix))
    if case.contract_prefix and _is_contract(case):
        _run(study, "contract", trials.behind_prefix(case.contract_prefix))
    if not study.asked.settings.greedy:
        _run(study, "greedy", trials.greedily)


def _behind(study: Study, prefix: str) -> Reading:
    asked = study.asked
    decision = decision_after(study.bench.model, asked.prompt, prefix, asked.right, asked.wrong, "forced")
    return read(study.bench, asked, decision)


def _is_contract(case: CaseInstance) -> bool:
    """A prefix that holds words of the right answer, of the evidence or of the question is never the contract's."""
    told = " ".join((case.right, *(part.text for part in case.parts)))
    return not set(re.findall(r"\w+", (case.contract_prefix or "").casefold())) & set(
        re.findall(r"\w+", told.casefold())
    )


def _edges(study: Study) -> None:
    if not study.roles.evidence or not study.wrong_here:
        return
    _run(study, "boost", trials.boost_evidence)
    for name in study.roles.others:
        if _run(study, f"cut {name}", trials.cut_part(name)):
            study.cuts.append(f"cut {name}")


def _removals(study: Study) -> None:
    """Writers, suppressors and pairs, each searched only where the tree can come to it."""
    if "alone" not in study.trials or any(study.trials[name].flips for name in (*study.orders, "boost")):
        return
    if study.trials["alone"].flips:
        _suppressors(study)
    elif closed_same_wrong(study):
        _writers(study)
        if not study.writers:
            _pairs(study)


def _suppressors(study: Study) -> None:
    """Heads whose removal brings the right answer ahead: the strongest three are tried until one flips."""
    base = study.decided.base.decision
    found = {}
    for layer, described in enumerate(study.bench.model.spec.layers):
        for head in range(described.attention.heads):
            edits = trials.removal("head_out", layer, head, base.answer_row)
            found[layer, head] = read(study.bench, study.asked, base, edits).ld
    ahead = [place for place in sorted(found, key=lambda place: -found[place]) if found[place] > 0]
    for layer, head in ahead[:_TRIED_REMOVALS]:
        trial = _run(study, f"head {layer}.{head}", trials.removed("head_out", layer, head))
        if trial is not None and trial.flips:
            study.suppressors.append(f"head {layer}.{head}")
            return


def _writers(study: Study) -> None:
    """MLPs whose removal flips, the strongest first."""
    for layer in _ahead_without(study, ()):
        trial = _run(study, f"MLP {layer}", trials.removed("mlp_out", layer))
        if trial is not None and trial.flips:
            study.writers.append(f"MLP {layer}")
            return


def _pairs(study: Study) -> None:
    """Another order and one MLP removed together, where neither alone flips."""
    for order in study.orders[:_TRIED_REMOVALS]:
        names = tuple(order.removeprefix("order ").split())
        for layer in _ahead_without(study, names):
            name = f"{order} + MLP {layer}"
            trial = _run(study, name, trials.moved_and_removed(names, layer))
            if trial is not None and trial.flips:
                study.pairs.append(name)
                return


def _ahead_without(study: Study, order: tuple[str, ...]) -> list[int]:
    """Layers without whose MLP the right answer is ahead behind the base's prefix, in this order of the parts."""
    asked, base = study.asked, study.decided.base.decision
    if order:
        asked = asked.rendered(study.bench.model, asked.case.reordered(order))
    place = decision_after(study.bench.model, asked.prompt, base.prefix, asked.right, asked.wrong, "forced")
    found = {
        layer: read(study.bench, asked, place, trials.removal("mlp_out", layer, None, place.answer_row)).ld
        for layer in range(study.decided.layers)
    }
    return [layer for layer in sorted(found, key=lambda layer: -found[layer]) if found[layer] > 0][:_TRIED_REMOVALS]


@dataclass(frozen=True)
class Proof:
    """A trial that a verdict would rest on, with how it is repeated and, where there are any, its shams."""

    name: str
    make: Maker
    shams: ShamMakers | None


def _proofs(study: Study) -> Iterator[Proof]:
    """What needs variants and shams: the first of each kind that flips."""
    flips = {name for name, trial in study.trials.items() if trial.flips}
    if "contract" in flips:
        yield Proof("contract", trials.behind_prefix(study.asked.case.contract_prefix or ""), None)
    if "greedy" in flips:
        yield Proof("greedy", trials.greedily, None)
    for order in [order for order in study.orders if order in flips][:1]:
        yield Proof(order, trials.moved(order.removeprefix("order ").split()), None)
    yield from _edge_proof(study, flips)
    for name in study.suppressors:
        layer, head = map(int, name.removeprefix("head ").split("."))
        heads = [described.attention.heads for described in study.bench.model.spec.layers]
        yield Proof(name, trials.removed("head_out", layer, head), trials.other_heads(layer, head, heads))
    for name in study.writers:
        layer = int(name.removeprefix("MLP "))
        yield Proof(name, trials.removed("mlp_out", layer), trials.other_layers(layer))
    for name in study.pairs:
        order, _, last = name.removeprefix("order ").partition(" + MLP ")
        names, layer = order.split(), int(last)
        yield Proof(name, trials.moved_and_removed(names, layer), trials.other_writers(names, layer))


def _edge_proof(study: Study, flips: set[str]) -> Iterator[Proof]:
    """The boost where it flips; else, where another order is right too, the first cut that flips."""
    if "boost" in flips:
        yield Proof("boost", trials.boost_evidence, trials.other_spans_of("boost", study.roles.evidence))
    elif any(order in flips for order in study.orders):
        for cut in [cut for cut in study.cuts if cut in flips][:1]:
            part = cut.removeprefix("cut ")
            yield Proof(cut, trials.cut_part(part), trials.other_spans_of("cut", (part,)))


def _variants(study: Study) -> None:
    """What flips here is repeated on the variants that fail alike."""
    proofs = list(_proofs(study))
    if not study.variants or not proofs or not study.wrong_here:
        return
    study.failing = trials.failing_variants(study.bench, study.decided, study.answered, study.variants, roles_of)
    for proof in proofs:
        study.trials[proof.name] = trials.repeated(study.bench, study.trials[proof.name], proof.make, study.failing)


def _shams(study: Study) -> None:
    """The same changes elsewhere."""
    for proof in _proofs(study):
        if proof.shams is not None:
            trial = study.trials[proof.name]
            found = trials.with_shams(study.bench, study.decided, trial, proof.shams)
            study.trials[proof.name] = found


def closed_same_wrong(study: Study) -> bool:
    """Whether the closed-book answer is the same wrong candidate."""
    closed, alone = study.trials.get("closed"), study.trials.get("alone")
    if closed is None or alone is None:
        return False
    return closed.outcome.score.outcome == "wrong" and closed.outcome.score.candidate == study.answered.score.candidate


def _segments(study: Study) -> None:
    for stretch in study.stretches:
        study.segments.append(segment_effects(study.bench, study.decided.base, stretch))


def _keys(study: Study) -> None:
    if study.decided.base.decision.row <= MOST_KEYS:
        study.keys = key_effects(study.bench, study.decided.base)


def _heads(study: Study) -> None:
    if not study.roles.evidence:
        return
    keys = keys_of(study.asked.prompt, study.roles.evidence)
    study.heads = head_effects(study.bench, study.decided.base, keys)
