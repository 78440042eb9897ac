"""Pages of the course: the outline, a chapter as far as it is open. To read or print; the explorer's pages ask."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from whybox.report.document import (
    ChapterDocument,
    CourseDocument,
    ExerciseRow,
    GridBlock,
    Lang,
    QuestionRow,
    TableBlock,
)
from whybox.report.html.page import Bundle, page
from whybox.report.words import say

BUNDLE = Bundle(("theme.js", "copy.js", "comparison.js"), ("base.css", "course.css"))
SHADES = 10
SHORT = 12
MARKS = {"new": "·", "begun": "◐", "done": "✓"}
NUMBER = re.compile(r"[≈<>±]?\s*[−+]?[\d.,]+([eE][−+-]?\d+)?\s*%?")


@dataclass(frozen=True)
class Cell:
    """What stands in a cell, and how: `kind` is a class of the style sheet."""

    text: str
    kind: str = ""


def course_page(document: CourseDocument, lang: Lang) -> str:
    """The chapters with what is done, and the eight statements."""
    done = sum(row.done == "done" for row in document.chapters)
    head = say("course.head", lang, done=done, n=len(document.chapters))
    return _page("course.html.jinja", document, lang, head=head, marks=MARKS)


def chapter_page(document: ChapterDocument, lang: Lang) -> str:
    """Opening, predictions beside what is so, what is shown, exercises with what became of them, the recital."""
    return _page(
        "chapter.html.jinja",
        document,
        lang,
        table=_table,
        grid=_grid,
        named=_named,
        passed=_passed,
    )


def _page(template: str, document: ChapterDocument | CourseDocument, lang: Lang, **values: object) -> str:
    data = {"document": document.model_dump(mode="json", by_alias=True)}
    return page(template, lang, [], data, BUNDLE, doc=document, **values)


def _table(block: TableBlock) -> tuple[list[Cell], list[list[Cell]]]:
    """Head and rows; columns of numbers stand to the right."""
    counted = [
        bool(block.rows) and all(not row[i] or NUMBER.fullmatch(row[i]) for row in block.rows)
        for i in range(len(block.columns))
    ]
    head = [Cell(text, "right" if right else "") for text, right in zip(block.columns, counted, strict=True)]
    rows = [
        [
            Cell(text, "right" if right else "short" if len(text) <= SHORT else "")
            for text, right in zip(row, counted, strict=True)
        ]
        for row in block.rows
    ]
    return head, rows


def _grid(block: GridBlock) -> list[tuple[str, list[Cell]]]:
    """Rows by name; the darker, the larger."""
    shade = _scale(block.values)
    return [
        (
            name,
            [
                Cell("", "hidden") if value is None else Cell(text, f"shade-{shade(value)}")
                for text, value in zip(texts, values, strict=True)
            ],
        )
        for name, texts, values in zip(block.rows, block.cells, block.values, strict=True)
    ]


def _scale(values: Sequence[Sequence[float | None]]) -> Callable[[float], int]:
    """Shares from 0 on, by the root, as in maps of attention; other numbers from the least to the most."""
    known = [value for row in values for value in row if value is not None] or [0.0]
    least, most = min(known), max(known)
    if least >= 0:
        return lambda value: round(SHADES * (value / (most or 1)) ** 0.5)
    return lambda value: round(SHADES * (value - least) / (most - least or 1))


def _named(question: QuestionRow, said: Sequence[str]) -> str:
    """Ids of options as they were worded."""
    words = {option.id: option.say for option in question.options}
    return (" → " if question.kind == "order" else " · ").join(words.get(each, each) for each in said)


def _passed(row: ExerciseRow) -> bool:
    return row.passed or (row.graded is not None and row.graded.passed)
