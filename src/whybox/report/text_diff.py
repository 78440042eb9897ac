"""The documents of `diff` on a terminal: the verdict, what was alike, where, why, and whether it matters."""

from collections.abc import Iterator

from rich.console import Console
from rich.text import Text

from whybox.report.document import Lang
from whybox.report.document.diff import DiffDocument, HarmRow, SelfDocument
from whybox.report.numbers import number, percent
from whybox.report.reasons import reason
from whybox.report.terminal import heading, plain_table
from whybox.report.visible import one_line
from whybox.report.words import say

MOST_TRIED = 6


def render_diff(document: DiffDocument, console: Console, lang: Lang) -> None:
    """Sides, verdict, ladder, where, why, harm."""
    sides = " ↔ ".join(f"{side.name} ({side.precision})" for side in document.sides)
    console.print(Text(one_line(sides), style="dim"))
    heading(console, one_line(verdict_line(document, lang)))
    if (line := codes_line(document, lang)) is not None:
        console.print(Text(line))
    heading(console, say("diff.ladder", lang))
    console.print(_ladder(document, console, lang))
    for name, lines in (("where", where(document, lang)), ("why", why(document, lang)), ("harm", harm(document, lang))):
        told = list(lines)
        if told:
            heading(console, say(f"diff.{name}", lang))
            for line in told:
                console.print(Text(one_line(line)))


def verdict_line(document: DiffDocument, lang: Lang) -> str:
    """The verdict in one sentence."""
    named = ", ".join(each.what for each in document.named)
    precision = document.explained_by or max((side.precision for side in document.sides), key=_coarse)
    values = {"named": named, "precision": precision, "reason": reason(document.reason or "", lang)}
    recorded = ".recorded" if document.verdict == "identical" and document.missing_sites else ""
    return say(f"diff.verdict.{document.verdict}{recorded}", lang, **values)


def codes_line(document: DiffDocument, lang: Lang) -> str | None:
    """That 8 bits do more to these weights than 4, where they do: nobody expects it."""
    errors = {each.precision: each.error for each in document.held}
    if not errors or errors["int8"] <= errors["int4"]:
        return None
    return say("diff.codes", lang, eight=percent(errors["int8"]), four=percent(errors["int4"]))


def _coarse(precision: str) -> int:
    known = ("fp64", "fp32", "fp16", "bf16", "int8", "int4")
    return known.index(precision) if precision in known else -1


def _ladder(document: DiffDocument, console: Console, lang: Lang):  # type: ignore[no-untyped-def]
    table = plain_table(console)
    table.show_header = False
    for _ in range(3):
        table.add_column(overflow="fold")
    for rung in document.ladder:
        style = "bold yellow" if rung.state == "different" else "dim" if rung.state == "unknown" else ""
        cells = (
            say(f"diff.check.{rung.check}", lang),
            say(f"diff.state.{rung.state}", lang),
            one_line(reason(rung.detail, lang)),
        )
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def where(document: DiffDocument, lang: Lang) -> Iterator[str]:
    """The first place, what of it differs, the shape over positions."""
    at = document.first
    if at is not None:
        site = at.site if at.layer is None else f"{at.site}.{at.layer}"
        values = {"site": site, "position": at.position, "text": at.text}
        key = "diff.first" if document.repeats is None else "diff.first.served"
        yield say(key, lang, error=_number(at.error), allowed=_number(at.allowed), **values)
        if at.heads is not None:
            yield say("diff.heads", lang, heads=", ".join(map(str, at.heads)))
        if at.channels is not None:
            yield say("diff.channels", lang, first=at.channels[0], last=at.channels[1])
    elif document.verdict in ("identical", "rounding"):
        yield say("diff.nowhere", lang)
    if document.repeats is not None:
        again = document.repeats
        values = {"calls": again.calls, "texts": again.texts_differ, "below": percent(again.below)}
        yield say("diff.repeats", lang, moved=number(again.moved), **values)
    if document.profile is not None and at is not None:
        yield say(f"diff.shape.{document.profile.shape}", lang, first=document.profile.first)
    if document.missing_sites:
        yield say("diff.missing", lang, sites=", ".join(document.missing_sites))
    if document.windows_not_reached:
        yield say("diff.window.short", lang, windows=", ".join(map(str, document.windows_not_reached)))
    for each in document.unsaid:
        yield say("diff.unsaid", lang, what=reason(each.what, lang), why=reason(each.why, lang))


