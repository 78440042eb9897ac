"""`whybox run`: from a suite file to the document of what was found."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from whybox.errors import UsageError
from whybox.jobs.doctor.brief import Wanted
from whybox.jobs.run_document import run_document
from whybox.jobs.run_examined import Know, as_said
from whybox.jobs.run_why import TellWhy, WhyAsked, explained, failed_cases, require_weights, unheard
from whybox.model import Model
from whybox.probes.design import Call
from whybox.report.document import Lang, Mechanism, RunDocument, to_json
from whybox.statistics.unknown import Unknown
from whybox.suite import observed, scores
from whybox.suite.behaviour import Behaviour, TargetText
from whybox.suite.database import made_folder
from whybox.suite.grounds import grounds_of, seeded
from whybox.suite.judgement import Where
from whybox.suite.planning import Planned, Row, longest, plan, rows
from whybox.suite.progress import Tell, unseen
from whybox.suite.store import Store
from whybox.suite.terms import terms_of
from whybox.suite.whole import Choice, Found, Prepared, run
from whybox.targets.naming import OPENAI, endpoint_of, target_of
from whybox.targets.openai import OpenAITarget
from whybox.targets.target import Target

RUN = "run.sqlite"
FAILED = "failed"
WHOLE = Choice()
"""Every call of a plan."""


@dataclass(frozen=True)
class RunOptions:
    """seed, repeat, model: in place of what the suite says. strict: an inconclusive gate counts.

    why: how many failed items of each probe are explained with the weights; None for none.
    """

    choice: Choice = field(default_factory=Choice)
    seed: int | None = None
    repeat: int | None = None
    model: str | None = None
    strict: bool = False
    lang: Lang = "en"
    why: int | None = None


class BrokenOff(KeyboardInterrupt):
    """Ctrl-C behind the last call: the document, with the mechanisms that had been found."""

    def __init__(self, document: RunDocument) -> None:
        super().__init__()
        self.document = document


def plan_rows(prepared: Prepared, choice: Choice = WHOLE) -> list[Row]:
    """What of the plan will be run, one line a probe and target. UsageError where the choice leaves nothing."""
    return rows(prepared.planned, prepared.grounds, {call.cell for call in choice.of(prepared.planned)})


def prepare(path: Path, options: RunOptions, opened: Callable[[TargetText], Target], know: Know = as_said) -> Prepared:
    """Reads the suite, opens its targets, learns what they can do, plans every call. UsageError for what cannot be, and
    for `why` where a target is no model of this machine; whatever `know` raises.
    """
    suite = seeded(Behaviour.load(path), options.seed, options.repeat)
    if options.model is None:
        targets = _opened(suite, opened)
    else:
        text = TargetText(model=options.model)
        suite = replace(suite, file=suite.file.model_copy(update={"targets": [text]}))
        targets = {text.title: opened(text)}
    if options.why is not None:
        require_weights(targets)
    said = grounds_of(suite, targets, path.parent)
    planned = plan(suite, said)
    wishes = {name: (target, _wanted(suite, name, planned)) for name, target in targets.items()}
    known = know(wishes, terms_of(suite, said, targets))
    grounds = {name: known[name].on(ground) if name in known else ground for name, ground in said.items()}
    return Prepared(suite, targets, grounds, planned if grounds == said else plan(suite, grounds), known)


def _opened(suite: Behaviour, opened: Callable[[TargetText], Target]) -> dict[str, Target]:
    """The targets that the file names, each by its title."""
    targets = {}
    for place, text in enumerate(suite.file.targets):
        with suite.told_of("targets", place):
            targets[text.title] = opened(text)
    return targets


def _wanted(suite: Behaviour, target: str, planned: Planned) -> Wanted:
    languages = {design.language for design in suite.probes.values()}
    return Wanted(
        longest(call for call in planned.calls if call.target == target),
        draws=suite.file.run.temperature > 0,
        language="zh" if languages == {"zh"} else "en",
        seed=suite.file.seed,
    )


def run_suite(
    prepared: Prepared, options: RunOptions, folder: Path, tell: Tell = unseen, tell_why: TellWhy = unheard
) -> RunDocument:
    """Makes the calls that are not finished, reads all, and explains what failed if asked to.

    The document is kept in the run as well; before anything is explained too, so that a kill loses no finding.
    BrokenOff where Ctrl-C came while failures were explained: it ends the run, and holds what was explained by then.
    """
    begun = time.perf_counter()
    found = run(prepared, made_folder(folder) / RUN, options.choice, tell)
    told = prepared, found
    document = _kept(run_document(*told, options.lang, options.strict), found, folder, begun)
    if options.why is None:
        return document
    asked = prepared.suite, prepared.targets, found
    mechanisms: dict[tuple[Where, int], Mechanism] = {}
    try:
        mechanisms.update(explained(*asked, WhyAsked(options.why, options.lang, tell_why)))  # one by one
    except KeyboardInterrupt as stop:
        document = run_document(*told, options.lang, options.strict, mechanisms)
        raise BrokenOff(_kept(document, found, folder, begun)) from stop
    return _kept(run_document(*told, options.lang, options.strict, mechanisms), found, folder, begun)


def _kept(document: RunDocument, found: Found, folder: Path, begun: float) -> RunDocument:
    document = document.model_copy(update={"took_s": time.perf_counter() - begun})
    with Store(folder / RUN) as store:
        notes = {
            "document": to_json(document),
            scores.NOTE: scores.written(found.scores),
            FAILED: failed_cases(found.findings),
            observed.NOTE: json.dumps(observed.written(found.observed), ensure_ascii=False),
        }
        store.write_notes(notes)
    return document


def is_unfinished(prepared: Prepared, folder: Path, choice: Choice = WHOLE) -> bool:
    """Whether a call that was chosen is still to be made."""
    if not (folder / RUN).is_file():
        return True
    with Store(folder / RUN) as store:
        return bool(_left(prepared, store, choice))


def _left(prepared: Prepared, store: Store, choice: Choice) -> list[Call]:
    """What is still to be made: of the floors, and of the probes what was chosen."""
    floors = [call for calls in prepared.planned.floors.values() for call in calls]
    return store.unfinished([*floors, *choice.of(prepared.planned)], choice.retry_errors)


def seconds_of(prepared: Prepared, folder: Path, choice: Choice = WHOLE) -> float | Unknown:
    """About how long the calls that are still to be made will take, by those that this run has made."""
    if not (folder / RUN).is_file():
        return Unknown("the time is not known before the first call")
    with Store(folder / RUN) as store:
        pace = store.seconds_a_call()
        left = len(_left(prepared, store, choice))
    return Unknown("the time is not known before the first call") if pace is None else pace * left


def kept_document(folder: Path) -> RunDocument:
    """The document of a run that was finished before. UsageError where there is none."""
    with Store.existing(folder / RUN) as store:
        text = store.note("document")
    if text is None:
        raise UsageError(f"the run in {folder} is not finished", "go on with it: whybox run SUITE.yaml -o DIR")
    return RunDocument.model_validate_json(text)


def kept_failures(folder: Path) -> str:
    """`failed_cases` of a run that was finished before. UsageError where there is none."""
    kept_document(folder)
    with Store.existing(folder / RUN) as store:
        return store.note(FAILED) or ""


def target_from(text: TargetText, local: Callable[[TargetText], Model], seed: int, width: int | None) -> Target:
    """The target of a suite. local: opens a model of this machine. width: calls at once, in place of the suite's."""
    if not text.model.startswith(OPENAI):
        return target_of(text.model, lambda name: local(text), seed)
    end = endpoint_of(text.model, text.base_url)
    return OpenAITarget(
        replace(
            end,
            stream=text.stream,
            timeout=text.timeout,
            patience=replace(end.patience, max_retries=text.max_retries),
            concurrency=width or text.concurrency,
            extra_body=text.extra_body,
            extra_headers=text.extra_headers,
            ca_file=text.ca_file or end.ca_file,
        )
    )
