"""The course on a terminal: the outline, a chapter as far as it is open, an exercise graded, a recital heard."""

from collections.abc import Sequence
from typing import assert_never

from rich.console import Console
from rich.padding import Padding
from rich.syntax import Syntax
from rich.text import Text

from whybox.report.document import (
    AnswerRow,
    ChapterDocument,
    ChapterRow,
    CourseDocument,
    ExerciseRow,
    Graded,
    GradedDocument,
    GridBlock,
    Lang,
    PredictionRow,
    QuestionRow,
    RecitedDocument,
    ShownBlock,
    SourceBlock,
    TableBlock,
    WordsBlock,
)
from whybox.report.terminal import heading, model_line, plain_table
from whybox.report.visible import calm
from whybox.report.words import say

MARKS = {"new": "·", "begun": "◐", "done": "✓"}
PASSED, FAILED, OPEN = "✓", "✗", "·"


def render_course(document: CourseDocument, console: Console, lang: Lang) -> None:
    """What is done of each chapter, the eight statements, how to go on."""
    done = sum(row.done == "done" for row in document.chapters)
    heading(console, say("course.head", lang, done=done, n=len(document.chapters)))
    _paragraph(console, f"{say('course.needs', lang)}: " + ("；" if lang == "zh" else "; ").join(document.needs))
    console.print()
    table = plain_table(console)
    for name in ("chapter", "title", "predicted", "passed", "recited"):
        table.add_column(
            say(f"course.column.{name}", lang), justify="left" if name in ("chapter", "title") else "right"
        )
    for row in document.chapters:
        table.add_row(*_chapter(row))
    console.print(table)
    heading(console, say("course.statements", lang))
    for number, each in enumerate(document.statements, 1):
        mark = PASSED if each.ticked else OPEN
        counted = f"  {each.passed}/{len(each.exercises)}" if each.exercises else ""
        _paragraph(console, f"{mark} {number}. {each.say}{counted}")
    console.print()
    uses = " · ".join(f"whybox {use.verb}: {use.say}" for use in document.uses)
    _paragraph(console, f"{say('course.uses', lang)}: {uses}", "dim")
    _paragraph(console, say("course.go_on", lang, chapter=_next(document)), "")
    _paragraph(console, say("course.kept", lang, path=document.kept), "dim")


def _chapter(row: ChapterRow) -> tuple[str, ...]:
    counts = ((row.predicted, row.predictions), (row.passed, row.exercises), (row.recited, row.stations))
    return (f"{MARKS[row.done]} {row.id}", row.title, *(f"{done}/{of}" for done, of in counts))


def _next(document: CourseDocument) -> str:
    return next((row.id for row in document.chapters if row.done != "done"), document.chapters[-1].id)


def render_chapter(document: ChapterDocument, console: Console, lang: Lang) -> None:
    """Opening, predictions beside what is so, what is shown, exercises, the recital."""
    render_opening(document, console, lang)
    render_shown(document, console, lang)
    heading(console, say("course.exercises", lang))
    for row in document.exercises:
        render_exercise(row, console, lang)
    render_recital(document, console, lang)


def render_opening(document: ChapterDocument, console: Console, lang: Lang) -> None:
    """The idea, and where the documents tell it."""
    if document.model.digest:
        console.print(model_line(document))
    heading(console, f"{document.id} · {document.title}")
    console.print(Text(" · ".join(document.where), style="dim"))
    _paragraphs(console, document.opening)


def render_shown(document: ChapterDocument, console: Console, lang: Lang) -> None:
    """What is still to be predicted; where nothing is, what was predicted beside what is so, and what is shown."""
    heading(console, say("course.predictions", lang))
    for row in document.predict:
        _prediction(row, console, lang)
    if document.shown_reason:
        _paragraph(console, document.shown_reason, "bold")
        return
    heading(console, say("course.shown", lang))
    for block in document.shown:
        console.print()
        _block(block, console)


def _prediction(row: PredictionRow, console: Console, lang: Lang) -> None:
    render_question(row.question, console, lang)
    if row.stored and not row.compared:
        _paragraph(console, say("course.stored", lang, said=" ".join(row.said)), "dim")
    if row.not_stored:
        _paragraph(console, say("course.earlier", lang, said=" ".join(row.not_stored)), "bold yellow")
    _answers(row.compared, console, lang)
    _paragraphs(console, row.after)


def render_question(question: QuestionRow, console: Console, lang: Lang) -> None:
    """What is asked, with what there is to choose from."""
    console.print()
    for place, paragraph in enumerate(question.ask):
        _paragraph(console, f"{question.id}: {paragraph}" if place == 0 else paragraph)
    for name, rows in (("items", question.items), ("options", question.options)):
        if rows and question.items:
            _paragraph(console, f"  {say(f'course.{name}', lang)}:", "dim")
        for number, row in enumerate(rows, 1):
            label = f"{number}. {row.say}" if name == "items" else f"{number}. {row.id}: {row.say}"
            console.print(Padding(Text(calm(label)), (0, 0, 0, 4)))
    if question.fields:
        _paragraph(console, say("course.fields", lang, names=" · ".join(row.say for row in question.fields)), "dim")


