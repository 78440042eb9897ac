"""How a pull is told: lines and one bar, on stderr, silent when asked."""

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Protocol, runtime_checkable


@runtime_checkable
class Progress(Protocol):
    """Who is told what a pull does."""

    def say(self, line: str) -> None:
        """One line of news."""

    def bar(self, label: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """A bar of `total` bytes; the callable takes the number of bytes done so far."""


class Silent:
    """Tells nothing."""

    def say(self, line: str) -> None:
        """Nothing is said."""

    @contextmanager
    def bar(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        yield _unseen


class Terminal:
    """Lines on stderr; a bar with rate and time left where stderr is a terminal, one line where it is not."""

    def say(self, line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    @contextmanager
    def bar(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        if not sys.stderr.isatty():
            self.say(f"{label} ({size_text(total)})")
            yield _unseen
            return
        with _rich_bar(label, total) as done:
            yield done


def usual_progress() -> Progress:
    """The terminal, unless `WHYBOX_QUIET` asks for silence."""
    quiet = os.environ.get("WHYBOX_QUIET", "").lower() in {"1", "true", "t", "yes", "y", "on"}
    return Silent() if quiet else Terminal()


def size_text(size: int) -> str:
    """Bytes for people: 98.4 MB (powers of ten, as the shops count)."""
    if size < 1000:
        return f"{size} bytes"
    value, units = size / 1000, iter(("kB", "MB", "GB", "TB"))
    unit = next(units)
    while value >= 999.5 and unit != "TB":
        value, unit = value / 1000, next(units)
    return f"{value:.3g} {unit}"


@contextmanager
def _rich_bar(label: str, total: int) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task(label, total=total)
        yield lambda done: progress.update(task, completed=min(done, total))


def _unseen(done: int) -> None:
    """A bar that nobody watches."""
