"""`why`: one answer explained by changing one thing at a time."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from whybox.cause.answers import Asked
from whybox.cause.bench import Bench, Progress, Work
from whybox.cause.parts import roles_of
from whybox.cause.study import Stage, Study, open_study, run_stages, stages
from whybox.cause.trials import ENOUGH_VARIANTS, failing_variants
from whybox.compare.switches import (
    MOST_BYTES,
    MOST_SWITCHES,
    REFERENCE,
    Compared,
    Switch,
    compared,
    has_reference,
    reference_of,
    repeated,
    switched,
    switches,
)
from whybox.items.case import Case
from whybox.jobs.views import Views, see
from whybox.jobs.why_document import Told, document
from whybox.jobs.why_input import check
from whybox.model import Model
from whybox.report.document import Lang, WhyDocument
from whybox.verdict.facts import Try
from whybox.verdict.reading import as_switch, facts_of
from whybox.verdict.tree import rule

Effort = Literal["quick", "full"]
_FURTHER = 4
_RUNS_OF_A_SWITCH = 4


@dataclass(frozen=True)
class WhyOptions:
    """seed: of floors, variants and permutations. fact: a text that answers the question, for a case without evidence.

    limit: tokens of an answer, where the case states none. command, file: what the report repeats.
    """

    effort: Effort = "quick"
    seed: int = 0
    lang: Lang = "en"
    limit: int = 32
    fact: str = ""
    command: str = ""
    file: str = ""


@dataclass(frozen=True)
class Plan:
    """What is going to be run: at most so many runs in all, and by stage."""

    runs: int
    stages: tuple[tuple[str, int], ...]


def _nobody(_: object) -> None:
    pass


def why(
    model: Model,
    case: Case,
    options: WhyOptions = WhyOptions(),
    announce: Callable[[Plan], None] = _nobody,
    tell: Callable[[Progress], None] = _nobody,
    reference: Model | None = None,
) -> WhyDocument:
    """Explain one answer. announce: told once, before the first run. tell: told after every run.

    reference: what a wrong answer is computed on once more; without one the NumPy engine in fp32, where another ran.

    Ctrl-C ends the work and the document says what is missing; before the answer and its noise floor are known,
    KeyboardInterrupt passes on. Raises CaseError where right and wrong cannot be told apart.
    """
    began = time.monotonic()
    bench = Bench(model, tell)
    check(model, case.filled(), options.fact)
    study = open_study(bench, case.instances(seed=options.seed), options.limit, options.seed, options.fact)
    plan = stages(study)
    announce(_announced(study, plan, options, reference))
    broken_off = run_stages(study, plan)
    bench.stage = "figures"
    views = see(study)
    otherwise, repeats = (None, None) if broken_off else _otherwise(study, options, reference)
    longer = None if broken_off else _longer(study)
    facts = replace(
        facts_of(study, _observed_wrong(study.asked, case.got), views.lift, otherwise, repeats), longer=longer
    )
    told = Told(case, options.command, options.file, options.effort, options.lang, broken_off)
    return document(study, views, facts, rule(facts), told, time.monotonic() - began)


def _announced(study: Study, plan: list[Stage], options: WhyOptions, reference: Model | None) -> Plan:
    """Upper bounds, the reference's runs among them: every switch here, and one on ten failing variants."""
    shown = [(stage.name, stage.work.runs) for stage in plan]
    if reference is not None or has_reference(study.bench.model, _most_bytes(options)):
        shown.append((REFERENCE, _RUNS_OF_A_SWITCH * (MOST_SWITCHES + min(len(study.variants), ENOUGH_VARIANTS))))
    return Plan(sum(runs for _, runs in shown), tuple(shown))


def _most_bytes(options: WhyOptions) -> float:
    return math.inf if options.effort == "full" else MOST_BYTES


def _otherwise(
    study: Study, options: WhyOptions, reference: Model | None
) -> tuple[Compared | None, tuple[bool, ...] | None]:
    """A wrong answer computed on the reference; what flips there is repeated on the variants that fail alike.

    Not with a repetition penalty, which only the bench applies.
    """
    sound = reference or reference_of(study.bench.model, _most_bytes(options))
    if sound is None or not study.wrong_here or study.asked.settings.penalty != 1.0:
        return None, None
    setting = study.decided
    found = compared(study.bench.model, sound, study.asked, setting.base.decision)
    study.bench.made += Work(reads=(_RUNS_OF_A_SWITCH - 1) * found.answers, writes=found.answers)
    if not found.flipping:
        return found, None
    if study.failing is None:
        study.failing = failing_variants(study.bench, setting, study.answered, study.variants, roles_of)
    known = {switch.name: switch for switch in switches(study.bench.model, sound)}
    switch = known.get(found.flipping[0].name, Switch(REFERENCE, sound))
    failing = [(one.asked, one.base.decision) for one in study.failing.settings]
    study.bench.made += Work(reads=(_RUNS_OF_A_SWITCH - 1) * len(failing), writes=len(failing))
    return found, repeated(switch, failing)


def _longer(study: Study) -> Try | None:
    """An answer that was cut before it asserted anything, written on four times as far."""
    own, settings, model = study.answered, study.asked.settings, study.bench.model
    if own.score.outcome != "error" or settings.penalty != 1.0:
        return None
    limit = min(_FURTHER * settings.limit, model.room(len(study.asked.prompt)))
    asked = replace(study.asked, settings=replace(settings, limit=limit))
    return as_switch(switched(Switch(f"limit of {limit} tokens", model), asked, study.decided.base.decision), 0.0)


def _observed_wrong(asked: Asked, got: str | None) -> bool | None:
    """Whether the output observed elsewhere is scored as anything but right."""
    return None if got is None else not asked.score(got, stopped=True).right


__all__ = ["Effort", "Plan", "Progress", "Study", "Views", "WhyOptions", "why"]
