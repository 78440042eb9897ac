"""The sections of full effort on the page of `why`: a finding, sentences, a table for readers, exact numbers."""

from dataclasses import dataclass, field, replace

from whybox.report import findings
from whybox.report.document import Effect, Full, Lang, SetRow, WhyDocument
from whybox.report.numbers import number
from whybox.report.sentences import called, effect, tone_of
from whybox.report.words import say
from whybox.verdict.experiment_words import parts_named

MOST_ROWS = 8
MOST_SENTENCES = 3  # of one kind


@dataclass(frozen=True)
class Cell:
    """What stands in a cell. tone: colour of an effect; numeric: set to the right."""

    text: str
    tone: str = ""
    numeric: bool = False


@dataclass(frozen=True)
class Block:
    """One section. table: name of its exact numbers; missing: why there is nothing, where there is nothing."""

    name: str
    title: str
    note: str = ""
    finding: str = ""
    sentences: list[str] = field(default_factory=list)
    columns: list[str] = field(default_factory=list)
    rows: list[list[Cell]] = field(default_factory=list)
    missing: str = ""


def blocks(document: WhyDocument, lang: Lang) -> list[Block]:
    """Every section of full effort, in the order of the page; none at quick effort."""
    full = document.full
    if full is None:
        return []
    made = (_context, _ablations, _repairs, _sets, _segments, _gradients)
    found = [make(full, document, lang) for make in made]
    return [replace(block, rows=block.rows[:MOST_ROWS], sentences=block.sentences[:MOST_ROWS]) for block in found]


def _columns(lang: Lang, *names: str, **values: str) -> list[str]:
    return [say(f"column.{name}", lang, **values) for name in names]


def _effect(found: Effect | None, document: WhyDocument, lang: Lang) -> Cell:
    if found is None:
        return Cell("—", numeric=True)
    noise = document.metric.noise
    tone = tone_of(found.value, noise)
    text = say("floor.short", lang) if tone == "floor" else findings.spread(found, noise, lang)
    return Cell(text, tone, numeric=True)


def _flags(texts: tuple[str, ...], lang: Lang) -> Cell:
    return Cell(findings.flags(texts, lang))


def _p(found: Effect) -> Cell:
    """p, and that it is the smallest possible where it is."""
    if found.p is None or found.smallest_p is None:
        return Cell("—", numeric=True)
    return Cell(f"{number(found.p)} ({found.draws})", numeric=True)


def _context(full: Full, document: WhyDocument, lang: Lang) -> Block:
    name, title = "context", say("context.title", lang)
    found = full.context
    if found is None:
        return Block(name, title, missing=full.context_reason or "")
    rows = [
        [Cell(row.name), _number(row.score, found.noise, lang), _number(row.left_out, found.noise, lang)]
        for row in sorted(found.sources, key=lambda row: -(row.score or 0.0))
    ]
    return Block(
        name,
        title,
        say("context.note", lang),
        findings.context_finding(found, lang),
        list(findings.context_sentences(found, lang)),
        _columns(lang, "source", "score", "left_out"),
        rows,
    )


def _number(value: float | None, noise: float, lang: Lang) -> Cell:
    return Cell(effect(value, noise, lang), numeric=True)


def _ablations(full: Full, document: WhyDocument, lang: Lang) -> Block:
    name, title = "ablations", say("ablations.title", lang)
    if not full.ablations:
        return Block(name, title, missing=full.ablations_reason or "")
    rows = []
    for row in full.ablations:
        effects = [_effect(one, document, lang) for one in (row.zero, row.mean, row.resample)]
        rows.append([Cell(parts_named(row.name, lang)), *effects, _p(row.resample), _flags(row.flags, lang)])
    return Block(
        name,
        title,
        say("ablations.note", lang, where=findings.place(full.where, lang)),
        findings.ablations_finding(full.ablations, document, lang),
        [say("parts.beside", lang)],
        _columns(lang, "name", "zero", "mean", "resample", "p_draws", "flags"),
        rows,
    )