def why(document: DiffDocument, lang: Lang) -> Iterator[str]:
    """Causes with what is left when they are imposed; else what was tried."""
    over = document.overflow
    if over is not None:
        site = over.site if over.layer is None else f"{over.site}.{over.layer}"
        yield say("diff.overflow", lang, site=site, position=over.position, value=_number(over.value))
        if document.verdict == "named":
            yield say("diff.overflow.remedy", lang)
    for each in document.named:
        layers = "" if each.layers is None else say("diff.named.layers", lang, layers=", ".join(map(str, each.layers)))
        yield say("diff.named", lang, what=each.what, layers=layers)
    if document.undone is not None:
        done = document.undone
        yield say("diff.undone", lang, error=_number(done.error), allowed=_number(done.allowed))
    if document.rivals:
        yield say("diff.rivals", lang, rivals="; ".join(document.rivals))
    elif document.verdict in ("not-determined", "part-named") and over is None:
        tried = [each.what for each in document.suspects if not each.named][:MOST_TRIED]
        if tried:
            yield say("diff.tried", lang, tried="; ".join(tried))
        elif document.repeats is None:
            yield say("diff.nothing.tried", lang)


def harm(document: DiffDocument, lang: Lang) -> Iterator[str]:
    """What it does to the next token and to what is written."""
    found = document.harm
    if found is None:
        yield say("diff.no.harm", lang, reason=reason(document.harm_reason or "", lang))
        return
    if found.positions:
        key = "diff.kl" if found.kl_is == "exact" else "diff.kl.least"
        yield say(key, lang, mean=_number(found.kl_mean), p999=_number(found.kl_p999), n=found.positions)
    if found.variation is not None:
        yield say("diff.variation", lang, low=number(found.variation[0]), high=number(found.variation[1]))
    if found.same_top is not None:
        low, high = found.same_top_interval or (0.0, 1.0)
        shares = {"share": percent(found.same_top), "low": percent(low), "high": percent(high)}
        yield say("diff.top", lang, ties=found.ties, **shares)
    if found.widest_turned is not None:
        yield say("diff.widest", lang, times=number(found.widest_turned))
    if found.prompts:
        yield _written(found, lang)
    if found.same_top == 1 and not found.flips and found.moved:
        yield say("diff.displacement", lang, moved=_number(found.moved))


def _written(found: HarmRow, lang: Lang) -> str:
    if not found.flips:
        return say("diff.text.same", lang, n=found.prompts)
    low, high = found.flips_interval or (0.0, 1.0)
    if found.first_divergent_token is None:
        return say("diff.text.apart", lang, flips=found.flips, n=found.prompts, low=percent(low), high=percent(high))
    values = {"flips": found.flips, "n": found.prompts, "first": found.first_divergent_token}
    return say("diff.text.differ", lang, low=percent(low), high=percent(high), **values)


def _number(value: float | None) -> str:
    return "∞" if value is None else number(value)


def render_self(document: SelfDocument, console: Console, lang: Lang) -> None:
    """One row a way."""
    bad = [row for row in document.rows if row.verdict not in ("identical", "rounding")]
    heading(console, say("diff.self.passed", lang) if not bad else say("diff.self.failed", lang, n=len(bad)))
    table = plain_table(console)
    for column in ("way", "verdict", "kl", "top", "moved"):
        table.add_column(say(f"diff.self.{column}", lang))
    for row in document.rows:
        style = "bold yellow" if row in bad else ""
        top = "" if row.same_top is None else percent(row.same_top)
        cells = (row.way, ", ".join((row.verdict, *row.named)), _number(row.kl_mean), top, _number(row.moved))
        table.add_row(*(Text(cell, style=style) for cell in cells))
    console.print(table)
    for what in document.not_run:
        console.print(Text(one_line(say("diff.self.not_run", lang, what=what)), style="dim"))
