"""The course: what terminal and pages ask, and what they get: documents, in the reader's language.

A prediction is stored before any result is shown, and what is computed stands in a document only behind it.
"""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whybox.errors import UsageError, WhyboxError
from whybox.jobs.provenance import model_info
from whybox.learn.claims import NO_MODEL
from whybox.learn.course import outline, questions
from whybox.learn.course.answers import Answer, Said, alike, read
from whybox.learn.course.chapter import Code, Exercise, Handed, Prediction
from whybox.learn.course.grading import Grader
from whybox.learn.course.lessons import Lesson, found, lesson
from whybox.learn.course.progress import Done, Progress
from whybox.learn.course.reciting import Heard, hear
from whybox.learn.course.reckoning import Reckoner, paragraphs
from whybox.learn.course.showing import Shower, Tell
from whybox.learn.ground import Ground
from whybox.learn.ledger import Lang
from whybox.report.document import (
    AnswerRow,
    ChapterDocument,
    CourseDocument,
    ExerciseRow,
    Graded,
    GradedDocument,
    PredictionRow,
    RecitalRow,
    RecitedDocument,
    ShownBlock,
    StationRow,
)
from whybox.report.words import say

SEEDS = 1 << 32
ByQuestion = Mapping[str, Said]
"""What was said, by question."""
NOTHING: Mapping[str, Any] = {}


def nobody(_done: int, _planned: int) -> None:
    """Is told nothing."""


