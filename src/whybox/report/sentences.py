"""Findings as sentences, from the numbers of a document alone: terminal and page say the same words."""

from whybox.report.document import Cause, Lang, Metric, SegmentRow, Tried, Verdict, WhyDocument
from whybox.report.numbers import below, interval, number, percent
from whybox.report.words import claim_key, say
from whybox.statistics.ranks import share_p
from whybox.verdict.experiment_words import named, segment_named
from whybox.verdict.facts import ALPHA

LENIENT = "lenient parse"  # a change of the reader's: nothing is run anew, so nothing flips


def headline(document: WhyDocument, lang: Lang) -> str:
    """The verdict in one sentence that can be pasted into a ticket."""
    cause = document.verdict.causes[0]
    joint = " · ".join(c for c in (cause.detail or "").split("+") if c)
    about = ", ".join(cause.about) or joint or "?"
    parts = [say(_claim(document.verdict), lang, about=about)]
    proof = [clause for clause in (_flip_clause(cause, document.verdict, lang), _sham_clause(cause, lang)) if clause]
    if cause.code == "not-determined" and cause.detail is None and document.tried:
        proof = [_open_clause(document, lang)]
    if proof:
        parts.append(("，" if lang == "zh" else ", ").join(proof))
    return ("：" if lang == "zh" else ": ").join(parts) + ("。" if lang == "zh" else ".")


def _open_clause(document: WhyDocument, lang: Lang) -> str:
    """Where no cause was found: how many of the experiments that gave an answer turn it right."""
    hits, n = flips_of(document)
    if not n:
        return say("proof.open.silent", lang)
    key = "proof.open.one" if hits == 1 else "proof.open" if hits else "proof.open.none"
    return say(key if n > 1 else f"proof.only.{'one' if hits else 'none'}", lang, hits=hits, n=n)


def _claim(verdict: Verdict) -> str:
    """What is claimed of the first cause: of evidence that gets as much attention as its length gives it, not that it
    was looked at too little.
    """
    cause = verdict.causes[0]
    not_low = verdict.lift is not None and verdict.lift >= 1
    if (cause.code, cause.detail) == ("context-use", "not-looked-at") and not_low:
        return "claim.context-use.more-helps"
    return claim_key(cause.code, cause.detail)


def _flip_clause(cause: Cause, verdict: Verdict, lang: Lang) -> str:
    if cause.undone_by is None or cause.flips is None:
        return ""
    if cause.undone_by == LENIENT:
        key = "proof.parse.variants" if verdict.scope == "variants" else "proof.parse"
        return say(key, lang, hits=cause.flips.hits, n=cause.flips.n)
    if verdict.scope == "variants":
        return say("proof.variants", lang, edit=named(cause.undone_by, lang), hits=cause.flips.hits, n=cause.flips.n)
    return say("proof.one" if cause.flips.hits else "proof.none", lang, edit=named(cause.undone_by, lang))


def _sham_clause(cause: Cause, lang: Lang) -> str:
    if cause.shams is None or cause.shams.n == 0:
        return ""
    key = "proof.shams" if cause.shams.flipped else "proof.no_sham"
    return say(key, lang, hits=cause.shams.flipped, n=cause.shams.n)


def flips_of(document: WhyDocument) -> tuple[int, int]:
    """How many experiments flip the answer, of those that gave a whole one."""
    told = [tried.flips for tried in document.tried if tried.flips is not None]
    return sum(told), len(told)


def tried_summary(document: WhyDocument, lang: Lang) -> str:
    """What stands above the table of experiments."""
    flipping, n = flips_of(document)
    if n > 1:
        return say("tried.summary", lang, n=n, k=flipping)
    return say(f"tried.summary.{'silent' if not n else 'one' if flipping else 'none'}", lang)


def flip_word(row: Tried, lang: Lang) -> str:
    """Whether an experiment flips the answer: yes, no, cut before there was one; empty where none was written."""
    if row.cut:
        return say("tried.cut", lang)
    return "" if row.flips is None else say("tried.yes" if row.flips else "tried.no", lang)


