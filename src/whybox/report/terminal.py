"""What every report on a terminal is made of: headings, tables, bars of characters, the line of the model."""

from collections.abc import Iterable

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from whybox.report.document import Document
from whybox.report.visible import calm, visible

BAR = "█"
EIGHTHS = " ▏▎▍▌▋▊▉"
SPARKS = "▁▂▃▄▅▆▇█"
STYLES = {"helps": "blue", "hurts": "yellow", "floor": "dim", "undefined": "dim"}


def sparkline(values: Iterable[float]) -> str:
    """Eight heights over the range of the values: ▁▃█."""
    known = list(values)
    low, high = min(known), max(known)
    steps = [round((v - low) / (high - low) * 7) if high > low else 3 for v in known]
    return "".join(SPARKS[step] for step in steps)


def bar(share: float, width: int) -> str:
    """A bar of `share` of the width, in eighths of a column."""
    eighths = round(min(max(share, 0.0), 1.0) * width * 8)
    return (BAR * (eighths // 8) + EIGHTHS[eighths % 8]).rstrip()


def model_line(document: Document) -> Text:
    """Which model computed what follows, and how."""
    model = document.model
    parts = (model.name, model.engine, model.precision, model.digest[:12])
    return Text(" · ".join(map(visible, parts)), style="dim")


def heading(console: Console, text: str) -> None:
    """A line in bold, behind an empty one."""
    console.print()
    console.print(Text(calm(text), style="bold"))


def plain_table(console: Console) -> Table:
    """Rules on a terminal, bare columns when piped."""
    lines = box.SIMPLE_HEAD if console.is_terminal else None
    return Table(box=lines, pad_edge=False, show_edge=False, header_style="dim", padding=(0, 2, 0, 0))
