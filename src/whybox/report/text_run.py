"""A run on the terminal: verdict, one block a probe with its one line, gates that are not passed, the floor."""

from rich.console import Console
from rich.text import Text

from whybox.report.doctor_words import say as doctor
from whybox.report.document import Lang, RunDocument
from whybox.report.run_lines import MARKS, estimate_of, faults, mechanisms, why
from whybox.report.run_words import say
from whybox.report.visible import one_line

_STYLES = {"pass": "green", "fail": "bold red", "inconclusive": "yellow", "error": "red", "skipped": "dim", None: ""}


def render_run(document: RunDocument, console: Console, lang: Lang) -> None:
    """The document in at most as many lines as it has probes and gates."""
    _print(console, f"{one_line(document.suite)}  ", document.verdict, lang)
    console.print(Text(say("run.counts", lang, **document.calls.model_dump())), style="dim")
    for name, said in faults(document, lang):
        console.print(Text(f"{one_line(name)}  {one_line(said)}"), style="bold yellow")
    for row in document.floor:
        condition = doctor(f"condition.{row.condition}", lang)
        values = {"n": row.calls, "hits": row.differing, "condition": condition, "target": one_line(row.target)}
        console.print(Text(say("run.floor", lang, **values)), style="dim")
    for probe in document.probes:
        console.print()
        _print(console, f"{one_line(probe.probe)} · {one_line(probe.target)}  ", probe.verdict, lang)
        console.print(Text(f"  {one_line(estimate_of(probe, lang))}"))
        for gate in document.gates:
            if (gate.probe, gate.target) == (probe.probe, probe.target):
                said = f"  {MARKS[gate.verdict]} {one_line(gate.says)} {one_line(why(gate, lang))}"
                console.print(Text(said), style=_STYLES[gate.verdict])
        for item, found in mechanisms(probe, lang):
            console.print(Text(f"  {say('why.head', lang)} {one_line(item)}: {one_line(found)}"))


def _print(console: Console, name: str, state: str | None, lang: Lang) -> None:
    line = Text(name, style="bold")
    line.append(f"{MARKS[state]} {say('state.' + (state or 'none'), lang)}", style=_STYLES[state])
    console.print(line)
