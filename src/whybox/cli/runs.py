"""Long work on stderr: how many runs it will make, then a bar with rate and time left."""

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from whybox.jobs.why import Plan, Progress

_WORDS = {
    "en": ("up to {n} runs: {stages}", "runs"),
    "zh": ("最多运行 {n} 次：{stages}", "运行"),
}


class Runs:
    """Tells nobody when quiet; one line where stderr is no terminal; a live bar where it is."""

    def __init__(self, lang: Literal["en", "zh"], quiet: bool) -> None:
        self.words = _WORDS[lang]
        self.quiet = quiet
        self.bar: Bar | None = None

    def __enter__(self) -> "Runs":
        return self

    def announce(self, plan: "Plan") -> None:
        if self.quiet:
            return
        stages = " · ".join(f"{name} {runs}" for name, runs in plan.stages)
        print(self.words[0].format(n=plan.runs, stages=stages), file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            self.bar = _bar()
            self.bar.start()
            self.task = self.bar.add_task(self.words[1], total=plan.runs)

    def tell(self, progress: "Progress") -> None:
        if self.bar is not None:
            self.bar.update(self.task, completed=progress.done)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()


class Walk:
    """One pass over a text, token by token: a live bar where stderr is a terminal, nobody else is told."""

    def __init__(self, lang: Literal["en", "zh"], quiet: bool) -> None:
        self.label = "token" if lang == "zh" else "tokens"
        self.shown = sys.stderr.isatty() and not quiet
        self.bar: Bar | None = None

    def __enter__(self) -> "Walk":
        return self

    def tell(self, done: int, planned: int) -> None:
        if not self.shown:
            return
        if self.bar is None:
            self.bar = _bar()
            self.bar.start()
            self.task = self.bar.add_task(self.label, total=planned)
        self.bar.update(self.task, completed=done, total=planned)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()


class Parts(Walk):
    """What a chapter shows, part by part."""

    def __init__(self, lang: Literal["en", "zh"], quiet: bool) -> None:
        super().__init__(lang, quiet)
        self.label = "已算出" if lang == "zh" else "computed"


class Passes(Walk):
    """Passes of a model: how many, beforehand; then a live bar where stderr is a terminal."""

    def __init__(self, lang: Literal["en", "zh"], quiet: bool) -> None:
        super().__init__(lang, quiet)
        self.planned, self.label = ("运行模型 {n} 次", "运行") if lang == "zh" else ("{n} runs of the model", "runs")
        self.quiet = quiet

    def __enter__(self) -> "Passes":
        return self

    def announce(self, runs: int) -> None:
        """Nothing where nothing is run."""
        if runs and not self.quiet:
            print(self.planned.format(n=runs), file=sys.stderr, flush=True)
            self.tell(0, runs)


class Calls:
    """Calls to a target: how many about, beforehand; then a live bar where stderr is a terminal."""

    def __init__(self, lang: Literal["en", "zh"], quiet: bool) -> None:
        self.words = ("约 {n} 次请求", "请求") if lang == "zh" else ("about {n} calls", "calls")
        self.quiet = quiet
        self.planned = 0
        self.bar: Bar | None = None

    def __enter__(self) -> "Calls":
        return self

    def announce(self, calls: int) -> None:
        if self.quiet:
            return
        self.planned = calls
        print(self.words[0].format(n=calls), file=sys.stderr, flush=True)
        if sys.stderr.isatty():
            self.bar = _bar()
            self.bar.start()
            self.task = self.bar.add_task(self.words[1], total=calls)

    def tell(self, done: int) -> None:
        if self.bar is not None:
            self.bar.update(self.task, completed=done, total=max(done, self.planned))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()


def _bar() -> "Bar":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
