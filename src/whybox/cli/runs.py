"""Long work on stderr: how many runs it will make, then a bar with rate and time left."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Literal

from whybox.report.visible import one_line

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from whybox.compare.effort import Standing
    from whybox.jobs.why import Plan, Progress

EVERY = 10.0  # seconds between two lines where stderr is no terminal
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


class Steps:
    """A comparison: what is compared now; then, where stderr is no terminal, a line now and then with rate and time
    left; where it is, a live bar.
    """

    def __init__(self, lang: Literal["en", "zh"], quiet: bool) -> None:
        self.told = "{done:,}/{planned:,} 步 · {rate:.3g}/s · 剩余 {left:.0f} s" if lang == "zh" else (
            "{done:,}/{planned:,} steps · {rate:.3g}/s · {left:.0f} s left"
        )  # fmt: skip
        self.quiet = quiet
        self.bar: Bar | None = None
        self.stage, self.said = "", time.monotonic()

    def __enter__(self) -> "Steps":
        return self

    def tell(self, standing: "Standing") -> None:
        """So far; the plan may grow."""
        if self.quiet:
            return
        if sys.stderr.isatty():
            self._show(standing)
            return
        if standing.stage != self.stage:
            self.stage = standing.stage
            print(one_line(self.stage), file=sys.stderr, flush=True)
        elif time.monotonic() - self.said >= EVERY and standing.rate is not None:
            print(f"  {self._line(standing)}", file=sys.stderr, flush=True)
        else:
            return
        self.said = time.monotonic()

    def _show(self, standing: "Standing") -> None:
        if self.bar is None:
            self.bar = _told_bar()
            self.bar.start()
            self.task = self.bar.add_task("", total=None, told="")
        label, total = one_line(standing.stage), standing.planned or None
        self.bar.update(self.task, description=label, completed=standing.done, total=total, told=self._line(standing))

    def _line(self, standing: "Standing") -> str:
        if standing.rate is None:
            return ""
        values = {"done": standing.done, "planned": standing.planned, "rate": standing.rate}
        return self.told.format(**values, left=standing.left_s or 0.0)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()


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


def _told_bar() -> "Bar":
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    plain = TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.fields[told]}")
    return Progress(*plain, console=Console(stderr=True), transient=True)


def _bar() -> "Bar":
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)
