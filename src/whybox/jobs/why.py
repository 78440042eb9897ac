"""`why`: one answer explained by changing one thing at a time."""

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from whybox.cause.answers import Asked
from whybox.cause.bench import Bench, Progress
from whybox.cause.effort import full_stages, quick_stages
from whybox.cause.stages import Stage, run_stages, stages
from whybox.cause.study import Study, open_study
from whybox.compare.switches import REFERENCE
from whybox.items.case import Case
from whybox.jobs.otherwise import Otherwise, Ways, otherwise
from whybox.jobs.views import Views, see, view_runs
from whybox.jobs.why_document import Told, document
from whybox.jobs.why_input import check
from whybox.model import Model
from whybox.report.document import Lang, WhyDocument
from whybox.verdict.reading import facts_of
from whybox.verdict.tree import rule

Effort = Literal["quick", "full"]
FIGURES = "figures"


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
    plan = [*stages(study), *quick_stages(study), *(full_stages(study) if options.effort == "full" else ())]
    ways = Ways(reference, options.effort == "full")
    announced = _announced(study, plan, ways)
    announce(announced)
    again, broken_off = _computed_again(study, ways, run_stages(study, plan))
    bench.stage = FIGURES
    views = see(study)
    facts = facts_of(study, _observed_wrong(study.asked, case.got), views.lift, again.compared, again.repeats)
    facts = replace(facts, longer=again.longer)
    told = Told(case, options.command, options.file, options.effort, options.lang, broken_off, dict(announced.stages))
    return document(study, views, facts, rule(facts), told, time.monotonic() - began)


def _announced(study: Study, plan: list[Stage], ways: Ways) -> Plan:
    """Upper bounds, the reference's runs and those of the figures among them."""
    shown = [(stage.name, stage.work.runs) for stage in plan]
    shown += [(REFERENCE, ways.runs(study)), (FIGURES, view_runs(study))]
    return Plan(sum(runs for _, runs in shown), tuple(shown))


def _computed_again(study: Study, ways: Ways, broken_off: str | None) -> tuple[Otherwise, str | None]:
    """The last stage; Ctrl-C ends it as it ends the others."""
    if broken_off is not None:
        return Otherwise(), broken_off
    study.bench.stage = REFERENCE
    try:
        return otherwise(study, ways), None
    except KeyboardInterrupt:
        return Otherwise(), REFERENCE


def _observed_wrong(asked: Asked, got: str | None) -> bool | None:
    """Whether the output observed elsewhere is scored as anything but right."""
    return None if got is None else not asked.score(got, stopped=True).right


__all__ = ["Effort", "Plan", "Progress", "Study", "Views", "WhyOptions", "why"]
