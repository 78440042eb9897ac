"""`whybox run --why`: the items that failed on weights of this machine, each explained, and its mechanism."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from whybox.errors import UsageError, WhyboxError
from whybox.items.case import Case
from whybox.jobs.why import WhyOptions, why
from whybox.model import Model
from whybox.probes.design import Deciding, Finding
from whybox.report.document import Lang, Mechanism, WhyDocument
from whybox.suite.behaviour import Behaviour
from whybox.suite.judgement import Skipped, Where
from whybox.suite.whole import Found
from whybox.targets.local import LocalTarget
from whybox.targets.target import Target

NOT_EXPLAINED = "not explained"
MOST_FAILED = 1000  # of one probe
TellWhy = Callable[[Where, str, int, int], None]


def unheard(where: Where, item: str, number: int, of: int) -> None:
    """Tells nobody."""


@dataclass(frozen=True)
class WhyAsked:
    """most: failed items of each probe on each target. tell: told before each of them, with its number and how many."""

    most: int
    lang: Lang = "en"
    tell: TellWhy = unheard


def require_weights(targets: Mapping[str, Target]) -> None:
    """UsageError for a target of which only behaviour can be seen."""
    for name, target in targets.items():
        if not isinstance(target, LocalTarget):
            raise UsageError(
                f"--why needs weights of this machine; {name!r} ({target.identity.kind}) shows its behaviour alone",
                "leave --why out, or run the same suite on local weights: -m MODEL --why",
            )


def explained(
    suite: Behaviour, targets: Mapping[str, Target], found: Found, asked: WhyAsked
) -> Iterator[tuple[tuple[Where, int], Mechanism]]:
    """One after the other, a mechanism for each of the first failed items of every probe; where `why` refuses one, its
    reason. KeyboardInterrupt where Ctrl-C came meanwhile: what was half done names nothing.
    """
    failed = [
        (where, place, deciding)
        for where, finding in found.findings.items()
        if isinstance(finding, Finding)
        for place, deciding in failed_items(finding, asked.most)
    ]
    for number, (where, place, deciding) in enumerate(failed, 1):
        target = targets[where[1]]
        if isinstance(target, LocalTarget):
            asked.tell(where, deciding.item, number, len(failed))
            yield (where, place), mechanism_of(target.model, deciding, _options(suite, where, asked.lang))


def failed_items(finding: Finding, most: int) -> Iterator[tuple[int, Deciding]]:
    """The first distinct items whose last answer is not right, each with its place among those that decided."""
    seen: set[str] = set()
    for place, each in enumerate(finding.deciding):
        if len(seen) < most and each.item not in seen and not each.case.scorer().score(each.answers[-1]).right:
            seen.add(each.item)
            yield place, each


def failed_cases(findings: Mapping[Where, Finding | Skipped]) -> str:
    """The items that decided the findings and whose last answer is not right, as cases, one a line.

    They are what `failure` takes as `data`, and `whybox why` one by one.
    """
    cases = [
        Case.from_instance(replace(each.case, id=f"{probe}-{target}-{each.item}"), each.answers[-1])
        for (probe, target), finding in findings.items()
        if isinstance(finding, Finding)
        for _, each in failed_items(finding, MOST_FAILED)
    ]
    return "".join(f"{case.line}\n" for case in cases)


def mechanism_of(model: Model, deciding: Deciding, options: "HowAnswered") -> Mechanism:
    """What `why` names for the prompt of the last arm. What it refuses is said, and is no mechanism."""
    try:
        case = Case.from_instance(deciding.case, deciding.answers[-1], options.decoding)
        document = why(model, case, options.why)
    except WhyboxError as error:
        return Mechanism(
            code=None,
            code_reason=error.cause,
            sentence="",
            effect=None,
            effect_reason=NOT_EXPLAINED,
            interval=None,
            interval_reason=NOT_EXPLAINED,
        )
    if document.broken_off:
        raise KeyboardInterrupt
    return _named(document)


@dataclass(frozen=True)
class HowAnswered:
    """decoding: the settings of the run, as a case states them."""

    decoding: Mapping[str, Any]
    why: WhyOptions


def _options(suite: Behaviour, where: Where, lang: Lang) -> HowAnswered:
    run, most = suite.file.run, suite.probes[where[0]].max_tokens
    drawn = {"temperature": run.temperature, "seed": run.seed or 0} if run.temperature else {}
    top = {} if run.top_p is None or not drawn else {"top_p": run.top_p}
    return HowAnswered({"max_tokens": most} | drawn | top, WhyOptions(seed=suite.file.seed, lang=lang, limit=most))


def _named(found: WhyDocument) -> Mechanism:
    """The first cause of a verdict; the others by name."""
    verdict = found.verdict
    first, *others = verdict.causes
    return Mechanism(
        code=first.code,
        detail=first.detail,
        sentence=verdict.because,
        undone_by=first.undone_by,
        effect=first.effect,
        effect_reason=first.effect_reason,
        interval=first.interval,
        interval_reason=first.interval_reason,
        scope=verdict.scope,
        others=tuple(" · ".join(filter(None, (cause.code, cause.detail))) for cause in others),
    )
