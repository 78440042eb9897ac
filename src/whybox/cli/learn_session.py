"""A chapter at a terminal: it asks, stores, shows, grades, listens. Everything that was answered is kept at once."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import yaml
from rich.console import Console

from whybox.cli.options import Delivered, language
from whybox.cli.runs import Parts
from whybox.cli.telling import Form, write_whole
from whybox.errors import StorageError, UsageError
from whybox.learn.course.course import Course
from whybox.learn.course.lessons import lesson
from whybox.learn.ground import Ground
from whybox.model import Model
from whybox.report import text_course as text
from whybox.report.document import ChapterDocument, Document, Lang, QuestionRow
from whybox.report.html import chapter_page, course_page
from whybox.report.terminal import heading
from whybox.report.words import say

D = TypeVar("D", bound=Document)
MOST_BYTES = 1_000_000
SUFFIXES = {"python": "py", "yaml": "yaml", "text": "txt"}


@dataclass(frozen=True)
class Asked:
    """Which chapter; what is handed in for it."""

    chapter: str | None
    check: Path | None = None
    exercise: str | None = None
    recite: Path | None = None
    answers: Path | None = None


def begin(asked: Asked, open_model: Callable[[], Model], told: Delivered) -> bool:
    """The outline, or a chapter in the way that was asked for. False where what was handed in is not passed."""
    course, lang = Course(Ground(open_model)), language(told.lang)
    if asked.chapter is None:
        return _deliver(Form(text.render_course, course_page), course.outline(lang), lang, told)
    if asked.check is not None:
        graded = course.attempt(asked.chapter, _exercise(asked), _text(asked.check), lang)
        _deliver(Form(text.render_graded), graded, lang, told)
        return graded.graded.passed
    if asked.recite is not None:
        return _deliver(Form(text.render_recited), course.recite(asked.chapter, _text(asked.recite), lang), lang, told)
    form = Form(text.render_chapter, chapter_page)
    form.check(told.out)
    with Parts(lang, told.quiet) as walk:
        if asked.answers is not None:
            document = course.hand_in(asked.chapter, _answers(asked.answers), lang, walk.tell)
            _deliver(form, document, lang, told)
            return all(row.graded.passed for row in document.exercises if row.graded is not None)
        if told.json or told.out is not None or not sys.stdin.isatty():
            document = course.open(asked.chapter, lang, walk.tell)
            _deliver(form, document, lang, told)
            if not told.json and not told.quiet:
                print(say("course.no_terminal", lang, chapter=document.id), file=sys.stderr)
            return True
    _Session(course, asked.chapter, lang, told.quiet).run()
    return True


def _deliver(form: Form[D], document: D, lang: Lang, told: Delivered) -> bool:
    form.deliver(document, lang, told.out, told.json)
    return True


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} has more than {MOST_BYTES:,} bytes", "hand in the file of one exercise")
        return path.read_text("utf-8")
    except UnicodeDecodeError as problem:
        raise UsageError(f"{path} is not UTF-8 text", "save it as UTF-8") from problem
    except OSError as problem:
        raise StorageError(
            f"{path} cannot be read: {(problem.strerror or str(problem)).lower()}", "check its name"
        ) from (problem)


def _answers(path: Path) -> dict[str, Any]:
    try:
        given = yaml.safe_load(_text(path))
    except (yaml.YAMLError, ValueError) as problem:  # a number of 5,000 digits, the 99th of a month
        raise UsageError(f"{path} is neither YAML nor JSON", " ".join(str(problem).split())[:200]) from problem
    if not isinstance(given, dict) or not all(isinstance(name, str) for name in given):
        raise UsageError(f"{path}: expected answers by question", "write `question: answer`, one a line")
    if bad := [name for name, answer in given.items() if not isinstance(answer, str | int | float | list | dict)]:
        raise UsageError(f"{path}: {bad[0]} has no answer", "write numbers, names of options, or text")
    return given


def _exercise(asked: Asked) -> str:
    """By name; by the name of the file; the only one."""
    if asked.exercise is not None:
        return asked.exercise
    written = [each.id for each in lesson(asked.chapter or "").chapter.exercises if each.kind in ("code", "file")]
    named = [name for name in written if asked.check is not None and asked.check.stem.endswith(name)]
    if len(named or written) != 1:
        raise UsageError(f"which exercise is {asked.check} for?", f"say --exercise, one of {', '.join(written)}")
    return (named or written)[0]


class _Session:
    """Question by question. Ctrl-C and the end of the input leave everything kept that was answered."""

    def __init__(self, course: Course, chapter: str, lang: Lang, quiet: bool) -> None:
        self.course, self.chapter, self.lang, self.quiet = course, chapter, lang, quiet
        self.console = Console()

    def run(self) -> None:
        try:
            document = self._predictions(self.course.words(self.chapter, self.lang))
            text.render_shown(document, self.console, self.lang)
            self._exercises(document)
            self._recital(document)
        except EOFError:
            print()
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt(f"what you answered is kept in {self.course.progress.path}") from stop

    def _predictions(self, document: ChapterDocument) -> ChapterDocument:
        """Asks for every prediction that is still to be made, then computes."""
        text.render_opening(document, self.console, self.lang)
        for row in document.predict:
            if row.stored:
                continue
            text.render_question(row.question, self.console, self.lang)
            self._answered(row.question, self._keep)
        with Parts(self.lang, self.quiet) as walk:
            return self.course.open(self.chapter, self.lang, walk.tell)

    def _answered(self, question: QuestionRow, take: Callable[[str, str], None], skip: bool = False) -> None:
        """Asks until the answer can be read; an empty one is later, where it may be."""
        note = f"{say('course.skip', self.lang)} " if skip else ""
        while True:
            said = input(note + say(f"course.ask.{question.kind}", self.lang)).strip()
            if not said and skip:
                return
            try:
                take(question.id, said)
                return
            except UsageError as problem:
                print(f"{problem.cause}\n{problem.remedy}")

    def _exercises(self, document: ChapterDocument) -> None:
        heading(self.console, say("course.exercises", self.lang))
        for row in document.exercises:
            text.render_exercise(row, self.console, self.lang)
            if row.passed:
                continue
            if row.question.format:
                self._starter(document.id, row.question)
            else:
                self._answered(row.question, self._grade, skip=True)

    def _keep(self, name: str, said: str) -> None:
        self.course.keep(self.chapter, {name: said})

    def _grade(self, name: str, said: str) -> None:
        text.render_graded(self.course.attempt(self.chapter, name, said, self.lang), self.console, self.lang)

    def _starter(self, chapter: str, question: QuestionRow) -> None:
        """What the learner begins with lies in the working folder; what lies there already is left alone."""
        file = Path(f"{lesson(chapter).chapter.module}_{question.id}.{SUFFIXES[question.format]}")
        told = "course.starter_kept" if file.exists() else "course.starter"
        if not file.exists():
            write_whole(file, question.starter)
        print(say(told, self.lang, file=file, chapter=chapter))

    def _recital(self, document: ChapterDocument) -> None:
        text.render_recital(document, self.console, self.lang)
        print(say("course.tell", self.lang, chapter=document.id))
        begun, lines = time.perf_counter(), list[str]()
        while line := input():
            lines.append(line)
        if lines:
            seconds = time.perf_counter() - begun
            heard = self.course.recite(self.chapter, "\n".join(lines), self.lang, seconds)
            text.render_recited(heard, self.console, self.lang)
