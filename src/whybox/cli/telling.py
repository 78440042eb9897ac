"""What every verb writes: the JSON document on stdout, progress on stderr."""

import json
import os
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Generic, TypeVar

from whybox.errors import StorageError, UsageError
from whybox.library.progress import Progress, Silent, Terminal
from whybox.report.visible import calm
from whybox.version import __version__

if TYPE_CHECKING:
    from rich.console import Console

    from whybox.report.document import Document, Lang

D = TypeVar("D", bound="Document")


class Calm(Terminal):
    """Progress whose lines name files and folders of others: what is in those names moves no cursor."""

    def say(self, line: str) -> None:
        super().say(calm(line))


def progress_for(quiet: bool) -> Progress:
    """Who is told what happens: stderr, or nobody; the hub's own bars follow."""
    if quiet:
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
        return Silent()
    return Calm()


def print_document(name: str, begun: float, part: Mapping[str, object]) -> None:
    """Prints the document of a verb that runs no model. begun: `time.perf_counter()` when the verb began."""
    head = {"schema": {"name": f"whybox.{name}", "version": 1}, "whybox": __version__}
    document = head | dict(part) | {"took_s": round(time.perf_counter() - begun, 3)}
    print(json.dumps(document, ensure_ascii=False, indent=2, allow_nan=False))


@dataclass(frozen=True)
class Form(Generic[D]):
    """How a kind of document is shown: on a terminal, as a page where it has one, as a table of numbers, and as
    pictures by suffix.

    summary: what the terminal shows is less than the page, and is shown beside it.
    """

    render: "Callable[[D, Console, Lang], None]"
    page: "Callable[[D, Lang], str] | None" = None
    table: "Callable[[D], str] | None" = None
    pictures: "Mapping[str, Callable[[D, Lang], str | bytes]]" = field(default_factory=dict)
    summary: bool = False

    def check(self, out: Path | None) -> None:
        """UsageError for a suffix, StorageError for a place, that cannot be written: said before any work."""
        pages, tables = ((".html",) if self.page else ()), ((".csv",) if self.table else ())
        suffixes = (".json", ".txt", *pages, *tables, *self.pictures)
        if out is not None and out.suffix not in suffixes:
            known = ", ".join(f"FILE{suffix}" for suffix in suffixes)
            raise UsageError(f"cannot write {out.suffix or 'a file without suffix'}", f"use -o with one of {known}")
        if out is not None:
            _require_writable(out)

    def deliver(self, document: D, lang: "Lang", out: Path | None, json: bool) -> None:
        """Where the result goes: into a file where one is named, then stdout: as JSON, as shown, or its place."""
        if out is not None:
            self.save(document, lang, out)
        if json:
            print(json_text(document))
        elif out is None or self.summary:
            self.show(document, lang)
        else:
            say_written(out)

    def save(self, document: D, lang: "Lang", out: Path) -> None:
        """The document in the format of the suffix, the file whole or not at all."""
        self.check(out)
        if out.suffix == ".html" and self.page is not None:
            write_whole(out, self.page(document, lang))
        elif out.suffix == ".csv" and self.table is not None:
            write_whole(out, self.table(document))
        elif out.suffix in self.pictures:
            write_whole(out, self.pictures[out.suffix](document, lang))
        elif out.suffix == ".json":
            write_whole(out, json_text(document) + "\n")
        else:
            write_whole(out, self._plain(document, lang))

    def _plain(self, document: D, lang: "Lang") -> str:
        from io import StringIO

        from rich.console import Console

        written = StringIO()
        self.render(document, Console(file=written, width=100), lang)
        return written.getvalue()

    def show(self, document: D, lang: "Lang") -> None:
        """On the terminal."""
        from rich.console import Console

        self.render(document, Console(), lang)


def json_text(document: "Document") -> str:
    """The machine document."""
    from whybox.report.document import to_json

    return to_json(document)


def say_written(out: Path) -> None:
    """Where a result lies now."""
    print(calm(f"→ {out}"))


ELSEWHERE = "name another place with -o"


def require_free(out: Path, force: bool) -> None:
    """UsageError where a file is there already, unless it may be replaced."""
    if out.exists() and not force:
        raise UsageError(f"{out} is there already", "name another file, or use --force")


def _said(problem: OSError) -> str:
    """What the system says, without its number and without the name of a file of ours."""
    return (problem.strerror or str(problem)).lower()


def _require_writable(out: Path) -> None:
    """StorageError where no file can come to lie."""
    if out.is_dir():
        raise StorageError(f"cannot write {out}: it is a folder", "name a file with -o")
    if out.parent.exists() and not out.parent.is_dir():
        raise StorageError(f"cannot write {out}: {out.parent} is a file, not a folder", ELSEWHERE)
    if not out.parent.is_dir():
        raise StorageError(f"cannot write {out}: there is no folder {out.parent}", f"make it, or {ELSEWHERE}")
    if not os.access(out.parent, os.W_OK):
        raise StorageError(f"cannot write {out}: the folder {out.parent} is read-only", ELSEWHERE)


def write_whole(out: Path, content: str | bytes) -> None:
    """The file whole or not at all: written beside its place, then moved there. Each process has its own beside.

    StorageError where it cannot be written.
    """
    beside = out.with_name(f".{out.name}.{os.getpid()}.part")
    try:
        beside.write_bytes(content if isinstance(content, bytes) else content.encode())
        beside.replace(out)
    except OSError as problem:
        raise StorageError(f"cannot write {out}: {_said(problem)}", ELSEWHERE) from problem
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
