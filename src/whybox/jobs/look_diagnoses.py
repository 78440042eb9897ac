"""Findings as rows of the document: base rate, likely meaning, test; and what could not be decided, with the reason."""

from collections.abc import Iterator

from whybox.measure.base_rates import Rate, rate
from whybox.measure.diagnosis import ELSEWHERE, Finding, unsaid
from whybox.measure.subject import Subject
from whybox.measure.thresholds import COMMON
from whybox.report.diagnosis_words import action, meaning, remark
from whybox.report.document import BaseRate, Diagnosis, Lang, NotSaid, Where


def said(digest: str, finding: Finding, lang: Lang) -> Diagnosis:
    """A finding with its base rate for the model file of this digest; where that is above 10 %, it only describes, and
    names no action.
    """
    found = rate(finding.code, digest)
    common = found is not None and found.share > COMMON
    return Diagnosis(
        code=finding.code,
        where=Where(layers=finding.layers, heads=finding.heads, tokens=finding.tokens, segments=finding.segments),
        evidence={name: float(value) for name, value in finding.evidence.items()},
        base_rate=None if found is None else BaseRate(model=found.model, hits=found.hits, n=found.n, own=found.own),
        base_rate_reason=None if found is not None else remark("no-rate", lang),
        common=common,
        meaning=meaning(finding.code, lang) + _counted(finding, lang),
        action=None if common else action(finding.code, lang),
        action_reason=remark("common", lang) if common else None,
        note=_not_own(found, lang),
    )


def not_said(subject: Subject, lang: Lang) -> Iterator[NotSaid]:
    """Codes that this subject cannot decide, then those that take more than one run."""
    for code, need in unsaid(subject).items():
        yield NotSaid(code=code, reason=remark(f"needs.{need}", lang))
    for code in ELSEWHERE:
        yield NotSaid(code=code, reason=remark(f"elsewhere.{code}", lang))


def _counted(finding: Finding, lang: Lang) -> str:
    return remark("counted", lang, names=", ".join(finding.counted)) if finding.counted else ""


def _not_own(found: Rate | None, lang: Lang) -> str:
    return "" if found is None or found.own else remark("not-own", lang, model=found.model)
