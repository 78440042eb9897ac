"""The document of `doctor` on a terminal: the verdict first, then each check in a sentence, then the floor."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from whybox.report.doctor_words import say
from whybox.report.document import DoctorCheck, DoctorDocument, FloorRow, Lang
from whybox.report.numbers import number, percent
from whybox.report.terminal import heading, plain_table
from whybox.report.visible import one_line

STYLES = {"yes": "", "no": "dim", "note": "blue", "fault": "bold yellow", "unknown": "dim", "skipped": "dim"}
COUNTED = {"undetermined": "unknown", "faults": "fault"}


def render_doctor(document: DoctorDocument, console: Console, lang: Lang) -> None:
    """Target, verdict, checks, floor, calls."""
    target = document.target
    console.print(Text(one_line(" · ".join((target.model, target.kind, *_where(document)))), style="dim"))
    wanted = COUNTED.get(document.verdict, "")
    counted = sum(check.state == wanted for check in document.checks)
    heading(console, say(f"verdict.{document.verdict}", lang, n=counted))
    heading(console, say("checks", lang))
    console.print(_checks(document.checks, console, lang))
    if document.floor:
        heading(console, say("floor", lang))
        console.print(_floor(document.floor, console, lang))
        console.print(Text(say("floor.said", lang), style="dim"))
    console.print()
    kinds = f" ({' · '.join(document.failures)})" if document.failures else ""
    console.print(Text(say("calls", lang, calls=document.calls, failed=document.failed) + one_line(kinds), style="dim"))


def _where(document: DoctorDocument) -> list[str]:
    details = document.target.details
    return [details[name] for name in ("base_url", "engine", "precision") if name in details]


def _checks(checks: tuple[DoctorCheck, ...], console: Console, lang: Lang) -> Table:
    """Two columns; what the target itself said stands below, as it is."""
    table = plain_table(console)
    table.show_header = False
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for check in checks:
        style = STYLES[check.state]
        table.add_row(Text(say(f"state.{check.state}", lang), style=style), Text(sentence(check, lang), style=style))
        if check.quote:
            table.add_row("", Text(say("quote", lang, quote=one_line(check.quote)), style="dim"))
    return table


def sentence(check: DoctorCheck, lang: Lang) -> str:
    """What was found, in one sentence."""
    values = {name: _shown(value) for name, value in check.numbers.items()}
    if check.finding == "finite.first":
        values["layer"] = say("finite.layer", lang, layer=values["layer"]) if "layer" in values else ""
    return say(check.finding, lang, **values)


def _shown(value: float | int | str) -> str:
    return number(value) if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else one_line(value)


def _floor(rows: tuple[FloorRow, ...], console: Console, lang: Lang) -> Table:
    table = plain_table(console)
    table.add_column(say("column.condition", lang), overflow="fold")
    for name in ("differing", "interval", "bound", "answers", "logprob"):
        table.add_column(say(f"column.{name}", lang), justify="right", overflow="fold")
    for row in rows:
        table.add_row(
            say(f"condition.{row.condition}", lang),
            f"{row.differing}/{row.calls}",
            f"[{percent(row.interval[0])}, {percent(row.interval[1])}]",
            percent(row.bound),
            f"{row.answers_differing}/{row.calls}",
            "" if row.logprob_max is None else number(row.logprob_max),
        )
    return table
