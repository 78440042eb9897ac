"""Answers that were given before, by everything that could change them. Shared by runs and processes.

Failures are never kept. A run does not read what it wrote itself: going on with it gives what one sitting would have.
"""

import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Protocol, runtime_checkable

from whybox.probes.design import AnyOutcome, Call
from whybox.suite import records
from whybox.suite.database import opened, writing
from whybox.targets.target import Failure

VERSION = 1
_TABLES = """
CREATE TABLE answers (key TEXT PRIMARY KEY, run TEXT NOT NULL, record TEXT NOT NULL) WITHOUT ROWID
"""
_AT_ONCE = 100


@runtime_checkable
class Cache(Protocol):
    """Where answers of earlier runs are looked up. target: who is asked, with the fingerprint shown in this run."""

    def found(self, calls: Sequence[Call], target: str) -> dict[int, AnyOutcome]:
        """Answers by the position of their call; calls that must be fresh are not among them."""
        ...

    def put(self, call: Call, target: str, outcome: AnyOutcome) -> None:
        """Keeps an answer for later runs."""
        ...


class NoCache:
    """Keeps nothing."""

    def found(self, calls: Sequence[Call], target: str) -> dict[int, AnyOutcome]:
        return {}

    def put(self, call: Call, target: str, outcome: AnyOutcome) -> None:
        """Nothing is kept."""


class AnswerCache:
    """A file of answers. run: the name of the run that asks. Written by the hundred: the run itself is the record."""

    def __init__(self, path: Path, run: str) -> None:
        self.path, self.run = path, run
        path.parent.mkdir(parents=True, exist_ok=True)
        self._db: sqlite3.Connection = opened(path, VERSION, _TABLES)
        self._unwritten: list[tuple[str, str, str]] = []

    def __enter__(self) -> "AnswerCache":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        try:
            self._write()
        finally:
            self._db.close()

    def found(self, calls: Sequence[Call], target: str) -> dict[int, AnyOutcome]:
        keys: dict[str, list[int]] = {}
        for position, call in enumerate(calls):
            if not call.fresh:
                keys.setdefault(records.cache_key(call, target), []).append(position)
        wanted, answers = list(keys), dict[int, AnyOutcome]()
        for begin in range(0, len(wanted), _AT_ONCE):
            some = wanted[begin : begin + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT key, record FROM answers WHERE run <> ? AND key IN ({marks})"
            for key, record in self._db.execute(query, (self.run, *some)):
                answers |= {position: records.outcome_of(record) for position in keys[key]}
        return answers

    def put(self, call: Call, target: str, outcome: AnyOutcome) -> None:
        if call.fresh or isinstance(outcome, Failure):
            return
        self._unwritten.append((records.cache_key(call, target), self.run, records.outcome_text(outcome)))
        if len(self._unwritten) >= _AT_ONCE:
            self._write()

    def _write(self) -> None:
        with writing(self._db, self.path):
            self._db.executemany("INSERT OR IGNORE INTO answers VALUES (?, ?, ?)", self._unwritten)
        self._unwritten.clear()