def _answers(rows: Sequence[AnswerRow], console: Console, lang: Lang) -> None:
    for row in rows:
        mark = {True: f"{PASSED} ", False: f"{FAILED} ", None: ""}[row.holds]
        named = f"{row.say}{'：' if lang == 'zh' else ': '}" if row.say else ""
        told = say("course.right", lang, right=row.right) if row.right else ""
        _paragraph(console, f"  {mark}{named}{say('course.said', lang, said=row.said)}{told}", "bold")


def _block(block: ShownBlock, console: Console) -> None:
    match block:
        case WordsBlock():
            _paragraphs(console, block.paragraphs)
        case TableBlock():
            _paragraph(console, block.caption, "dim")
            _rows(console, block.columns, block.rows)
        case GridBlock():
            _paragraph(console, block.caption, "dim")
            rows = [(name, *cells) for name, cells in zip(block.rows, block.cells, strict=True)]
            _rows(console, ("", *block.columns), rows)
        case SourceBlock():
            _paragraph(console, f"{block.caption} ({block.file}, {block.line})", "dim")
            if console.is_terminal:
                console.print(Syntax(block.text, "python", background_color="default", word_wrap=True))
            else:
                console.print(Text(block.text.rstrip("\n")))
        case _:
            assert_never(block)


def _rows(console: Console, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    table = plain_table(console)
    for place, name in enumerate(columns):
        table.add_column(calm(name), justify="right" if place else "left", overflow="fold")
    for row in rows:
        table.add_row(*(Text(calm(cell)) for cell in row))
    console.print(table)


def render_exercise(row: ExerciseRow, console: Console, lang: Lang) -> None:
    """What is asked, whether it is passed, and what became of an answer that just came."""
    render_question(row.question, console, lang)
    if row.graded is not None:
        _graded(row.graded, console, lang)
    elif row.passed:
        _paragraph(console, f"  {PASSED} {say('course.passed', lang)}", "bold")
        _paragraphs(console, row.after)
    elif row.attempts:
        _paragraph(console, "  " + say("course.attempts", lang, n=row.attempts), "dim")


def render_graded(document: GradedDocument, console: Console, lang: Lang) -> None:
    """One exercise."""
    heading(console, f"{document.chapter} · {document.exercise}")
    _graded(document.graded, console, lang)
    if document.attempts_reason is not None:
        _paragraph(console, say("course.not_kept", lang, why=document.attempts_reason), "bold yellow")


def _graded(graded: Graded, console: Console, lang: Lang) -> None:
    _answers(graded.rows, console, lang)
    for remark in graded.remarks:
        style = "" if remark.holds else "bold yellow"
        _paragraph(console, f"  {PASSED if remark.holds else FAILED} {remark.say}", style)
    for line in graded.lines:
        _paragraph(console, say("course.line", lang, number=line.number, text=line.text), "yellow")
    if graded.printed:
        _paragraph(console, say("course.printed", lang), "dim")
        console.print(Padding(Text(calm(graded.printed.rstrip("\n"))), (0, 0, 0, 4)))
    _paragraph(console, "  " + say("course.passed" if graded.passed else "course.not_passed", lang), "bold")
    _paragraphs(console, graded.after)


def render_recital(document: ChapterDocument, console: Console, lang: Lang) -> None:
    """What is to be told, without its stations."""
    recital = document.recital
    heading(console, say("course.recital", lang, minutes=f"{recital.minutes:g}", n=recital.stations))
    _paragraphs(console, recital.ask)
    if recital.best:
        _paragraph(console, say("course.best", lang, n=recital.best, of=recital.stations), "dim")


def render_recited(document: RecitedDocument, console: Console, lang: Lang) -> None:
    """Station by station; what it is not is said last."""
    heading(console, say("course.heard", lang, n=document.found, of=len(document.stations)))
    for row in document.stations:
        late = f"  ({say('course.late', lang)})" if row.in_order is False else ""
        _paragraph(console, f"  {PASSED if row.found else FAILED} {row.say}{late}", "" if row.found else "yellow")
    for remark in document.remarks:
        _paragraph(console, remark, "bold yellow")
    if document.seconds is not None:
        told = {"seconds": f"{document.seconds:.0f}", "limit": f"{60 * document.minutes:.0f}"}
        _paragraph(console, say("course.took", lang, **told), "")
    _paragraph(console, document.note, "dim")


def _paragraphs(console: Console, paragraphs: Sequence[str]) -> None:
    for paragraph in paragraphs:
        console.print()
        _paragraph(console, paragraph)


def _paragraph(console: Console, text: str, style: str = "") -> None:
    console.print(Text(calm(text), style=style))
