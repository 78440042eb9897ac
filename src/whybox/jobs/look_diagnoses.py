"""Findings as rows of the document: base rate, likely meaning, test."""

from whybox.measure.base_rates import Rate, rate
from whybox.measure.diagnosis import Finding
from whybox.measure.thresholds import COMMON
from whybox.model import Model
from whybox.report.diagnosis_words import action, meaning, remark
from whybox.report.document import BaseRate, Diagnosis, Lang, Where


def said(model: Model, finding: Finding, lang: Lang) -> Diagnosis:
    """A finding with its base rate; where that is above 10 %, it only describes, and names no action."""
    found = rate(finding.code, model.file.digest())
    common = found is not None and found.share > COMMON
    return Diagnosis(
        code=finding.code,
        where=Where(layers=finding.layers, heads=finding.heads, tokens=finding.tokens, segments=finding.segments),
        evidence={name: float(value) for name, value in finding.evidence.items()},
        base_rate=None if found is None else BaseRate(model=found.model, hits=found.hits, n=found.n, own=found.own),
        base_rate_reason=None if found is not None else remark("no-rate", lang),
        common=common,
        meaning=meaning(finding.code, lang),
        action=None if common else action(finding.code, lang),
        action_reason=remark("common", lang) if common else None,
        note=_not_own(found, lang),
    )


def _not_own(found: Rate | None, lang: Lang) -> str:
    return "" if found is None or found.own else remark("not-own", lang, model=found.model)
