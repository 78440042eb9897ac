"""The page of `why`: verdict, prompt, evidence, lens, map, heads, everything that was run, provenance."""

from dataclasses import dataclass, replace
from typing import Any

from whybox.report import findings, sentences
from whybox.report.document import Block, HeadRow, Lang, PartRow, PatternMap, SegmentInfo, WhyDocument
from whybox.report.html import figures
from whybox.report.html.page import WHY, WHY_FULL, Table, page
from whybox.report.html.scale import Scale, scale_over
from whybox.report.html.tokens import runs_of
from whybox.report.html.why_full import blocks
from whybox.report.html.why_tables import further_tables
from whybox.report.numbers import exact
from whybox.report.visible import visible
from whybox.report.words import say
from whybox.verdict.experiment_words import named, parts_named

MOST_SEGMENTS = 12
MOST_HEADS = 12
MOST_PARTS = 10
MOST_LISTED = 16
MOST_COLOURS = 8


def why_page(document: WhyDocument, lang: Lang) -> str:
    """One self-contained HTML file: offline, inert towards the text it shows, at most 3,000 elements and 8 MB."""
    runs, unseen = runs_of(document.prompt)
    cause = document.verdict.causes[0]
    return page(
        "why.html.jinja",
        lang,
        tables=_tables(document, lang),
        data=_data(document),
        bundle=WHY if document.full is None else WHY_FULL,
        doc=document,
        cause=cause,
        written=next((tried.answer for tried in document.tried if tried.what == cause.undone_by), None),
        tone=_tone(cause.code),
        colours=colours(document.prompt.segments),
        headline=sentences.headline(document, lang),
        said=document.verdict.said(lang),
        scope=sentences.scope(document.verdict, lang),
        floor=sentences.floor(document.metric, lang),
        effect=lambda value, noise, bounds=None: sentences.effect(value, noise, lang, bounds),
        spread=sentences.over_variants(cause, lang),
        line=figures.verdict_line(cause, document.metric),
        runs=runs,
        unseen_tokens=unseen,
        evidence=figures.evidence(document.segments, document.prompt.segments, MOST_SEGMENTS),
        evidence_finding=sentences.evidence_finding(document, lang),
        curve=figures.lens_curve(document.lens, document.metric.noise, document.decided_at),
        lens_finding=sentences.lens_finding(document, lang),
        map_finding=sentences.map_finding(document, lang),
        map_which=_which(document.pattern, lang) if document.pattern else "",
        block_size=_block_size(document.pattern) if document.pattern else 1,
        heads=_head_bars(document),
        head_zero=_head_scale(document).at(0.0),
        listed=_listed(document),
        agreement=sentences.agreement(document, lang),
        heads_finding=sentences.heads_finding(document, lang),
        shares=figures.shares(document.heads, document.agreement, document.metric.noise),
        parts=_part_bars(document, lang),
        part_zero=_part_scale(document).at(0.0),
        parts_finding=findings.parts_finding(document, lang) if document.parts else "",
        parts_note=findings.parts_note(document, lang),
        blocks=blocks(document, lang),
        called=lambda name: sentences.called(name, document, lang),
        tried=sentences.tried_summary(document, lang),
        stage_name=lambda name: findings.known("stage", name, lang),
        announced=sum(stage.announced for stage in document.stages),
    )


def _data(document: WhyDocument) -> dict[str, Any]:
    """What the scripts read. The map stands by itself, so that it stays where a document is too large to embed."""
    dumped = document.model_dump(mode="json", by_alias=True)
    return {"pattern": dumped.pop("pattern"), "axes": _axes(document), "document": dumped}


def colours(segments: tuple[SegmentInfo, ...]) -> list[str]:
    """Colour class of each segment: eight for named parts, grey for the rest; the letter tells them apart anyway."""
    parts = [segment.name for segment in segments if segment.kind == "part"]
    place = {name: f"seg-{i}" if i < MOST_COLOURS else "seg-rest" for i, name in enumerate(parts)}
    return [place[s.name] if s.kind == "part" else f"seg-{s.kind}" for s in segments]


def _tone(code: str) -> str:
    """Neutral where nothing is wrong or nothing is known; otherwise a cause was confirmed."""
    return "neutral" if code in ("none", "not-determined") else "confirmed"


def _which(pattern: PatternMap, lang: Lang) -> str:
    if pattern.layer is None:
        return say("map.which.mean", lang)
    if pattern.head is None:
        return say("map.which.layer", lang, layer=pattern.layer)
    return say("map.which.head", lang, layer=pattern.layer, head=pattern.head)


def _block_size(pattern: PatternMap) -> int:
    return max((block.end - block.start for block in pattern.columns), default=1)


def _listed(document: WhyDocument) -> list[int]:
    """Segments that stand beside the map: those with the largest shares, in prompt order."""
    shares = {row.name: row.share or 0.0 for row in document.segments}
    names = [segment.name for segment in document.prompt.segments]
    ranked = sorted(range(len(names)), key=lambda i: -shares.get(names[i], 0.0))
    return sorted(ranked[:MOST_LISTED])


def _ranked_heads(document: WhyDocument) -> list[HeadRow]:
    return sorted(document.heads, key=lambda head: -abs(head.effect or 0.0))


def _head_bars(document: WhyDocument) -> list[tuple[HeadRow, figures.Bar]]:
    scale, noise = _head_scale(document), document.metric.noise
    return [(head, figures.bar(scale, head.effect, noise)) for head in _ranked_heads(document)[:MOST_HEADS]]