@dataclass
class Course:
    """ground: opens the default model when a chapter needs it. progress: the learner's. One caller at a time."""

    ground: Ground
    progress: Progress = field(default_factory=Progress)

    def __post_init__(self) -> None:
        self.reckoner = Reckoner(self.ground)
        self._blocks: dict[tuple[str, Lang], tuple[ShownBlock, ...]] = {}

    def outline(self, lang: Lang) -> CourseDocument:
        """Every chapter that is there with what is done, and the eight statements."""
        begun, kept = time.perf_counter(), self.progress.read()
        return CourseDocument(
            **self._head(lang, begun),
            **outline.front_page(lang),
            chapters=tuple(outline.row(lesson(name), kept.of(name), lang) for name in found()),
            statements=outline.statements(kept, lang),
            kept=str(self.progress.path),
        )

    def open(self, chapter: str, lang: Lang, tell: Tell = nobody) -> ChapterDocument:
        """A chapter: what it asks and, where every prediction is stored, what it shows. tell: blocks shown, of all.

        UsageError for a chapter that is not there.
        """
        return self._document(lesson(chapter), lang, tell)

    def words(self, chapter: str, lang: Lang) -> ChapterDocument:
        """A chapter without anything computed: what is asked, what was said. For a page that has its words at once."""
        return self._document(lesson(chapter), lang, None)

    def keep(self, chapter: str, answers: Mapping[str, Answer]) -> ByQuestion:
        """Stores predictions by question, all of these or none, and computes nothing. A stored one stays as it is.

        Those of these that are not stored, since another one stands.

        UsageError for a question that is not there, and an answer that is none.
        """
        opened = lesson(chapter)
        said = {name: read(opened.prediction(name), answer).said for name, answer in answers.items()}
        stands = self.progress.predicted(opened.chapter.id, said)
        return {name: words for name, words in said.items() if not alike(opened.prediction(name), words, stands[name])}

    def predict(self, chapter: str, answers: Mapping[str, Answer], lang: Lang, tell: Tell = nobody) -> ChapterDocument:
        """Stores predictions, then opens the chapter. Raises what `keep` raises."""
        return self._document(lesson(chapter), lang, tell, late=self.keep(chapter, answers))

    def attempt(
        self, chapter: str, exercise: str, answer: Answer, lang: Lang, seed: int | None = None
    ) -> GradedDocument:
        """Grades an answer, then keeps that it was tried and whether it is passed, where that can be kept.

        seed: of the hidden tests' draws.

        UsageError for an exercise that is not there, and an answer that is none.
        """
        begun, opened = time.perf_counter(), lesson(chapter)
        question = opened.exercise(exercise)
        drawn = secrets.randbelow(SEEDS) if seed is None else seed
        graded = self._graded(opened, exercise, answer, lang, drawn)
        attempts, lost = self._kept(opened.chapter.id, exercise, graded.passed)
        return GradedDocument(
            **self._head(lang, begun, drawn),
            chapter=opened.chapter.id,
            exercise=exercise,
            kind=question.kind,
            attempts=attempts,
            attempts_reason=lost,
            graded=graded,
        )

    def _kept(self, chapter: str, exercise: str, passed: bool) -> tuple[int, None] | tuple[None, str]:
        """The verdict is there already: where progress cannot be kept, that is told beside it."""
        try:
            return self.progress.attempted(chapter, exercise, passed), None
        except WhyboxError as problem:
            return None, f"{problem.cause}: {problem.remedy}" if problem.remedy else problem.cause

    def hand_in(self, chapter: str, answers: Mapping[str, Answer], lang: Lang, tell: Tell = nobody) -> ChapterDocument:
        """Predictions and exercises by question at once: predictions are stored first; then every exercise is graded.

        UsageError before anything is stored where one is not there, or is no answer.
        """
        opened = lesson(chapter)
        predictions = {each.id for each in opened.chapter.predict}
        for name, answer in answers.items():
            read(opened.prediction(name) if name in predictions else opened.exercise(name), answer)
        late = self.keep(chapter, {name: answer for name, answer in answers.items() if name in predictions})
        graded = {
            name: self.attempt(chapter, name, answer, lang).graded
            for name, answer in answers.items()
            if name not in predictions
        }
        return self._document(opened, lang, tell, graded, late)

    def recite(self, chapter: str, told: str, lang: Lang, seconds: float | None = None) -> RecitedDocument:
        """What of the recital was told. seconds: how long it took, where somebody measured.

        UsageError for a text that is empty or too long.
        """
        begun, recital = time.perf_counter(), lesson(chapter).chapter.recite
        name, heard = lesson(chapter).chapter.id, hear(recital, told)
        self.progress.recited(name, len(heard.found), seconds)
        stations = tuple(
            StationRow(
                id=station.id,
                say=station.say.of(lang),
                found=station.id in heard.found,
                in_order=station.id not in heard.out_of_order
                if recital.ordered and station.id in heard.found
                else None,
            )
            for station in recital.stations
        )
        return RecitedDocument(
            **self._head(lang, begun),
            chapter=name,
            stations=stations,
            found=len(heard.found),
            missing=heard.missing,
            out_of_order=heard.out_of_order,
            remarks=_remarks(heard, lang),
            seconds=seconds,
            seconds_reason=None if seconds is not None else say("course.not_timed", lang),
            minutes=recital.minutes,
            note=say("course.checklist", lang),
        )

    def starter(self, chapter: str, exercise: str) -> str:
        """What the learner begins with. UsageError for an exercise that asks for nothing written."""
        question = lesson(chapter).exercise(exercise)
        if not isinstance(question, Code | Handed):
            raise UsageError(f"{exercise} of {chapter} asks for no file", "it is answered in the session")
        return question.starter

    def _head(self, lang: Lang, begun: float, seed: int = 0) -> dict[str, Any]:
        opened = self.ground.opened
        model = NO_MODEL if opened is None else model_info(opened)
        return {"lang": lang, "model": model, "seed": seed, "took_s": time.perf_counter() - begun}

    def _graded(self, opened: Lesson, exercise: str, answer: Answer, lang: Lang, seed: int) -> Graded:
        question = opened.exercise(exercise)
        graded = Grader(opened, self.reckoner).graded(question, read(question, answer), lang, seed)
        if not graded.passed or question.after is None:
            return graded
        return graded.model_copy(update={"after": self.reckoner.fill(question.after, opened.computed, lang)})

    def _document(
        self,
        opened: Lesson,
        lang: Lang,
        tell: Tell | None,
        graded: Mapping[str, Graded] = NOTHING,
        late: ByQuestion = NOTHING,
    ) -> ChapterDocument:
        """tell: None where nothing is to be computed. late: predictions that came, and are not stored."""
        begun, chapter = time.perf_counter(), opened.chapter
        done = self.progress.read().of(chapter.id)
        waiting = tuple(each.id for each in chapter.predict if each.id not in done.predicted)
        page = _Page(opened, self.reckoner, lang, done, computes=tell is not None)
        rows = (page.prediction(each, compared=not waiting) for each in chapter.predict)
        predict = tuple(row.model_copy(update={"not_stored": late.get(row.question.id, ())}) for row in rows)
        closed = say("course.predict_first", lang, n=len(waiting)) if waiting else say("course.not_computed", lang)
        shown = () if waiting or tell is None else self._shown(opened, lang, tell)
        exercises = tuple(page.exercise(each, graded.get(each.id)) for each in chapter.exercises)
        return ChapterDocument(
            **self._head(lang, begun),
            id=chapter.id,
            title=chapter.title.of(lang),
            where=chapter.where,
            claims=chapter.claims,
            opening=paragraphs(chapter.opening.of(lang)),
            predict=predict,
            waiting=waiting,
            shown=shown,
            shown_reason=None if shown else closed,
            exercises=exercises,
            recital=page.recital(),
        )

    def _shown(self, opened: Lesson, lang: Lang, tell: Tell) -> tuple[ShownBlock, ...]:
        """Computed when first shown; it is the same ever after."""
        key = opened.chapter.id, lang
        if key not in self._blocks:
            self._blocks[key] = Shower(opened, self.reckoner).blocks(lang, tell)
        return self._blocks[key]