def called(name: str, document: WhyDocument, lang: Lang) -> str:
    """A segment's name: what the case calls a part, and ours for template and answer, in the reader's language."""
    return name if _is_part(name, document) else segment_named(name, lang)


def scope(verdict: Verdict, lang: Lang) -> str:
    """What the verdict speaks of: this prompt only, or n variants."""
    if verdict.scope == "this-prompt":
        return say("scope.this-prompt", lang)
    flips = verdict.causes[0].flips
    return say("scope.variants", lang, n=flips.n) if flips else say("scope.variants.unknown", lang)


def effect(value: float | None, noise: float, lang: Lang, bounds: tuple[float, float] | None = None) -> str:
    """A signed effect with its interval, or that it lies below the floor; a dash where there is none."""
    if value is None:
        return "—"
    if below(value, noise):
        return say("floor.below", lang)
    return number(value, signed=True) + (f" {interval(bounds)}" if bounds else "")


def over_variants(cause: Cause, lang: Lang) -> str:
    """The mean effect over the variants that fail alike, with its interval; empty where there is none."""
    if cause.mean is None or cause.interval is None or cause.flips is None:
        return ""
    mean = number(cause.mean, signed=True)
    return say("verdict.mean", lang, n=cause.flips.n, mean=mean, interval=interval(cause.interval))


def change(cause: Cause, metric: Metric, lang: Lang) -> str:
    """The metric before and after, and the effect; after alone where the edit leaves no place that both runs have."""
    after = f"{number(cause.after or 0.0, signed=True)} {metric.unit}"
    if cause.effect is None:
        return say("verdict.own_path", lang, metric=metric.name, after=after)
    told = effect(cause.effect, metric.noise, lang)
    where = "" if on_one_path(cause, metric) else say("verdict.other_path", lang)
    return f"{metric.name} {number(metric.base)} → {after} · {say('column.effect', lang)} {told}{where}"


def on_one_path(cause: Cause, metric: Metric) -> bool:
    """Whether base, effect and value after the edit add up: they do unless the edit acts before the decision."""
    if cause.effect is None or cause.after is None:
        return True
    return abs(metric.base + cause.effect - cause.after) <= max(5 * metric.noise, 1e-6)


def tone_of(effect: float | None, noise: float) -> str:
    """Whether a change hurts or helps the right answer, lies in the floor, or was not obtained."""
    if effect is None:
        return "undefined"
    if below(effect, noise):
        return "floor"
    return "helps" if effect > 0 else "hurts"


def evidence_finding(document: WhyDocument, lang: Lang) -> str:
    """Which cut changed the metric most, beside the share of attention it had."""
    metric = document.metric.name
    if all(row.direct is None for row in document.segments):
        return say("evidence.finding.uncut", lang)
    known = [row for row in document.segments if row.direct is not None and not below(row.direct, row.noise)]
    if not known:
        return say("evidence.finding.none", lang, metric=metric)
    most = max(known, key=lambda row: abs(row.direct or 0.0))
    if most.share is None:
        return say("evidence.finding.noshare", lang, most=called(most.name, document, lang), metric=metric)
    key = "evidence.finding" if (most.direct or 0.0) < 0 else "evidence.finding.help"
    finding = say(key, lang, most=called(most.name, document, lang), share=percent(most.share))
    return (
        finding + _what_it_is(most, document, lang) + _beside_null(most, lang) + _of_parts(most, known, document, lang)
    )


def _is_part(name: str, document: WhyDocument) -> bool:
    return any(segment.name == name and segment.kind == "part" for segment in document.prompt.segments)


def _what_it_is(row: SegmentRow, document: WhyDocument, lang: Lang) -> str:
    """Evidence is said to be so."""
    return say("evidence.finding.evidence", lang) if row.name in document.prompt.evidence else ""


