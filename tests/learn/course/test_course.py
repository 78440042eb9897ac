"""Predictions come before results; exercises tick; documents hold what terminal and page need."""

import inspect
import json
from pathlib import Path

import pytest

from tests.learn.course.chapters.test_l04 import ATTENTION
from tests.learn.course.driving import without_model
from whybox.errors import UsageError
from whybox.learn.course import front, lessons
from whybox.learn.course.course import Course
from whybox.learn.course.progress import Progress
from whybox.parts.attention import one_head
from whybox.parts.softmax import softmax
from whybox.report.document import ChapterDocument, CourseDocument, Lang, SourceBlock, WordsBlock, to_json

PREDICTED = {"row": [".04", ".26", ".70"], "sharper": "best"}
RIGHT = {
    "softmax": ".67 .24 .09",
    "missing": "scaling",
    "roles": "query key value value query",
    "differs": "sharp state",
}


@pytest.fixture
def course(tmp_path: Path) -> Course:
    return Course(without_model(), Progress(tmp_path / "course.json"))


def test_nothing_is_shown_before_every_prediction_is_stored(course: Course) -> None:
    closed = course.open("L4", "en")
    assert (closed.waiting, closed.shown) == (("row", "sharper"), ())
    assert closed.shown_reason == "first comes your prediction: 2 still to be made"
    half = course.predict("L4", {"row": PREDICTED["row"]}, "en")
    assert (half.waiting, half.shown, half.predict[0].compared) == (("sharper",), (), ())
    text = to_json(half).replace(".26", "")
    for told in ("0.0743", "0.31", "forgot what the document forgot", "0.6200"):
        assert told not in text
    opened = course.predict("L4", {"sharper": "best"}, "en")
    assert (opened.waiting, opened.shown_reason) == ((), None)
    assert [(row.said, row.right, row.holds) for row in opened.predict[0].compared] == [
        (".04", "0.07", None), (".26", "0.31", None), (".70", "0.62", None),
    ]  # fmt: skip
    assert opened.predict[1].compared[0].holds is True
    words = opened.shown[0]
    assert isinstance(words, WordsBlock)
    assert "is 0.0743, 0.3057, 0.6200. Step 5" in words.paragraphs[0]


def test_a_prediction_stays_as_it_was_first_made(course: Course) -> None:
    course.predict("L4", PREDICTED, "en")
    again = course.predict("L4", {"row": ".07 .31 .62", "sharper": "2"}, "en")
    assert again.predict[0].compared[0].said == ".04"
    assert [row.not_stored for row in again.predict] == [(".07", ".31", ".62"), ()], "told, and only where it differs"
    assert [row.not_stored for row in course.open("L4", "en").predict] == [(), ()]


def test_all_are_stored_or_none(course: Course) -> None:
    with pytest.raises(UsageError, match="expected 3 numbers, found 1"):
        course.predict("L4", {"sharper": "best", "row": "1"}, "en")
    assert course.open("L4", "en").waiting == ("row", "sharper")
    with pytest.raises(UsageError, match="L4 asks for no prediction 'softmax'"):
        course.predict("L4", {"softmax": "1"}, "en")


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_source_that_is_shown_is_the_source_that_ran(course: Course, lang: Lang) -> None:
    shown = course.predict("L4", PREDICTED, lang).shown
    told = {block.name: block for block in shown if isinstance(block, SourceBlock)}
    for function in (one_head, softmax):
        code = inspect.unwrap(function)
        block = told[f"{code.__module__}.{code.__name__}"]
        assert block.text == inspect.getsource(code)
        file = Path(inspect.getsourcefile(code) or "")
        assert file.as_posix().endswith(f"/{block.file}")
        assert file.read_text("utf-8").splitlines()[block.line - 1] == block.text.splitlines()[0]
    document = course.open("L4", lang)
    assert ChapterDocument.model_validate_json(to_json(document)) == document


def test_exercises_are_graded_and_tick(course: Course) -> None:
    wrong = course.attempt("L4", "softmax", ".67 .24 .08", "en")
    assert (wrong.graded.passed, wrong.attempts) == (False, 1)
    assert [(row.holds, row.right) for row in wrong.graded.rows] == [(True, ""), (True, ""), (False, "")]
    assert wrong.graded.after == ()
    right = course.attempt("L4", "softmax", ".67 .24 .09", "en")
    assert (right.graded.passed, right.attempts) == (True, 2)
    assert right.graded.after[0].startswith("e², e and 1 sum to 11.107")
    outline = course.outline("en")
    assert outline.chapters[[row.id for row in outline.chapters].index("L4")].passed == 1
    assert [(row.passed, row.ticked) for row in outline.statements[:3]] == [(0, False), (1, False), (0, False)]
    course.attempt("L4", "missing", "scaling", "en")
    done = [row for row in course.outline("zh").statements if set(row.exercises) == {"L4.softmax", "L4.missing"}]
    assert all(row.ticked for row in done)


