"""The page of `look`: findings, prompt, every head, classes, budget, table, layers, dilution, provenance."""

from whybox.report.diagnosis_words import evidence
from whybox.report.document import (
    ClassCount,
    Diagnosis,
    Lang,
    LookDocument,
    LookPayload,
    PromptView,
    SegmentInfo,
    Where,
)
from whybox.report.html.look_data import (
    MARKS,
    SCORES,
    HeadValues,
    colour_of,
    head_values,
    listed_segments,
    name_of,
    script_data,
)
from whybox.report.html.look_figures import ClassRow, budget_figure, dilution_figure, drawn_segments
from whybox.report.html.page import Bundle, Table, page
from whybox.report.html.tokens import runs_of
from whybox.report.numbers import exact, number, percent
from whybox.report.visible import visible
from whybox.report.words import say

BUNDLE = Bundle(
    (
        "theme.js", "framed.js", "copy.js", "tokens.js", "numbers.js", "paint.js", "weights.js", "headmap.js",
        "headlines.js", "rowbars.js", "grid.js", "table.js", "look.js",
    ),
    ("base.css", "why.css", "look.css"),
    table_nodes=600,
)  # fmt: skip
MOST_FINDINGS = 12
TOLD_RULES = ("window-bound", "mixed")  # rules that are words, not symbols
MOST_NAMED = 8
MOST_BEST = 5
MOST_LINED = 64
NARROW = 12  # heads a layer, up to which the head stands beside the grid
KEY_BARS = range(8)


def look_page(document: LookDocument, payload: LookPayload, lang: Lang) -> str:
    """One self-contained HTML file: offline, inert towards the text it shows, at most 3,000 elements and 8 MB."""
    prompt = _prompt_view(document)
    runs, unseen = runs_of(prompt)
    values = head_values(document, lang)
    data = script_data(document, payload, values, lang)
    rare = [diagnosis for diagnosis in document.diagnoses if not diagnosis.common]
    return page(
        "look.html.jinja",
        lang,
        tables=_tables(document, values, lang),
        data=data,
        bundle=BUNDLE,
        doc=document,
        name=name_of(document),
        headline=_headline(document, rare, lang),
        rare=rare[:MOST_FINDINGS],
        common=[diagnosis for diagnosis in document.diagnoses if diagnosis.common][:MOST_FINDINGS],
        where=lambda where: where_text(where, lang),
        told=lambda found: [evidence(name, value, lang) for name, value in found.evidence.items()],
        runs=runs,
        unseen_tokens=unseen,
        evidence=document.evidence,
        colours=colour_of(document.segments),
        classes=_class_rows(document, lang),
        classes_finding=_classes_finding(document, lang),
        counts=_counts(document.classes, lang),
        values=values,
        sortable=[column for column in values.columns[2:] if column.core],
        narrow=max(layer.heads for layer in document.layers) <= NARROW,
        exact_heads=len(data["look"]["queries"]) + len(data["look"]["patterns"]),
        key_bars=KEY_BARS,
        listed=listed_segments(document),
        most_lined=MOST_LINED,
        not_said=document.not_said_by_reason,
        decided=document.decision.position is not None,
        labelled=not document.model.digest,
        budgets=[(which, budget_figure(document.segments, which == "mean")) for which in _budgets(document)],
        budget_finding=_budget_finding(document, lang),
        drawn=drawn_segments(document.segments),
        dilution=dilution_figure(document.dilution) if document.dilution else None,
        dilution_finding=_dilution_finding(document, lang),
        layers_finding=_layers_finding(document, lang),
    )


def _prompt_view(document: LookDocument) -> PromptView:
    kinds = {"bos": "template"}
    infos = [
        SegmentInfo.model_validate({"name": s.name, "kind": kinds.get(s.kind, s.kind), "letter": s.letter})
        for s in document.segments
    ]
    return PromptView(text=document.text, tokens=document.tokens, segments=tuple(infos), evidence=document.evidence)


def _headline(document: LookDocument, rare: list[Diagnosis], lang: Lang) -> str:
    """The first rare pattern in words; without one, that there is none; without a model, what the heads are."""
    if rare:
        return rare[0].meaning
    return say("look.head.none", lang) if document.decision.next else _classes_finding(document, lang)


def where_text(where: Where, lang: Lang) -> str:
    """Layers, heads, tokens and segments that a diagnosis speaks of, the first few of each."""
    named = {
        "layers": [str(layer) for layer in where.layers],
        "heads": [f"{layer}.{head}" for layer, head in where.heads],
        "tokens": [f"#{token}" for token in where.tokens],
        "segments": list(where.segments),
    }
    said = []
    for kind, names in named.items():
        if names:
            text = say(f"look.where.{kind}", lang, names=", ".join(names[:MOST_NAMED]))
            more = len(names) - MOST_NAMED
            said.append(text + (" " + say("look.where.more", lang, n=more) if more > 0 else ""))
    return " · ".join(said)


def _class_rows(document: LookDocument, lang: Lang) -> list[ClassRow]:
    """Classes that at least one head has, the most frequent first."""
    found = sorted((each for each in document.classes if each.count), key=lambda each: -each.count)
    return [
        ClassRow(
            each.name,
            MARKS[each.name],
            say(f"look.rule.{each.name}", lang) if each.name in TOLD_RULES else each.rule,
            each.count,
            each.count / len(document.heads),
            _best(document, each),
        )
        for each in found
    ]


