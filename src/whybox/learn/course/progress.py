"""What a learner has done: predictions, stored before anything is shown; exercises passed; recitals.

One JSON file in the user's data folder. Writers wait for each other, the file is whole at any moment, and one that is
broken or newer is refused and left as it is.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from whybox.errors import FormatError, StorageError
from whybox.library.folders import own_progress
from whybox.library.store import lock_file

T = TypeVar("T")
SCHEMA: Literal["whybox.progress 1"] = "whybox.progress 1"
ELSEWHERE = "name another file with WHYBOX_PROGRESS"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Stored(_Part):
    """A prediction as it was said, and when."""

    said: tuple[str, ...]
    at: str


class Told(_Part):
    """The best recital so far: how many stations, in which time."""

    found: Annotated[int, Field(ge=0)]
    seconds: float | None = None
    at: str


class Done(_Part):
    """What was done in one chapter. passed: when, by exercise."""

    predicted: dict[str, Stored] = Field(default_factory=dict)
    attempts: dict[str, int] = Field(default_factory=dict)
    passed: dict[str, str] = Field(default_factory=dict)
    recited: Told | None = None


class Kept(_Part):
    """The whole file."""

    schema_: Literal["whybox.progress 1"] = Field(default=SCHEMA, alias="schema")
    chapters: dict[str, Done] = Field(default_factory=dict)

    def of(self, chapter: str) -> Done:
        return self.chapters.setdefault(chapter, Done())


class Progress:
    """The file of one learner. Every change is read, made and written under a lock."""

    def __init__(self, path: Path | None = None) -> None:
        self.path = path or own_progress()

    def read(self) -> Kept:
        """Nothing done where there is no file. FormatError for a file that is no progress of this version."""
        try:
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return Kept()
        except UnicodeDecodeError as problem:
            raise self._refused("text in UTF-8", "other bytes") from problem
        except OSError as problem:
            raise StorageError(f"{self.path} cannot be read: {problem.strerror or problem}", ELSEWHERE) from problem
        try:
            return Kept.model_validate_json(text)
        except ValidationError as problem:
            first = problem.errors(include_url=False)[0]
            if first["type"] == "json_invalid":
                raise self._refused("JSON", first["msg"].removeprefix("Invalid JSON: ")) from problem
            field = ".".join(map(str, first["loc"])) or "the whole file"
            raise self._refused(SCHEMA if field == "schema" else first["msg"], f"{first['input']!r:.60}", field) from (
                problem
            )

    def _refused(self, expected: str, found: str, field: str = "the whole file") -> FormatError:
        remedy = f"move it away, take a newer whybox if that wrote it, or {ELSEWHERE}; it is left as it is"
        return FormatError(self.path, field, expected, found, remedy)

    def predicted(self, chapter: str, said: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Predictions, each kept once: a later one never replaces it. What stands for each of these from now on."""

        def change(kept: Kept) -> dict[str, tuple[str, ...]]:
            stands = kept.of(chapter).predicted
            return {name: stands.setdefault(name, Stored(said=words, at=_now())).said for name, words in said.items()}

        return self._change(change)

    def attempted(self, chapter: str, exercise: str, passed: bool) -> int:
        """How many attempts there were, this one included. What was passed once stays passed."""

        def change(kept: Kept) -> int:
            done = kept.of(chapter)
            done.attempts[exercise] = done.attempts.get(exercise, 0) + 1
            if passed:
                done.passed.setdefault(exercise, _now())
            return done.attempts[exercise]

        return self._change(change)

    def recited(self, chapter: str, found: int, seconds: float | None) -> None:
        """Kept where it is the best so far."""

        def change(kept: Kept) -> None:
            done = kept.of(chapter)
            if done.recited is None or found > done.recited.found:
                done.recited = Told(found=found, seconds=seconds, at=_now())

        self._change(change)

    def _change(self, change: Callable[[Kept], T]) -> T:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._alone():
                kept = self.read()
                result = change(kept)
                self._write(kept)
                return result
        except OSError as problem:
            said = f"{self.path} cannot be written: {problem.strerror or problem}"
            raise StorageError(said, ELSEWHERE) from problem

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Held while it is read and written. Where a file system knows no locks, a change is only whole, not alone."""
        handle = os.open(self.path.with_name(f"{self.path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
        try:
            with suppress(OSError):
                lock_file(handle, wait=True)
            yield
        finally:
            os.close(handle)

    def _write(self, kept: Kept) -> None:
        beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
        try:
            with beside.open("w", encoding="utf-8") as file:
                file.write(kept.model_dump_json(by_alias=True, indent=1))
                file.flush()
                os.fsync(file.fileno())
            os.replace(beside, self.path)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
