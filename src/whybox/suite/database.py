"""SQLite files that several processes may hold: write-ahead log, one version of the tables, one writer's lock."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from whybox.errors import StorageError, UsageError

PATIENCE_S = 30.0
ELSEWHERE = "name another place with -o"


def made_folder(folder: Path) -> Path:
    """The folder, made where it is not there. StorageError where it cannot be."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as problem:
        said = (problem.strerror or str(problem)).lower()
        raise StorageError(f"cannot make the folder {folder}: {said}", ELSEWHERE) from problem
    return folder


def opened(path: Path, version: int, tables: str) -> sqlite3.Connection:
    """A database with these tables, made where it is not there. StorageError for a file that is something else.

    A transaction is in the log before the next one begins: the death of the process loses nothing that was kept.
    """
    try:
        # who opens it waits while a thread of its own writes (`targets/until_done.py`): never two at once
        connection = sqlite3.connect(path, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        with transaction(connection):
            found = connection.execute("PRAGMA user_version").fetchone()[0]
            if found == 0:
                for statement in filter(str.strip, tables.split(";")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {version}")
    except sqlite3.Error as problem:
        raise StorageError(f"cannot keep results in {path}: {problem}", ELSEWHERE) from problem
    if found not in (0, version):
        connection.close()
        raise StorageError(
            f"{path}: expected tables of version {version}, found {found}",
            "use the whybox that wrote it",
        )
    return connection


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


@contextmanager
def writing(connection: sqlite3.Connection, path: Path) -> Iterator[None]:
    """A transaction; what the disk refuses is a StorageError."""
    try:
        with transaction(connection):
            yield
    except sqlite3.Error as problem:
        raise StorageError(f"cannot write {path}: {problem}", "free some space, then run the same again") from problem


@contextmanager
def only_writer(path: Path, patience_s: float = 0.0) -> Iterator[None]:
    """Nobody else writes this run meanwhile. The lock dies with its process. UsageError where another one holds it for
    longer than `patience_s`.

    Its file stays: taken away, it could be held twice, once under the old name and once under the new.
    """
    beside = path.with_name(f".{path.name}.lock")
    lock = sqlite3.connect(beside, timeout=patience_s, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError as held:
        lock.close()
        raise UsageError(f"{path} is being written by another process", "wait for it, or use another -o") from held
    try:
        yield
    finally:
        lock.execute("ROLLBACK")
        lock.close()
