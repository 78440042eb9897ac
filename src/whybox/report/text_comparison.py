"""Two runs compared, on the terminal: the verdict, one line a probe and an arm, what else differs."""

from rich.console import Console
from rich.text import Text

from whybox.report.document import ComparisonDocument, DifferenceRow, Lang
from whybox.report.estimate_line import p_text, points
from whybox.report.reasons import reason
from whybox.report.run_names import detail, word
from whybox.report.visible import one_line
from whybox.report.words import say

MARKS = {"worse": "✗", "better": "↑", "same": "=", "alike": "=", "open": "?"}


def render_comparison(document: ComparisonDocument, console: Console, lang: Lang) -> None:
    """In at most as many lines as there are arms and settings; without the arms where nothing differs."""
    console.print(Text(f"{MARKS[document.shown]} {comparison_head(document, lang)}", style="bold"))
    console.print(Text(one_line(sides(document, lang)), style="dim"))
    for probe in document.probes:
        console.print(Text(f"  {MARKS[probe.shown]} {one_line(probe.probe)}  {difference(probe, lang)}", style="bold"))
    for row in () if document.shown == "alike" else document.rows:
        console.print(
            Text(f"  {MARKS[row.shown]} {one_line(row.probe)} · {one_line(row.arm)}  {difference(row, lang)}")
        )
    for setting in document.settings:
        first, second = detail(setting.first, lang), detail(setting.second, lang)
        console.print(Text(one_line(f"  {word(setting.name, lang)}: {first} → {second}"), style="dim"))


def comparison_head(document: ComparisonDocument, lang: Lang) -> str:
    """The verdict in a sentence."""
    if document.same_run:
        return say("cmp.head.itself", lang, n=document.matched)
    margin = "" if document.margin is None else points(document.margin)
    return say(f"cmp.head.{document.shown}", lang, margin=margin, n=document.matched)


def sides(document: ComparisonDocument, lang: Lang) -> str:
    """What was compared with what, and how much of it could be."""
    values = {"first": document.first.run, "second": document.second.run, "n": document.matched}
    return say("cmp.sides", lang, **values, only_first=document.only_first, only_second=document.only_second)


def difference(row: DifferenceRow, lang: Lang) -> str:
    """−10.0 points [−22.1, 1.0] · 3 worse, 1 better of 20 · p .625 (Holm 1)"""
    if row.difference is None or row.interval is None:
        return reason(row.difference_reason or "", lang)
    values = {"low": points(row.interval[0]), "high": points(row.interval[1]), "value": points(row.difference)}
    values |= {"p": p_text(row.p), "adjusted": p_text(row.p_adjusted)}
    said = say(
        "cmp.row", lang, **values, worse=row.worse, better=row.better, n=row.n, lost=row.lost, texts=row.texts_changed
    )
    return said if row.p_same is None else said + say("cmp.same", lang, p=p_text(row.p_same))
