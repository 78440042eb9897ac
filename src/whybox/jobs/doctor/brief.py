"""The short examination that a suite makes of its targets: what its plan depends on, in about a dozen calls."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from whybox.errors import InfrastructureError
from whybox.items.generate import Language
from whybox.jobs.doctor import abilities, context, local, template
from whybox.jobs.doctor.examiner import Examiner, check
from whybox.report.document import DoctorCheck
from whybox.report.text_doctor import sentence
from whybox.suite.examined import Examined
from whybox.targets.local import LocalTarget
from whybox.targets.target import YES, Abilities, Ability, Request, Sampling, Target, chat, no

TOPICS = 1  # of how many each seed writes
CUT = ("context.cut_start", "context.cut_end", "context.counts_stop")
FIRST = "finite.first"


@dataclass(frozen=True)
class Wanted:
    """What a suite will ask: about how many tokens its longest prompt has, whether it draws, in which language."""

    longest: int
    draws: bool
    language: Language = "en"
    seed: int = 0


async def examined(target: Target, wanted: Wanted) -> Examined:
    """What the target showed. EndpointError where no call can succeed; InfrastructureError where its values are not
    finite: nothing that it writes would mean anything.
    """
    examiner = Examiner(target, wanted.language, wanted.seed, lambda done: None)
    found = await _checks(examiner, wanted)
    if (broken := next((each for each in found if each.finding == FIRST), None)) is not None:
        raise InfrastructureError(
            f"{target.identity.model}: {sentence(broken, 'en')}", "whybox doctor TARGET and whybox diff say more"
        )
    cut = next((each.numbers["tokens"] for each in found if each.finding in CUT), None)
    able = as_shown(target.abilities, found)
    return Examined(able, None if cut is None else int(cut), examiner.calls, tuple(each.model_dump() for each in found))


def as_shown(said: Abilities, found: Sequence[DoctorCheck]) -> Abilities:
    """What a target says of itself, corrected by what it showed; what could not be told stays as it says."""
    shown = {each.check: each for each in found}
    bos = shown.get("bos")
    ids = said.ids if bos is None else no(sentence(bos, "en")) if bos.finding == "bos.hidden" else YES
    return replace(
        said,
        logprobs=_shown(said.logprobs, shown.get("logprobs")),
        scores=_shown(said.scores, shown.get("scores")),
        seed=_shown(said.seed, shown.get("seed")),
        usage=_shown(said.usage, shown.get("usage")),
        ids=ids,
    )


def _shown(said: Ability, found: DoctorCheck | None) -> Ability:
    if found is None or found.state in ("unknown", "skipped"):
        return said
    return YES if found.state == "yes" else no(sentence(found, "en"))


async def _checks(examiner: Examiner, wanted: Wanted) -> list[DoctorCheck]:
    """From what costs nothing to what depends on it. What the engine of this process computes needs no second proof."""
    target = examiner.target
    if isinstance(target, LocalTarget):
        found = local.short_checks(target, wanted.seed)
        if target.abilities.chat and not any(each.finding == FIRST for each in found):
            found += await _drawn(examiner, wanted)
        return found
    found = [await _reached(examiner)]
    if target.abilities.chat.has is False:
        skipped = check("chat", "skipped", "none", quote=target.abilities.chat.why)
        return [*found, skipped, await abilities.scores(examiner)]
    found += [await abilities.logprobs(examiner), await abilities.scores(examiner), *await _drawn(examiner, wanted)]
    found += [await template.system(examiner), await template.added(examiner), await template.bos(examiner)]
    found.append(await context.context(examiner, 2 * wanted.longest))  # the last doubling stays below it
    return [*found, abilities.usage(examiner.replies)]


async def _drawn(examiner: Examiner, wanted: Wanted) -> list[DoctorCheck]:
    """Whether a seed is honoured, where the suite draws at all."""
    return [await abilities.seeds(examiner, TOPICS)] if wanted.draws else []


async def _reached(examiner: Examiner) -> DoctorCheck:
    """Whether anybody answers. A call that fails by chance is no reason to ask no other."""
    reply = await examiner.ask(Request(chat("Hello"), Sampling(max_tokens=1)))
    if reply is None:
        return check("reach", "unknown", "failed", quote=examiner.failures[-1].cause)
    return check("reach", "yes", "answers", {"seconds": reply.seconds, "attempts": max(1, len(reply.attempts))})