def _head_scale(document: WhyDocument) -> Scale:
    shown = _ranked_heads(document)[:MOST_HEADS]
    return scale_over([head.effect for head in shown if head.effect is not None])


@dataclass(frozen=True)
class PartBar:
    """A part with its bar (zero), the mean with values of other prompts as its mark, and its flags."""

    name: str
    row: PartRow
    bar: figures.Bar
    again: str
    flags: str


def _part_bars(document: WhyDocument, lang: Lang) -> list[PartBar]:
    scale, noise = _part_scale(document), document.metric.noise
    return [_part_bar(row, scale, noise, lang) for row in _ranked_parts(document)]


def _part_bar(row: PartRow, scale: Scale, noise: float, lang: Lang) -> PartBar:
    drawn = figures.bar(scale, row.zero.value, noise)
    again = row.resample
    mark = None if again is None else scale.at(again.value)
    told = "—" if again is None else findings.spread(again, noise, lang)
    return PartBar(parts_named(row.name, lang), row, replace(drawn, mark=mark), told, findings.flags(row.flags, lang))


def _ranked_parts(document: WhyDocument) -> tuple[PartRow, ...]:
    return document.parts.rows[:MOST_PARTS] if document.parts else ()


def _part_scale(document: WhyDocument) -> Scale:
    shown = _ranked_parts(document)
    return scale_over([value.value for row in shown for value in (row.zero, row.resample) if value is not None])


def _axes(document: WhyDocument) -> dict[str, dict[str, list[Any]]]:
    """Segment and visible label of each row and column of the map."""
    if document.pattern is None:
        return {}
    tokens = document.prompt.tokens

    def axis(blocks: tuple[Block, ...]) -> dict[str, list[Any]]:
        starts = [min(block.start, len(tokens) - 1) for block in blocks]
        segments = [tokens[start].segment if tokens else 0 for start in starts]
        return {"segments": segments, "labels": [visible(block.label) for block in blocks]}

    return {"rows": axis(document.pattern.rows), "columns": axis(document.pattern.columns)}


def _tables(document: WhyDocument, lang: Lang) -> list[Table]:
    tables = [_segments(document, lang), _tokens(document, lang), _lens(document, lang), _heads(document, lang)]
    tables += [_tried(document, lang), _shams(document, lang), _decision_row(document, lang)]
    return [*tables, *further_tables(document, lang)]


def _columns(lang: Lang, *names: str, **values: Any) -> list[str]:
    return [say(f"column.{name}", lang, **values) for name in names]


def _segments(document: WhyDocument, lang: Lang) -> Table:
    names = ["segment", "share", "direct", "low", "high", "total", "removed", "noise", "null_low", "null_high", "p"]
    rows = []
    for row in document.segments:
        low, high = row.direct_interval or (None, None)
        null = (row.null.low, row.null.high, row.null.p) if row.null else (None, None, None)
        numbers = (row.share, row.direct, low, high, row.total, row.removed, row.noise, *null)
        rows.append([visible(sentences.called(row.name, document, lang)), *map(exact, numbers)])
    return Table("segments", _columns(lang, *names), rows)


def _tokens(document: WhyDocument, lang: Lang) -> Table:
    names = [visible(sentences.called(segment.name, document, lang)) for segment in document.prompt.segments]
    rows = [
        [str(place), str(t.id), visible(t.text), t.bytes, f"{t.part}/{t.of}", names[t.segment]]
        for place, t in enumerate(document.prompt.tokens)
    ]
    return Table("tokens", _columns(lang, "position", "id", "text", "bytes", "part", "segment"), rows)


def _lens(document: WhyDocument, lang: Lang) -> Table:
    rows = [[str(r.layer), exact(r.right), exact(r.wrong), exact(r.ld)] for r in document.lens]
    return Table("lens", [*_columns(lang, "layer", "right", "wrong"), document.metric.name], rows)


def _heads(document: WhyDocument, lang: Lang) -> Table:
    rows = [
        [str(h.layer), str(h.head), exact(h.share), exact(h.effect), exact(h.null_percentile)]
        for h in _ranked_heads(document)
    ]
    return Table("heads", _columns(lang, "layer", "head", "share", "effect", "percentile"), rows, most=32)


def _tried(document: WhyDocument, lang: Lang) -> Table:
    names = ("what", "effect", "mean_low", "mean_high", "flips", "answer", "flags")
    rows = []
    for tried in document.tried:
        low, high = tried.interval or (None, None)
        numbers = [exact(tried.effect), exact(low), exact(high)]
        flags = "; ".join(named(flag, lang) for flag in tried.flags)
        rows.append([named(tried.what, lang), *numbers, sentences.flip_word(tried, lang), tried.answer or "", flags])
    return Table("tried", _columns(lang, *names), rows)


def _shams(document: WhyDocument, lang: Lang) -> Table:
    shams = document.verdict.causes[0].shams
    after = shams.after if shams else ()
    metric = document.metric
    columns = _columns(lang, "sham", "after", metric=metric.name, unit=metric.unit)
    return Table("shams", columns, [[str(i + 1), exact(value)] for i, value in enumerate(after)])


def _decision_row(document: WhyDocument, lang: Lang) -> Table:
    columns = _columns(lang, "position", "text", "weight")
    if document.pattern is None:
        return Table("decision_row", columns, [])
    weights = zip(document.pattern.columns, document.pattern.values[-1], strict=True)
    ranked = sorted(weights, key=lambda pair: -(pair[1] or 0.0))
    rows = [[str(block.start), visible(block.label), exact(weight)] for block, weight in ranked]
    return Table("decision_row", columns, rows, most=24)