def _remarks(heard: Heard, lang: Lang) -> tuple[str, ...]:
    copied = (say("course.copied", lang, n=len(heard.copied)),) if heard.copied else ()
    return (*copied, say("course.bare", lang)) if heard.bare else copied


@dataclass(frozen=True)
class _Page:
    """A chapter's rows for one learner. computes: whether what is right may be computed now."""

    lesson: Lesson
    reckoner: Reckoner
    lang: Lang
    done: Done
    computes: bool

    def prediction(self, question: Prediction, compared: bool) -> PredictionRow:
        stored = self.done.predicted.get(question.id)
        row = PredictionRow(question=questions.row(question, self.lang), stored=stored is not None)
        if stored is None:
            return row
        row = row.model_copy(update={"said": stored.said})
        if not compared or not self.computes:
            return row
        return row.model_copy(
            update={"compared": self._compared(question, stored.said), "after": self._after(question)}
        )

    def _compared(self, question: Prediction, said: tuple[str, ...]) -> tuple[AnswerRow, ...]:
        try:
            return Grader(self.lesson, self.reckoner).compared(question, read(question, list(said)), self.lang)
        except UsageError:  # the question is another one since; the answer stands as it was said
            return (AnswerRow(say="", said=" ".join(said)),)

    def exercise(self, question: Exercise, graded: Graded | None) -> ExerciseRow:
        passed = question.id in self.done.passed
        return ExerciseRow(
            question=questions.row(question, self.lang),
            passed=passed,
            attempts=self.done.attempts.get(question.id, 0),
            graded=graded,
            after=self._after(question) if passed and self.computes else (),
        )

    def _after(self, question: Exercise) -> tuple[str, ...]:
        if question.after is None:
            return ()
        return self.reckoner.fill(question.after, self.lesson.computed, self.lang)

    def recital(self) -> RecitalRow:
        recital, told = self.lesson.chapter.recite, self.done.recited
        return RecitalRow(
            ask=paragraphs(recital.ask.of(self.lang)),
            minutes=recital.minutes,
            ordered=recital.ordered,
            stations=len(recital.stations),
            best=told.found if told else 0,
        )
