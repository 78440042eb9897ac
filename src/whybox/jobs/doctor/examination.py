"""The whole examination: what is asked, in which order, and the document that comes of it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from whybox.items.generate import Language
from whybox.jobs.doctor import abilities, context, local, repeats, template
from whybox.jobs.doctor.examiner import Examiner, check
from whybox.jobs.doctor.repeats import Repeats
from whybox.jobs.provenance import model_info
from whybox.report.document import DoctorCheck, DoctorDocument, FloorRow, Lang, ModelInfo, TargetInfo
from whybox.targets.local import LocalTarget
from whybox.targets.openai import OpenAITarget
from whybox.targets.target import Failure, Target
from whybox.targets.until_done import until_closed

NOT_REVEALED = "not revealed"
MOST_FAILURES = 5
USUAL = Repeats()


@dataclass(frozen=True)
class DoctorOptions:
    """seed: of prompts. most_context: tokens up to which a prompt is made longer. design: of equal calls.
    topics: of how many each seed writes.

    language: of the prompts that are sent. lang: of the report.
    """

    seed: int = 0
    most_context: int = 4096
    design: Repeats = USUAL
    topics: int = abilities.MOST_TOPICS
    language: Language = "en"
    lang: Lang = "en"


@dataclass(frozen=True)
class Planned:
    """About how many calls there will be."""

    calls: int


def doctor(
    target: Target,
    options: DoctorOptions = DoctorOptions(),
    announce: Callable[[Planned], None] = lambda plan: None,
    tell: Callable[[int], None] = lambda done: None,
) -> DoctorDocument:
    """Examines a target. EndpointError where no call can succeed: that is no finding, but the end."""
    begun = time.perf_counter()
    announce(Planned(options.design.calls + abilities.DRAWS * len(abilities.SEEDS) * options.topics + 24))
    examiner = Examiner(target, options.language, options.seed, tell)
    checks, floor = until_closed(_examined(examiner, options), [target])
    identity = target.identity
    return DoctorDocument(
        schema=DoctorDocument.identity(),
        lang=options.lang,
        model=_model(target),
        seed=options.seed,
        took_s=time.perf_counter() - begun,
        target=TargetInfo(kind=identity.kind, model=identity.model, details=dict(identity.details)),
        checks=tuple(checks),
        floor=tuple(floor),
        calls=examiner.calls,
        failed=len(examiner.failures),
        failures=_kinds(examiner.failures),
        verdict=_verdict(checks),
    )


async def _examined(examiner: Examiner, options: DoctorOptions) -> tuple[list[DoctorCheck], list[FloorRow]]:
    target, found = examiner.target, []
    if isinstance(target, OpenAITarget):
        found += await _reached(target)
    if isinstance(target, LocalTarget):
        found += local.checks(target, options.seed)
    if any(each.finding == "finite.first" for each in found):
        return found, []  # nothing that it writes would mean anything
    if target.abilities.chat.has is False:
        found.append(check("chat", "skipped", "none", quote=target.abilities.chat.why))
        return [*found, await abilities.scores(examiner)], []
    told = await abilities.logprobs(examiner)
    found += [
        told,
        await abilities.scores(examiner),
        await abilities.seeds(examiner, options.topics),
        await template.system(examiner),
    ]
    if not isinstance(target, LocalTarget):
        found += [await template.added(examiner), await template.bos(examiner)]
        found.append(await context.context(examiner, options.most_context))
    floor = await repeats.floor(examiner, options.design, told.state == "yes")
    found += [template.fenced(examiner.replies), abilities.usage(examiner.replies)]
    if examiner.failures:
        found.append(check("calls", "fault", "failed", {"failed": len(examiner.failures), "calls": examiner.calls}))
    return found, floor


async def _reached(target: OpenAITarget) -> list[DoctorCheck]:
    """Whether anybody is there, lets us in, and has the model."""
    reply = await target.require_ready()
    found = [check("reach", "yes", "answers", {"seconds": reply.seconds, "attempts": max(1, len(reply.attempts))})]
    listed = await target.models()
    if isinstance(listed, Failure):
        return [*found, check("model", "unknown", "no_list", quote=listed.cause)]
    names, stated = listed
    if target.endpoint.model not in names:
        return [*found, check("model", "note", "unlisted", {"names": len(names)}, ", ".join(names))]
    return [*found, check("model", "yes", "listed", {} if stated is None else {"context": stated})]


def _kinds(failures: list[Failure]) -> tuple[str, ...]:
    """Each kind of failure once, with its count."""
    counted: dict[str, int] = {}
    for failure in failures:
        name = failure.kind if failure.status is None else f"{failure.kind} {failure.status}"
        counted[name] = counted.get(name, 0) + 1
    ordered = sorted(counted.items(), key=lambda pair: -pair[1])
    return tuple(f"{name} × {count}" for name, count in ordered[:MOST_FAILURES])


def _verdict(checks: list[DoctorCheck]) -> Literal["usable", "faults", "undetermined"]:
    if any(each.state == "fault" for each in checks):
        return "faults"
    return "undetermined" if any(each.state == "unknown" for each in checks) else "usable"


def _model(target: Target) -> ModelInfo:
    if isinstance(target, LocalTarget):
        return model_info(target.model)
    identity, hidden = target.identity, NOT_REVEALED
    return ModelInfo(
        name=identity.model, family=identity.kind, digest=hidden, engine=hidden, precision=hidden, kernel=hidden
    )
