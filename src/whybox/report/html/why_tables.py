"""Exact numbers behind the sections on parts, full effort and runs: what the copy buttons of the page hand out."""

from collections.abc import Iterator

from whybox.report import findings
from whybox.report.document import (
    AblationRow,
    AlongRow,
    Effect,
    Full,
    GradientRow,
    KnockoutRow,
    Lang,
    PairRow,
    PartRow,
    RepairRow,
    RunRow,
    SetRow,
    WhyDocument,
)
from whybox.report.html.page import Table
from whybox.report.numbers import exact
from whybox.report.sentences import called
from whybox.report.visible import visible
from whybox.report.words import say
from whybox.verdict.experiment_words import named, parts_named

FEW = 6  # rows that are drawn of a table whose section shows its rows anyway
_FLAGS = ("flags",)


def further_tables(document: WhyDocument, lang: Lang) -> Iterator[Table]:
    """Parts, every section of full effort, stages, texts and runs."""
    yield _parts(document, lang)
    if document.full is not None:
        yield from _full(document.full, document, lang)
    yield _runs(document, lang)
    names = ("run_text", "tokens", "text")
    texts = [[str(i + 1), str(one.tokens), visible(one.text)] for i, one in enumerate(document.texts)]
    yield Table("texts", _columns(lang, *names), texts, most=4)


def _columns(lang: Lang, *names: str) -> list[str]:
    return [say(f"column.{name}", lang) for name in names]


def _yes(value: bool | None) -> str:
    return "" if value is None else str(value).lower()


def _value(found: Effect | None) -> str:
    return "" if found is None else exact(found.value)


def _null(found: Effect) -> list[str]:
    return [exact(found.percentile), exact(found.p), exact(found.smallest_p), str(found.draws)]


_NULL = ("percentile", "p", "smallest", "draws")


def _parts(document: WhyDocument, lang: Lang) -> Table:
    columns = _columns(lang, "name", "wrote", "zero", *_NULL, "resample", "sd", *_FLAGS)
    rows = document.parts.rows if document.parts else ()
    return Table("parts", columns, [_part(row, lang) for row in rows], most=2 * FEW)


def _part(row: PartRow, lang: Lang) -> list[str]:
    again = row.resample
    spread = [_value(again), exact(again.sd) if again else ""]
    return [
        parts_named(row.name, lang),
        exact(row.wrote),
        _value(row.zero),
        *_null(row.zero),
        *spread,
        findings.flags(row.flags, lang),
    ]


def _full(full: Full, document: WhyDocument, lang: Lang) -> Iterator[Table]:
    three = _columns(lang, "name", "zero", "mean", "resample", "sd", *_NULL, *_FLAGS)
    yield Table("ablations", three, [_ablation(row, lang) for row in full.ablations], most=FEW)
    three_ways = ("direct", "total", "repaired", "conditional", "given", "everywhere")
    repaired = _columns(lang, "name", *three_ways, *_NULL, *_FLAGS)
    yield Table("repairs", repaired, [_repair(row, lang) for row in full.repairs], most=FEW)
    pairs = _columns(lang, "first", "second", "joint", "interaction", *_NULL, *_FLAGS)
    yield Table("pairs", pairs, [_pair(row, lang) for row in full.pairs], most=FEW)
    sets = _columns(lang, "what", "parts", "after_ld", "tried", "turns", "answer")
    yield Table("sets", sets, [_set(row, lang) for row in full.sets], most=FEW)
    sources = full.context.sources if full.context else ()
    scored = [[visible(row.name), exact(row.score), exact(row.left_out)] for row in sources]
    yield Table("context", _columns(lang, "source", "score", "left_out"), scored, most=FEW)
    ways = _columns(lang, "segment", "direct", "total", "between", "muted", "interaction")
    yield Table("every-way", ways, [_segment(row, document, lang) for row in full.segments], most=FEW)
    mapped = full.gradients.rows if full.gradients else ()
    checked = _columns(lang, "name", "chosen", "estimate", "measured", *_FLAGS)
    yield Table("gradients", checked, [_estimate(row, lang) for row in mapped], most=FEW)
    along = full.gradients.along if full.gradients else ()
    whole = ("name", "estimate", "joint", "integrated", "midpoints")
    shared = _columns(lang, *whole, "largest", "its_share", "measured", *_FLAGS)
    yield Table("along", shared, [_along(row, lang) for row in along], most=FEW)


def _ablation(row: AblationRow, lang: Lang) -> list[str]:
    three = [_value(row.zero), _value(row.mean), _value(row.resample), exact(row.resample.sd)]
    return [parts_named(row.name, lang), *three, *_null(row.resample), findings.flags(row.flags, lang)]


def _repair(row: RepairRow, lang: Lang) -> list[str]:
    three = [_value(row.direct), _value(row.total), exact(row.repaired), _value(row.conditional)]
    beside = [" + ".join(parts_named(name, lang) for name in row.given), exact(row.everywhere), *_null(row.conditional)]
    return [parts_named(row.name, lang), *three, *beside, findings.flags(row.flags, lang)]


def _pair(row: PairRow, lang: Lang) -> list[str]:
    return [
        *(parts_named(part, lang) for part in row.parts),
        _value(row.joint),
        exact(row.interaction),
        *_null(row.joint),
        findings.flag(row.flag, lang),
    ]


def _set(row: SetRow, lang: Lang) -> list[str]:
    numbers = [exact(row.ld), str(row.tried), _yes(row.turns)]
    return [
        findings.set_name(row, lang),
        " + ".join(parts_named(part, lang) for part in row.parts),
        *numbers,
        row.answer or "",
    ]


def _segment(row: KnockoutRow, document: WhyDocument, lang: Lang) -> list[str]:
    four = [_value(one) for one in (row.direct, row.total, row.between, row.muted)]
    return [visible(called(row.name, document, lang)), *four, exact(row.interaction)]


def _estimate(row: GradientRow, lang: Lang) -> list[str]:
    chosen = findings.flag(row.chosen, lang)
    return [
        parts_named(row.name, lang),
        chosen,
        exact(row.estimate),
        _value(row.effect),
        findings.flags(row.flags, lang),
    ]


def _along(row: AlongRow, lang: Lang) -> list[str]:
    whole = [exact(row.estimate), exact(row.joint), exact(row.shared), str(row.midpoints)]
    return [
        row.place,
        *whole,
        parts_named(row.largest, lang),
        exact(row.share),
        _value(row.effect),
        findings.flags(row.flags, lang),
    ]


def _runs(document: WhyDocument, lang: Lang) -> Table:
    columns = _columns(lang, "run", "stage", "kind", "run_text", "what", "read", "value", "answer")
    return Table("runs", columns, [_run(i, row, lang) for i, row in enumerate(document.runs, 1)], most=2 * FEW)


def _run(number: int, row: RunRow, lang: Lang) -> list[str]:
    stage, what = findings.known("stage", row.stage, lang), named(row.what, lang)
    told = [str(number), stage, named(row.kind, lang), str(row.text), what]
    return [*told, row.read, exact(row.value), row.answer or ""]
