"""The chapters that are there: a file of words each, and a module that computes what the words need."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.resources import files
from threading import Lock
from typing import TypeVar

from whybox.errors import UsageError
from whybox.learn.course.chapter import Chapter, Code, Exercise, Prediction, Question, SourceShown, read
from whybox.learn.course.computed import Computations
from whybox.report.document import Angle

PACKAGE = "whybox.learn.course.chapters"
Q = TypeVar("Q", bound=Question)
_ALONE = Lock()
"""Chapters import packages that nobody may have imported yet: of two threads one would see half of one."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """A chapter's words and what they stand on."""

    chapter: Chapter
    computed: Computations

    def exercise(self, name: str) -> Exercise:
        """UsageError for one that is not there."""
        return _named(self.chapter.exercises, name, f"{self.chapter.id} has no exercise")

    def prediction(self, name: str) -> Prediction:
        """UsageError for one that is not there."""
        return _named(self.chapter.predict, name, f"{self.chapter.id} asks for no prediction")

    @property
    def angles(self) -> tuple[Angle, ...]:
        """By what it has: numbers to work out, an idea to tell, source to read, something to write."""
        exercises = self.chapter.exercises
        has: dict[Angle, bool] = {
            "mathematics": any(each.kind == "numbers" for each in exercises),
            "principle": True,
            "source": any(isinstance(each, SourceShown) for each in self.chapter.shown),
            "practice": any(each.kind in ("code", "file") for each in exercises),
        }
        return tuple(name for name, there in has.items() if there)

    @property
    def programs(self) -> tuple[Code, ...]:
        """The exercises that ask for code."""
        return tuple(each for each in self.chapter.exercises if isinstance(each, Code))


def _named(questions: Sequence[Q], name: str, cause: str) -> Q:
    by_id = {each.id: each for each in questions}
    if name not in by_id:
        raise UsageError(f"{cause} {name!r}", f"there are {', '.join(by_id)}")
    return by_id[name]


@cache
def found() -> tuple[str, ...]:
    """Ids of the chapters that come with whybox, in order."""
    names = (re.fullmatch(r"l(\d\d)\.yaml", entry.name) for entry in files(PACKAGE).iterdir())
    return tuple(f"L{number}" for number in sorted(int(name[1]) for name in names if name))


def lesson(name: str) -> Lesson:
    """UsageError for a chapter that is not there."""
    asked = name.upper().replace("L0", "L")
    if asked not in found():
        raise UsageError(f"there is no chapter {name}", f"chapters are {', '.join(found())}")
    with _ALONE:
        return _read(asked)


@cache
def _read(name: str) -> Lesson:
    module = f"l{int(name[1:]):02d}"
    chapter = read((files(PACKAGE) / f"{module}.yaml").read_text(encoding="utf-8"), f"{module}.yaml")
    return Lesson(chapter, import_module(f"{PACKAGE}.{module}").COMPUTED)
