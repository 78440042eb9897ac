"""One run as one SQLite file: the plan, and each outcome from the moment in which it came.

A call is finished when its row is there. What the file holds after a kill is what had finished; going on makes the
calls that have no row, and no other.
"""

import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Any, Literal

from whybox.errors import UsageError
from whybox.probes.design import AnyOutcome, Call, Cell, Record
from whybox.suite import records
from whybox.suite.database import opened, writing
from whybox.suite.terms import TERMS, Terms, differences
from whybox.targets.target import Failure

VERSION = 1
Source = Literal["fresh", "cache"]

_CELL = "target, probe, item, arm, run"
_TABLES = f"""
CREATE TABLE notes (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE requests (digest TEXT PRIMARY KEY, body TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE calls (
  target TEXT, probe TEXT, item TEXT, arm TEXT, run INTEGER, request TEXT NOT NULL REFERENCES requests (digest),
  repeat INTEGER NOT NULL, fresh INTEGER NOT NULL, facts TEXT NOT NULL, PRIMARY KEY ({_CELL})
) WITHOUT ROWID;
CREATE TABLE outcomes (
  target TEXT, probe TEXT, item TEXT, arm TEXT, run INTEGER, state TEXT NOT NULL, record TEXT NOT NULL,
  source TEXT NOT NULL, finished REAL NOT NULL, PRIMARY KEY ({_CELL}),
  FOREIGN KEY ({_CELL}) REFERENCES calls ({_CELL})
) WITHOUT ROWID
"""


@dataclass(frozen=True)
class Counts:
    """Of a run: calls that are planned, finished, failed among those, and answered from the cache."""

    planned: int
    finished: int
    failed: int
    cached: int


@dataclass(frozen=True)
class Finished:
    """A finished call, with how it ended and whether it was asked or found."""

    call: Call
    outcome: AnyOutcome
    source: Source

    @property
    def is_answered(self) -> bool:
        return not isinstance(self.outcome, Failure)