def _of_parts(most: SegmentRow, rows: list[SegmentRow], document: WhyDocument, lang: Lang) -> str:
    """Where the strongest is no part of the case, nobody can leave it out: the strongest of those that can follows."""
    parts = [row for row in rows if _is_part(row.name, document)]
    if _is_part(most.name, document) or not parts:
        return ""
    row = max(parts, key=lambda row: abs(row.direct or 0.0))
    told = {"most": row.name, "effect": with_unit(row.direct, document.metric, lang)}
    return say("evidence.finding.part", lang, **told) + _what_it_is(row, document, lang)


def _beside_null(row: SegmentRow, lang: Lang) -> str:
    """What keeps the largest effect from counting; empty where it lies beyond its null."""
    if row.null is None:
        return say("evidence.finding.no_null", lang)
    if row.null.p <= ALPHA:
        return ""
    few = 1 / (row.null.draws + 1) > ALPHA
    other_way = row.null.same_way is not None and share_p(row.null.same_way, row.null.draws) <= ALPHA
    key = "few" if few else "other_way" if other_way else "null"
    return say(f"evidence.finding.{key}", lang, p=number(row.null.p), n=row.null.draws)


def lens_finding(document: WhyDocument, lang: Lang) -> str:
    """From which layer on one answer stays ahead."""
    rows = [row for row in document.lens if row.ld is not None]
    if document.decided_at is None or not rows:
        return say("lens.finding.none", lang)
    wrong = document.answer.wrong
    stand_in = wrong is not None and wrong.stand_in
    side = "right" if (rows[-1].ld or 0.0) > 0 else "other" if stand_in else "wrong"
    when = "always." if document.decided_at == rows[0].layer else ""
    return say(f"lens.finding.{when}{side}", lang, layer=document.decided_at)


def map_finding(document: WhyDocument, lang: Lang) -> str:
    """Which segment the decision row reads most, and how much of it is the evidence."""
    known = [row for row in document.segments if row.share is not None]
    evidence = [row for row in known if row.name in document.prompt.evidence]
    if not known or not evidence:
        return say("map.finding.plain", lang)
    top = max(known, key=_share)
    total, name = sum(map(_share, evidence)), called(top.name, document, lang)
    return say("map.finding", lang, top=name, share=percent(_share(top)), evidence=percent(total))


def heads_finding(document: WhyDocument, lang: Lang) -> str:
    """Which head changed the metric most when it was taken out."""
    metric = document.metric
    known = [head for head in document.heads if head.effect is not None and not below(head.effect, metric.noise)]
    if not known:
        return say("heads.finding.none", lang, metric=metric.name)
    most = max(known, key=lambda head: abs(head.effect or 0.0))
    return say(
        "heads.finding",
        lang,
        head=f"{most.layer}.{most.head}",
        metric=metric.name,
        effect=with_unit(most.effect, metric, lang),
    )


def agreement(document: WhyDocument, lang: Lang) -> str:
    """How far attention share and effect go together over the heads; empty where it was not computed."""
    found = document.agreement
    if found is None:
        return ""
    return say(
        "heads.agreement",
        lang,
        n=found.n,
        segment=found.segment,
        signed=number(found.signed, signed=True),
        signed_p=number(found.signed_p),
        absolute=number(found.absolute, signed=True),
        absolute_p=number(found.absolute_p),
        head=f"{found.brightest_layer}.{found.brightest_head}",
        share=percent(found.brightest_share),
        metric=document.metric.name,
        effect=with_unit(found.brightest_effect, document.metric, lang),
    )


def with_unit(value: float | None, metric: Metric, lang: Lang) -> str:
    """A signed effect with the metric's unit."""
    return f"{effect(value, metric.noise, lang)} {metric.unit}"


def floor(metric: Metric, lang: Lang) -> str:
    return say("floor.said", lang, noise=number(metric.noise), unit=metric.unit)


def _share(row: SegmentRow) -> float:
    return row.share or 0.0
