"""Everything that is run on one answer, stage by stage. An interrupted study keeps what it has."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from whybox.cause import floor, trials
from whybox.cause.answers import Answered, Asked, answer, log_prob, read, settings_of
from whybox.cause.bench import Bench, Work
from whybox.cause.decision import Reading, decision_after, mention
from whybox.cause.effects import Base, SegmentEffects, head_effects, key_effects, segment_effects
from whybox.cause.parts import Roles, other_orders, roles_of, with_fact, with_presumed_evidence
from whybox.cause.spans import Stretch, keys_of, other_spans, stretches
from whybox.cause.trials import MOST_VARIANTS, Failing, Maker, Setting, Trial
from whybox.engine.sampling import GREEDY
from whybox.errors import PromptError, SiteError, UnsupportedError
from whybox.items.instance import CaseInstance
from whybox.statistics.ranks import Correlation, spearman
from whybox.text.prompt import Prompt, extend

GENERATED = "answer so far"
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
    asked = Asked(case, bench.model.prompt(case), case.wrong or "", settings_of(bench.model, case, limit))
    return Study(bench, asked, cases[1:], roles, seed, fact)


def stages(study: Study) -> list[Stage]:
    """The plan: every branch of the verdict tree first, then the map of what matters. Runs are upper bounds."""
    trials_of = len(study.roles.others) + 1
    prompts = 2 + len(other_orders(study.asked.case, study.roles))
    shams = _most_shams(study)
    layers = study.bench.model.spec.layers
    variants = min(len(study.variants), MOST_VARIANTS)
    keys = min(len(study.asked.prompt) + study.asked.settings.limit, MOST_KEYS)
    return [
        Stage("answer", Work(3, 1), _answer),
        Stage("noise floor", Work(reads=floor.RUNS), _floor),
        Stage("other prompts", Work(2 * prompts, prompts), _prompts),
        Stage("form and decoding", Work(4, 2), _form),
        Stage("attention edges", Work(2 * trials_of, trials_of), _edges),
        Stage("shams", Work(shams, shams), _shams),
        Stage("writers", Work(len(layers), len(layers)), _writers),
        Stage("variants", Work(3 * variants, 3 * variants), _variants),
        Stage("segments", Work(reads=_most_cuts(study)), _segments),
        Stage("keys", Work(reads=keys), _keys),
        Stage("heads", Work(reads=sum(layer.attention.heads for layer in layers)), _heads),
    ]


def _most_shams(study: Study) -> int:
    """Shams of the boost or of one cut, whichever could need more."""
    prompt, names = study.asked.prompt, [study.roles.evidence, *((other,) for other in study.roles.others)]
    held = [keys_of(prompt, found) for found in names]
    return max((len(other_spans(len(keys), keys, len(prompt))) for keys in held), default=0)


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
        study.asked = replace(study.asked, wrong=_stand_in(study))
    study.own = answer(study.bench, study.asked)
    base = Base(study.asked, study.own.decision, study.own.reading)
    study.setting = Setting(base, study.roles, _UNKNOWN)

    decision = study.own.decision
    study.log_probs = (
        log_prob(study.bench, decision, decision.right),
        log_prob(study.bench, decision, decision.wrong),
    )


def _stand_in(study: Study) -> str:
    written = study.bench.write(study.asked.prompt.ids, study.asked.settings)
    text = study.bench.model.tokenizer.decode_bytes(written.ids).decode(errors="replace")
    if study.asked.score(text, written.stopped).right or not text.strip():
        return _runner_up(study, text)
    return text


def _runner_up(study: Study, text: str) -> str:
    """The second choice of the model where its right answer begins (or at the start): a token's text."""
    place = mention(text, study.asked.right) or 0
    tokenizer, prompt = study.bench.model.tokenizer, study.asked.prompt
    ids, start = study.bench.model.join(prompt, text[:place] + study.asked.right)
    before = ids[: start + len(tokenizer.encode(text[:place]))] if place else ids[:start]
    ranked = np.argsort(-study.bench.read(before)[-1], kind="stable")
    taken = study.asked.right.strip()[:1]
    labels = (tokenizer.decode_bytes([int(i)]).decode(errors="ignore") for i in ranked[:50])
    return next(label for label in labels if label.strip() and not label.strip().startswith(taken))


