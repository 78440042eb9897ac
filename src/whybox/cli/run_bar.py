"""How a run is told on stderr: the plan beforehand, then a bar with rate, errors and time left."""

import sys
from collections.abc import Sequence
from types import TracebackType
from typing import Literal

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from whybox.report.run_names import told
from whybox.report.visible import one_line
from whybox.suite.floor import FLOOR
from whybox.suite.planning import Row
from whybox.suite.progress import Progress

_WORDS = {
    "en": (
        "probe",
        "target",
        "items",
        "arms",
        "calls",
        "tokens ≤",
        "finds",
        "calls",
        "errors",
        "from cache",
        "skipped",
        "points",
    ),
    "zh": ("探针", "目标", "样本", "臂", "调用", "token ≤", "可检出", "调用", "错误", "来自缓存", "跳过", "个百分点"),
}
EVERY = 10.0  # seconds between two lines where stderr is no terminal


class RunBar:
    """Tells nobody when quiet; a line now and then where stderr is no terminal; a live bar where it is."""

    def __init__(self, lang: Literal["en", "zh"], quiet: bool) -> None:
        self.words, self.quiet = _WORDS[lang], quiet
        self.bar: Bar | None = None
        self.said = 0.0

    def __enter__(self) -> "RunBar":
        return self

    def tell(self, progress: Progress) -> None:
        """One call more."""
        if self.quiet or progress.planned == 0:
            return
        if not sys.stderr.isatty():
            self._say(progress)
            return
        if self.bar is None:
            self.bar = _bar()
            self.bar.start()
            self.task = self.bar.add_task(self.words[7], total=progress.planned, told="")
        self.bar.update(self.task, completed=progress.done, total=progress.planned, told=self._told(progress))

    def tell_why(self, where: tuple[str, str], item: str, number: int, of: int) -> None:
        """The next item that is explained; each takes up to some hundreds of runs."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None
        if not self.quiet:
            print(f"why {number}/{of}: {' · '.join(map(one_line, (*where, item)))}", file=sys.stderr, flush=True)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self.bar is not None:
            self.bar.stop()

    def _say(self, progress: Progress) -> None:
        if progress.done in (0, progress.planned) or progress.seconds - self.said >= EVERY:
            self.said = progress.seconds
            line = f"{progress.done}/{progress.planned} {self.words[7]} · {self._told(progress)}"
            print(line, file=sys.stderr, flush=True)

    def _told(self, progress: Progress) -> str:
        rate = "" if progress.rate is None else f"{progress.rate:.3g}/s · "
        left = "" if progress.left_s is None else f" · {progress.left_s:.0f} s"
        return f"{rate}{progress.failed} {self.words[8]} · {progress.cached} {self.words[9]}{left}"


def show_plan(rows: Sequence[Row], lang: Literal["en", "zh"], console: Console) -> None:
    """What would be done, one line a probe and target."""
    words = _WORDS[lang]
    table = Table(*words[:7], box=None, pad_edge=False)
    for row in rows:
        finds = f"{words[10]}: {told(row.skipped, lang)}" if row.skipped else _finds(row, lang)
        tokens = f"{row.tokens_read + row.tokens_written:,}"
        cells = (row.probe, row.target, str(row.items), str(row.arms), f"{row.calls:,}", tokens, finds)
        table.add_row(*map(Text, cells))
    console.print(table)


def _finds(row: Row, lang: Literal["en", "zh"]) -> str:
    """The smallest effect that would be seen, or why none is named; of the floor nothing is to be found."""
    if isinstance(row.finds, float):
        return f"≥ {100 * row.finds:.1f} {_WORDS[lang][11]}"
    return "—" if row.probe == FLOOR else told(row.finds.reason, lang)


def _bar() -> Bar:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[told]}"))
    return Bar(*columns, console=Console(stderr=True), transient=True)