def _repairs(full: Full, document: WhyDocument, lang: Lang) -> Block:
    name, title = "repairs", say("repairs.title", lang)
    if not full.repairs:
        return Block(name, title, missing=full.repairs_reason or "")
    rows = []
    for row in full.repairs:
        effects = [_effect(one, document, lang) for one in (row.direct, row.total, row.conditional)]
        repaired = Cell(number(row.repaired or 0.0) if findings.is_repaired(row) else "—", numeric=True)
        given = Cell(findings.listed_parts(row.given, lang))
        rest = [repaired, effects[2], given, _number(row.everywhere, document.metric.noise, lang)]
        rows.append([Cell(parts_named(row.name, lang)), *effects[:2], *rest, _flags(row.flags, lang)])
    good = list(findings.made_good(full, document, lang))[:MOST_SENTENCES]
    told = [*good, findings.joint_sentence(full, document, lang)]
    pairs = list(findings.pair_sentences(full, document, lang))
    return Block(
        name,
        title,
        say("repairs.note", lang),
        findings.repairs_finding(full.repairs, lang),
        [*told, *pairs],
        _columns(lang, "name", "direct", "total", "repaired", "conditional", "given", "everywhere", "flags"),
        rows,
    )


def _sets(full: Full, document: WhyDocument, lang: Lang) -> Block:
    name, title = "sets", say("sets.title", lang)
    if not full.sets:
        return Block(name, title, missing=full.sets_reason or "")
    found = max(full.sets, key=lambda row: (row.turns is True, bool(row.parts)))
    rows = [_set(row, document, lang) for row in full.sets]
    columns = _columns(lang, "what", "after_ld", "turns", "answer", "others")
    return Block(name, title, say("sets.note", lang), findings.set_finding(found, document, lang), [], columns, rows)


def _set(row: SetRow, document: WhyDocument, lang: Lang) -> list[Cell]:
    after = Cell("—" if row.ld is None else number(row.ld, signed=True), numeric=True)
    turns = Cell("—" if row.turns is None else say("tried.yes" if row.turns else "tried.no", lang))
    others = Cell(findings.others(row, lang))
    answer = row.answer if row.answer is not None else row.parts_reason or ""
    return [Cell(findings.set_name(row, lang)), after, turns, Cell(answer), others]


def _segments(full: Full, document: WhyDocument, lang: Lang) -> Block:
    name, title = "every-way", say("segments.title", lang)
    if not full.segments:
        return Block(name, title, missing=full.segments_reason or "")
    rows = []
    for row in full.segments:
        effects = [_effect(one, document, lang) for one in (row.direct, row.total, row.between, row.muted)]
        interaction = _number(row.interaction, document.metric.noise, lang)
        rows.append([Cell(called(row.name, document, lang)), *effects, interaction])
    return Block(
        name,
        title,
        say("segments.note", lang),
        findings.segments_finding(full.segments, document, lang),
        [],
        _columns(lang, "segment", "direct", "total", "between", "muted", "interaction"),
        rows,
    )


def _gradients(full: Full, document: WhyDocument, lang: Lang) -> Block:
    name, title = "gradients", say("gradients.title", lang)
    found = full.gradients
    if found is None:
        return Block(name, title, missing=full.gradients_reason or "")
    rows = [
        [
            Cell(parts_named(row.name, lang)),
            Cell(findings.flag(row.chosen, lang)),
            Cell(number(row.estimate, signed=True), numeric=True),
            _effect(row.effect, document, lang),
            _flags(row.flags, lang),
        ]
        for row in sorted(found.rows, key=lambda row: (row.chosen == "random", -abs(row.estimate)))
    ]
    return Block(
        name,
        title,
        say("gradients.note", lang, k=sum(row.chosen == "largest" for row in found.rows)),
        findings.gradient_finding(found, lang),
        [findings.gradient_sentence(found, document, lang), *findings.along_sentences(found, document, lang)],
        _columns(lang, "name", "chosen", "estimate", "measured", "flags"),
        rows,
    )