def test_a_verdict_is_told_although_progress_cannot_be_kept(course: Course) -> None:
    course.progress.path.write_text("{", "utf-8")
    told = course.attempt("L4", "softmax", ".67 .24 .09", "en")
    assert (told.graded.passed, told.attempts) == (True, None)
    assert str(course.progress.path) in (told.attempts_reason or "")
    assert course.progress.path.read_text("utf-8") == "{"


def test_what_is_printed_is_cut_with_a_word(course: Course) -> None:
    for more, ends in ((0, ""), (1, "… (cut after 4,000 characters)")):
        loud = ATTENTION + f"\nprint('0' * {4_000 + more}, end='')\n"
        printed = course.attempt("L4", "attention", loud, "en").graded.printed
        assert printed == "0" * 4_000 + ends


def test_a_mistake_is_named_only_where_it_was_made(course: Course) -> None:
    late = ATTENTION.replace("return a @ V, a", "a = a * 2; return a @ V, a")
    told = [remark.say for remark in course.attempt("L4", "attention", late, "en", seed=7).graded.remarks]
    assert all(": " in line for line in told)
    raw = ATTENTION.replace("/ np.sqrt(Q.shape[1])", "")
    first = course.attempt("L4", "attention", raw, "zh", seed=7).graded
    assert (first.remarks[0].say, first.seed, first.passed) == ("漏了除以 √d", 7, False)
    assert course.attempt("L4", "attention", ATTENTION, "en").graded.passed


def test_answers_of_a_file_are_all_read_before_any_is_stored(course: Course) -> None:
    with pytest.raises(UsageError, match="no exercise 'nothing'"):
        course.hand_in("L4", PREDICTED | {"nothing": "1"}, "en")
    assert course.open("L4", "en").waiting == ("row", "sharper")
    document = course.hand_in("L4", PREDICTED | RIGHT, "en")
    graded = {row.question.id: row.graded for row in document.exercises}
    assert {name for name, each in graded.items() if each is not None and each.passed} == set(RIGHT)
    assert (graded["attention"], document.waiting) == (None, ())


def test_a_recital(course: Course) -> None:
    heard = course.recite(
        "l04", "query, key, value, learned matrices; softmax, then scores, 加权求和, argmax", "zh", 100
    )
    assert (heard.found, heard.missing, heard.out_of_order) == (8, (), ("score",))
    assert (heard.seconds, heard.minutes) == (100, 2)
    assert "不评判" in heard.note
    assert course.open("L4", "en").recital.best == 8
    assert course.recite("L4", "nothing at all", "en").seconds_reason == "nobody measured it"
    assert course.open("L4", "en").recital.best == 8


def test_the_outline_knows_every_chapter_that_is_there(course: Course) -> None:
    document = course.outline("en")
    assert CourseDocument.model_validate_json(to_json(document)) == document
    assert [row.id for row in document.chapters] == list(lessons.found())
    row = next(row for row in document.chapters if row.id == "L4")
    assert (row.done, row.angles) == ("new", ("mathematics", "principle", "source", "practice"))
    assert len(document.statements) == 8
    assert {use.verb for use in document.uses} == {"run", "look", "why", "diff"}
    assert [outcome.chapter for outcome in document.outcomes] == ["L9", "L4", "L9"]
    json.loads(to_json(document))


def test_every_exercise_that_a_statement_names_exists() -> None:
    """Of the chapters that are there; with all fifteen, every statement must name some."""
    there = {f"{name}.{each.id}" for name in lessons.found() for each in lessons.lesson(name).chapter.exercises}
    for statement in front.front().statements:
        for name in statement.exercises:
            assert name in there or name.partition(".")[0] not in lessons.found(), name
        assert statement.exercises or len(lessons.found()) < 15


def test_what_is_not_there_is_told(course: Course) -> None:
    with pytest.raises(UsageError, match="there is no chapter L99"):
        course.open("L99", "en")
    with pytest.raises(UsageError, match="L4 has no exercise 'x'"):
        course.attempt("L4", "x", "1", "en")
    with pytest.raises(UsageError, match="asks for no file"):
        course.starter("L4", "softmax")
    assert course.starter("L4", "attention").startswith("import numpy as np\n")


def test_words_come_without_computing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    course = Course(without_model(), Progress(tmp_path / "course.json"))
    course.keep("L4", {"row": "1 2 3"})
    half = course.words("L4", "en")
    assert (half.predict[0].said, half.predict[0].stored, half.waiting) == (("1", "2", "3"), True, ("sharper",))
    course.keep("L4", {"sharper": "2"})
    monkeypatch.setattr("whybox.learn.course.reckoning.Reckoner.number", None)
    page = course.words("L4", "en")
    assert (page.waiting, page.shown, page.shown_reason) == ((), (), "not computed yet")
    assert (page.predict[1].said, page.predict[1].compared) == (("best",), ())