def _floor(study: Study) -> None:
    delta = floor.noise(study.bench, study.decided.base.decision, np.random.default_rng(study.seed))
    study.setting = replace(study.decided, delta=delta)


def _run(study: Study, name: str, make: Maker) -> Trial | None:
    """A trial kept under a name; one that cannot be made (a template that refuses, a row left blind) is left out."""
    try:
        study.trials[name] = make(study.bench, study.decided)
    except (PromptError, SiteError, UnsupportedError):
        return None
    return study.trials[name]


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
    case, base = study.asked.case, study.decided.base
    study.start = _behind(study, "")
    prefix = case.contract_prefix or ("答案：" if not case.right.isascii() else "Answer: ")
    study.forced = (prefix, _behind(study, prefix))
    if case.contract_prefix and _is_contract(case):
        _run(study, "contract", trials.behind_prefix(case.contract_prefix))
    if not study.asked.settings.greedy:
        greedy = replace(base.asked, settings=replace(base.asked.settings, decoding=GREEDY, penalty=1.0))
        _run(study, "greedy", trials.decoded(greedy))


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


def _shams(study: Study) -> None:
    """Shams of the edge edit that a verdict would rest on."""
    name = _edge_to_prove(study)
    if name is not None:
        trial = study.trials[name]
        action = "boost" if name == "boost" else "cut"
        study.trials[name] = trials.with_shams(study.bench, study.decided, trial, action, trial.about)


def _edge_to_prove(study: Study) -> str | None:
    """The boost where it flips; else, where another order is right too, the first cut that flips."""
    if "boost" in study.trials and study.trials["boost"].flips:
        return "boost"
    if not any(study.trials[order].flips for order in study.orders):
        return None
    return next((name for name in study.cuts if study.trials[name].flips), None)


def _writers(study: Study) -> None:
    """MLPs set to zero, one by one, where evidence alone stays wrong and the wrong answer is the closed-book one."""
    if not closed_same_wrong(study) or study.trials["alone"].flips:
        return
    layers = range(len(study.bench.model.spec.layers))
    found = {layer: trials.silenced(layer)(study.bench, study.decided) for layer in layers}
    for layer, trial in found.items():
        if trial.flips:
            name = f"mlp {layer}"
            others = [other.outcome for key, other in found.items() if key != layer]
            study.trials[name] = trials.with_outcomes(trial, others)
            study.writers.append(name)


def closed_same_wrong(study: Study) -> bool:
    """Whether the closed-book answer is the same wrong candidate."""
    closed, alone = study.trials.get("closed"), study.trials.get("alone")
    if closed is None or alone is None:
        return False
    return closed.outcome.score.outcome == "wrong" and closed.outcome.score.candidate == study.answered.score.candidate


def _variants(study: Study) -> None:
    """What flips here is repeated on the variants that fail alike."""
    chosen = list(_to_repeat(study))
    if not study.variants or not chosen:
        return
    study.failing = trials.failing_variants(study.bench, study.decided, study.answered, study.variants, roles_of)
    for name, make in chosen:
        study.trials[name] = trials.repeated(study.bench, study.trials[name], make, study.failing)


def _to_repeat(study: Study) -> Iterator[tuple[str, Maker]]:
    """What a verdict would rest on: the first order that flips, the edge with its shams, the first writer."""
    order = next((order for order in study.orders if study.trials[order].flips), None)
    if order is not None:
        yield order, trials.moved(order.removeprefix("order ").split())
    edge = _edge_to_prove(study)
    if edge is not None:
        yield edge, trials.boost_evidence if edge == "boost" else trials.cut_part(edge.removeprefix("cut "))
    for writer in study.writers[:1]:
        yield writer, trials.silenced(int(writer.removeprefix("mlp ")))


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


def share_and_effect(shares: Sequence[float], effects: Sequence[float], seed: int) -> Correlation | None:
    """METHODS D4: weights are not causes. Spearman of attention share and effect."""
    return spearman(shares, effects, np.random.default_rng(seed))