def _best(document: LookDocument, found: ClassCount) -> list[tuple[int, str, float]]:
    """The heads of a class with the highest scores: place in the document, name, score."""
    field = SCORES.get(found.name)
    if field is None:
        return []
    scored = [
        (i, f"{head.layer}.{head.head}", float(dict(head)[field]))
        for i, head in enumerate(document.heads)
        if found.name in head.classes and dict(head)[field] is not None
    ]
    return sorted(scored, key=lambda each: -each[2])[:MOST_BEST]


def _classes_finding(document: LookDocument, lang: Lang) -> str:
    named = [each for each in document.classes if each.count]
    most = max(named, key=lambda each: each.count, default=None)
    if most is None:
        return ""
    return say(
        "look.classes.finding", lang, name=say(f"look.class.{most.name}", lang), k=most.count, n=len(document.heads)
    )


def _counts(classes: tuple[ClassCount, ...], lang: Lang) -> str:
    ranked = sorted((each for each in classes if each.count), key=lambda each: -each.count)
    named = [f"{say(f'look.class.{each.name}', lang)} {each.count}" for each in ranked[:4]]
    return ("、" if lang == "zh" else ", ").join(named)


def _budgets(document: LookDocument) -> list[str]:
    """Whose budgets are drawn: of the query that decides, where one does, and of all on average."""
    return ["mean"] if document.decision.position is None else ["decision", "mean"]


def _budget_finding(document: LookDocument, lang: Lang) -> str:
    """The segment with most of the decision query's attention, sink and first token aside where others have any."""
    named = [s for s in document.segments if s.kind == "part"] or list(document.segments)
    if not named:
        return ""
    top = max(named, key=lambda segment: segment.share)
    lift = "—" if top.lift is None else number(top.lift)
    key = "look.budget.finding" if document.decision.position is not None else "look.budget.finding.mean"
    return say(key, lang, top=top.name, share=percent(top.share), lift=lift)


def _dilution_finding(document: LookDocument, lang: Lang) -> str:
    if document.dilution is None:
        return ""
    first, last = document.dilution.points[0], document.dilution.points[-1]
    return say(
        "look.dilution.finding",
        lang,
        segment=document.dilution.segment,
        first=percent(first.share),
        short=f"{first.tokens:,}",
        last=percent(last.share),
        long=f"{last.tokens:,}",
    )


def _layers_finding(document: LookDocument, lang: Lang) -> str:
    known = [(layer.score_sd_median, layer.layer) for layer in document.layers if layer.score_sd_median is not None]
    if not known:
        return say("look.layers.plain", lang, n=len(document.layers))
    sd, layer = max(known)
    return say("look.layers.sd", lang, layer=layer, sd=number(sd))


def _tables(document: LookDocument, values: HeadValues, lang: Lang) -> list[Table]:
    return [
        _tokens(document, lang),
        _heads(values),
        _layers(document, lang),
        _budget(document, lang),
        _dilution(document, lang),
    ]


def _tokens(document: LookDocument, lang: Lang) -> Table:
    names = ("position", "id", "text", "bytes", "part", "segment", "share")
    columns = [*(say(f"column.{name}", lang) for name in names), say("look.share.value", lang)]
    keys = document.key_tokens or document.tokens
    shares = document.decision.by_token or (None,) * len(keys)
    valued = document.decision.value_by_token or (None,) * len(keys)
    rows = []
    for i, (t, share, by_value) in enumerate(zip(keys, shares, valued, strict=True)):
        told = [str(i), str(t.id), visible(t.text), t.bytes, f"{t.part}/{t.of}", document.segments[t.segment].name]
        rows.append([*told, exact(share), exact(by_value)])
    return Table("tokens", columns, rows, most=12)


def _heads(values: HeadValues) -> Table:
    """The first rows, for a page without scripts; scripts show all of them."""
    core = [i for i, column in enumerate(values.columns) if column.core]
    rows = [[_cell(row[i]) for i in core] for row in values.rows]
    return Table("heads", [values.columns[i].label for i in core], rows, most=12)


def _cell(value: object) -> str:
    match value:
        case None:
            return "—"
        case list():
            return ", ".join(value)
        case float():
            return number(value)
        case _:
            return str(value)


def _layers(document: LookDocument, lang: Lang) -> Table:
    fields = {
        "column.layer": "layer",
        "layer.heads": "heads",
        "layer.window": "window",
        "layer.sd_least": "score_sd_least",
        "layer.sd_median": "score_sd_median",
        "layer.sd_most": "score_sd_most",
        "layer.units": "units",
        "layer.dead": "dead_units",
    }
    rows = [[exact(dict(layer)[field]) for field in fields.values()] for layer in document.layers]
    return Table("layers", [say(key, lang) for key in fields], rows, most=24)


def _budget(document: LookDocument, lang: Lang) -> Table:
    columns = [say("column.layer", lang), *(segment.name for segment in document.segments)]
    shares = zip(*(segment.share_by_layer for segment in document.segments), strict=True)
    rows = [[str(place), *map(exact, layer)] for place, layer in enumerate(shares)]
    return Table("budget", columns, rows, most=12)


def _dilution(document: LookDocument, lang: Lang) -> Table:
    names = ("look.tokens", "look.share", "look.lift", "dilution.brightest", "dilution.brightest_share")
    rows = []
    for p in document.dilution.points if document.dilution else ():
        head, beyond = f"{p.brightest_layer}.{p.brightest_head}", str(p.beyond_training).lower()
        rows.append([str(p.tokens), exact(p.share), exact(p.lift), head, exact(p.brightest_share), beyond])
    return Table("dilution", [*(say(name, lang) for name in names), say("look.dilution.beyond", lang)], rows)
