"""The course: what terminal and pages ask, and what they get: documents, in the reader's language.

A prediction is stored before any result is shown, and what is computed stands in a document only behind it.
"""

import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from whybox.errors import UsageError
from whybox.jobs.provenance import model_info
from whybox.learn.claims import NO_MODEL
from whybox.learn.course import outline, questions
from whybox.learn.course.answers import Answer, Read, read
from whybox.learn.course.chapter import Code, Exercise, Handed, Prediction
from whybox.learn.course.grading import Grader
from whybox.learn.course.lessons import Lesson, found, lesson
from whybox.learn.course.progress import Done, Progress
from whybox.learn.course.reciting import hear
from whybox.learn.course.reckoning import Reckoner, paragraphs
from whybox.learn.course.showing import Shower, Tell
from whybox.learn.ground import Ground
from whybox.learn.ledger import Lang
from whybox.report.document import (
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
        return self._document(lesson(chapter), lang, tell, {})

    def words(self, chapter: str, lang: Lang) -> ChapterDocument:
        """A chapter with nothing computed: what it asks, what is stored. UsageError for a chapter that is not there."""
        return self._words(lesson(chapter), lang)

    def keep(self, chapter: str, answers: Mapping[str, Answer]) -> None:
        """Stores predictions by question, all of these or none, and computes nothing. A stored one stays as it is.

        UsageError for a question that is not there, and an answer that is none.
        """
        opened = lesson(chapter)
        said = {name: read(opened.prediction(name), answer).said for name, answer in answers.items()}
        self.progress.predicted(opened.chapter.id, said)

    def predict(self, chapter: str, answers: Mapping[str, Answer], lang: Lang, tell: Tell = nobody) -> ChapterDocument:
        """Keeps predictions, then opens the chapter."""
        self.keep(chapter, answers)
        return self.open(chapter, lang, tell)

    def attempt(
        self, chapter: str, exercise: str, answer: Answer, lang: Lang, seed: int | None = None
    ) -> GradedDocument:
        """Grades an answer, and keeps that it was tried and whether it is passed. seed: of the hidden tests' draws.

        UsageError for an exercise that is not there, and an answer that is none.
        """
        begun, opened = time.perf_counter(), lesson(chapter)
        question = opened.exercise(exercise)
        drawn = secrets.randbelow(SEEDS) if seed is None else seed
        graded = self._graded(opened, exercise, answer, lang, drawn)
        attempts = self.progress.attempted(opened.chapter.id, exercise, graded.passed)
        return GradedDocument(
            **self._head(lang, begun, drawn),
            chapter=opened.chapter.id,
            exercise=exercise,
            kind=question.kind,
            attempts=attempts,
            graded=graded,
        )

    def hand_in(self, chapter: str, answers: Mapping[str, Answer], lang: Lang, tell: Tell = nobody) -> ChapterDocument:
        """Predictions and exercises by question at once: predictions are stored first; then every exercise is graded.

        UsageError before anything is stored where one is not there, or is no answer.
        """
        opened = lesson(chapter)
        predictions = {each.id for each in opened.chapter.predict}
        for name, answer in answers.items():
            read(opened.prediction(name) if name in predictions else opened.exercise(name), answer)
        self.predict(chapter, {name: answer for name, answer in answers.items() if name in predictions}, lang)
        graded = {
            name: self.attempt(chapter, name, answer, lang).graded
            for name, answer in answers.items()
            if name not in predictions
        }
        return self._document(opened, lang, tell, graded)

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

    def _document(self, opened: Lesson, lang: Lang, tell: Tell, graded: Mapping[str, Graded]) -> ChapterDocument:
        begun, words = time.perf_counter(), self._words(opened, lang)
        told = {"exercises": tuple(self._told(opened, row, lang, graded) for row in words.exercises)}
        if words.waiting:
            return words.model_copy(update=told)
        told |= {
            "predict": tuple(self._compared(opened, row, lang) for row in words.predict),
            "shown": self._shown(opened, lang, tell),
            "shown_reason": None,
        }
        return words.model_copy(update=self._head(lang, begun) | told)

    def _words(self, opened: Lesson, lang: Lang) -> ChapterDocument:
        begun, chapter = time.perf_counter(), opened.chapter
        done = self.progress.read().of(chapter.id)
        waiting = tuple(each.id for each in chapter.predict if each.id not in done.predicted)
        reason = say("course.predict_first", lang, n=len(waiting)) if waiting else say("course.not_yet", lang)
        return ChapterDocument(
            **self._head(lang, begun),
            id=chapter.id,
            title=chapter.title.of(lang),
            where=chapter.where,
            claims=chapter.claims,
            opening=paragraphs(chapter.opening.of(lang)),
            predict=tuple(_predicted(each, done, lang) for each in chapter.predict),
            waiting=waiting,
            shown_reason=reason,
            exercises=tuple(_attempted(each, done, lang) for each in chapter.exercises),
            recital=RecitalRow(
                ask=paragraphs(chapter.recite.ask.of(lang)),
                minutes=chapter.recite.minutes,
                ordered=chapter.recite.ordered,
                stations=len(chapter.recite.stations),
                best=done.recited.found if done.recited else 0,
            ),
        )

    def _shown(self, opened: Lesson, lang: Lang, tell: Tell) -> tuple[ShownBlock, ...]:
        """Computed when it is first shown; it is the same for every reader."""
        key = opened.chapter.id, lang
        if key not in self._blocks:
            self._blocks[key] = Shower(opened, self.reckoner).blocks(lang, tell)
        return self._blocks[key]

    def _compared(self, opened: Lesson, row: PredictionRow, lang: Lang) -> PredictionRow:
        """What was predicted, beside what is computed."""
        question = opened.prediction(row.question.id)
        after = () if question.after is None else self.reckoner.fill(question.after, opened.computed, lang)
        compared = Grader(opened, self.reckoner).compared(question, _again(question, row.said), lang)
        return row.model_copy(update={"compared": compared, "after": after})

    def _told(self, opened: Lesson, row: ExerciseRow, lang: Lang, graded: Mapping[str, Graded]) -> ExerciseRow:
        """What came of an answer, and what is said behind a passed exercise."""
        told = opened.exercise(row.question.id).after if row.passed else None
        after = () if told is None else self.reckoner.fill(told, opened.computed, lang)
        return row.model_copy(update={"graded": graded.get(row.question.id), "after": after})


def _predicted(question: Prediction, done: Done, lang: Lang) -> PredictionRow:
    stored = done.predicted.get(question.id)
    said = () if stored is None else stored.said
    return PredictionRow(question=questions.row(question, lang), stored=stored is not None, said=said)


def _attempted(question: Exercise, done: Done, lang: Lang) -> ExerciseRow:
    passed, attempts = question.id in done.passed, done.attempts.get(question.id, 0)
    return ExerciseRow(question=questions.row(question, lang), passed=passed, attempts=attempts)


def _again(question: Prediction, said: tuple[str, ...]) -> Read:
    """A stored answer, read anew; where the chapter has changed since, it stands as it was said."""
    try:
        return read(question, list(said))
    except UsageError:
        return Read(said)