class Store:
    """The file of a run. One process writes it at a time (`database.only_writer`); any may read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._db = opened(path, VERSION, _TABLES)
        self._db.execute("PRAGMA foreign_keys = ON")

    @classmethod
    def existing(cls, path: Path) -> "Store":
        """UsageError where there is no run."""
        if not path.is_file():
            raise UsageError(f"there is no run in {path}", "make one: whybox run SUITE.yaml -o DIR")
        return cls(path)

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        self._db.close()

    def begin(
        self,
        calls: Sequence[Call],
        identities: Mapping[str, str] = MappingProxyType({}),
        terms: Terms = MappingProxyType({}),
    ) -> str:
        """Writes the plan, or finds that it is the one of this file. Gives the name of the run.

        identities: the digest of every target, by its name. terms: what the plan follows from.

        UsageError where the file holds a run of another plan: its answers are answers to something else.
        """
        plan = records.plan_digest(calls, identities)
        found = self.note("plan")
        if found not in (None, plan):
            self.require(terms)
            raise self._another("of another suite, seed, target or size")
        if found is None:
            self._write_plan(plan, calls, terms)
        return self.note("run") or ""

    def require(self, terms: Terms) -> None:
        """UsageError where the file holds a run that follows from other terms; nothing has to be planned to see it."""
        if differs := differences(records.parsed(self.note(TERMS) or "{}"), terms):
            raise self._another("; ".join(differs))

    def _another(self, how: str) -> UsageError:
        return UsageError(f"{self.path} holds another run: {how}", "go on with that one, or use another -o")

    def extend(self, calls: Sequence[Call]) -> None:
        """Calls of a further round: what is asked because of what came back. Those that are there stay."""
        if calls:
            with writing(self._db, self.path):
                self._insert(calls, "OR IGNORE")

    def keep(self, call: Call, outcome: AnyOutcome, source: Source = "fresh") -> None:
        """One finished call, on disk before this returns. A failure is replaced by what came later, never an answer."""
        state = "failed" if isinstance(outcome, Failure) else "answered"
        with writing(self._db, self.path):
            row = self._db.execute(f"SELECT state, record FROM outcomes WHERE {_same()}", call.cell).fetchone()
            if row is not None and row[0] == "answered":
                return
            earlier = records.outcome_of(row[1]) if row else None
            text = records.outcome_text(records.with_earlier(outcome, earlier))
            values = (*call.cell, state, text, source, time.time())
            self._db.execute("INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", values)

    def unfinished(self, calls: Iterable[Call], retry_errors: bool = False) -> list[Call]:
        """The calls that have no outcome, and with `retry_errors` those that failed."""
        where = "WHERE state = 'answered'" if retry_errors else ""
        done: set[Cell] = set(self._db.execute(f"SELECT {_CELL} FROM outcomes {where}"))
        return [call for call in calls if call.cell not in done]

    def records(self, calls: Iterable[Call]) -> Iterator[Record]:
        """The calls that are finished, with their outcomes, in the order of the calls."""
        for call in calls:
            row = self._db.execute(f"SELECT record FROM outcomes WHERE {_same()}", call.cell).fetchone()
            if row is not None:
                yield Record(call, records.outcome_of(row[0]))

    def calls(self) -> Iterator[Call]:
        """The plan."""
        columns = f"{_CELL}, body, repeat, fresh, facts"
        for target, probe, item, arm, run, body, repeat, fresh, facts in self._db.execute(
            f"SELECT {columns} FROM calls JOIN requests ON request = digest ORDER BY {_CELL}"
        ):
            pairs = tuple((str(name), str(value)) for name, value in records.parsed(facts))
            request = records.request_of(body, repeat)
            yield Call(target, probe, item, arm, run, request, bool(fresh), pairs)

    def finished(self) -> Iterator[Finished]:
        """Every call that has an outcome, in the order of their places."""
        found = {tuple(row[:5]): row[5:] for row in self._outcomes()}
        for call in self.calls():
            if call.cell in found:
                record, source = found[call.cell]
                yield Finished(call, records.outcome_of(record), source)

    def _outcomes(self) -> Iterator[tuple[Any, ...]]:
        yield from self._db.execute(f"SELECT {_CELL}, record, source FROM outcomes")

    def rows(self) -> list[tuple[object, ...]]:
        """What the run is, times and attempts aside: two runs of one plan are equal when these are."""
        found = self._db.execute(f"SELECT {_CELL}, state, source, record FROM outcomes ORDER BY {_CELL}")
        return [(*cell, state, source, records.outcome_of(record)) for *cell, state, source, record in found]

    def counts(self) -> Counts:
        planned = self._db.execute("SELECT count(*) FROM calls").fetchone()[0]
        each = "count(*), coalesce(sum(state = 'failed'), 0), coalesce(sum(source = 'cache'), 0)"
        return Counts(planned, *self._db.execute(f"SELECT {each} FROM outcomes").fetchone())

    def asked(self) -> Iterator[tuple[Cell, AnyOutcome, float]]:
        """Every call that was asked, its outcome, and when that was kept (seconds of the clock)."""
        rows = self._db.execute(f"SELECT {_CELL}, record, finished FROM outcomes WHERE source = 'fresh'")
        yield from ((tuple(cell), records.outcome_of(record), ended) for *cell, record, ended in rows)

    def seconds_a_call(self) -> float | None:
        """Between the first and the last outcome; None before there are two."""
        first, last, count = self._db.execute(
            "SELECT min(finished), max(finished), count(*) FROM outcomes WHERE source = 'fresh'"
        ).fetchone()
        return (last - first) / (count - 1) if count > 1 else None

    def note(self, name: str) -> str | None:
        """A text that was kept beside the calls."""
        row = self._db.execute("SELECT value FROM notes WHERE name = ?", (name,)).fetchone()
        return None if row is None else str(row[0])

    def write_notes(self, notes: Mapping[str, str]) -> None:
        """Keeps texts beside the calls; what has the same name is replaced."""
        with writing(self._db, self.path):
            self._db.executemany("INSERT OR REPLACE INTO notes VALUES (?, ?)", list(notes.items()))

    def _write_plan(self, plan: str, calls: Sequence[Call], terms: Terms) -> None:
        with writing(self._db, self.path):
            try:
                self._insert(calls)
            except sqlite3.IntegrityError as twice:
                raise UsageError("a plan has two calls for one target, probe, item, arm and run") from twice
            notes = {
                "plan": plan,
                "run": uuid.uuid4().hex,
                TERMS: records.text({name: dict(each) for name, each in terms.items()}),
            }
            self._db.executemany("INSERT INTO notes VALUES (?, ?)", list(notes.items()))

    def _insert(self, calls: Sequence[Call], twice: str = "") -> None:
        bodies = {call.request.digest: records.request_text(call.request) for call in calls}
        rows = [
            (*call.cell, call.request.digest, call.request.repeat, call.fresh, records.text(call.facts))
            for call in calls
        ]
        self._db.executemany("INSERT OR IGNORE INTO requests VALUES (?, ?)", list(bodies.items()))
        self._db.executemany(f"INSERT {twice} INTO calls VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _same() -> str:
    return "target = ? AND probe = ? AND item = ? AND arm = ? AND run = ?"
