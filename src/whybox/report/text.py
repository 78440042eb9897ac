"""The machine documents on a terminal: 80 columns, the answer first, plain text when piped.

Foreign text is made visible and put in as plain `Text`, never as markup: it can neither colour nor move the cursor.
"""

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from whybox.report import sentences
from whybox.report.document import Lang, NextDocument, SegmentRow, Stage, TokenRow, Tried, WhyDocument
from whybox.report.numbers import number, percent
from whybox.report.terminal import STYLES, bar, heading, model_line, plain_table, sparkline
from whybox.report.text_parts import parts
from whybox.report.visible import calm, ended, one_line, shortened, visible
from whybox.report.words import WORDS, say
from whybox.verdict.experiment_words import named

MOST_TOKENS = 40
MOST_TRIED = 12


def render_next(document: NextDocument, console: Console, lang: Lang) -> None:
    """Tokens with ids and parts of characters, the next-token table with bars, the text written on, the stages."""
    console.print(model_line(document))
    heading(console, say("next.tokens", lang))
    console.print(_token_table(document.tokens, console, lang))
    heading(console, say("next.title", lang))
    console.print(_next_table(document, console, lang))
    if document.generated is not None:
        heading(console, say("next.written", lang))
        console.print(Text(calm(document.generated.text)))
        if document.generated.broken_off:
            console.print(Text(say("next.broken_off", lang, n=len(document.generated.ids)), style="dim"))
    if document.stages:
        heading(console, say("next.stages", lang))
        _stages(document.stages, console, lang)
    for note in document.notes:
        console.print(Text(calm(named(note, lang)), style="dim"))


def render_why(document: WhyDocument, console: Console, lang: Lang, path: str = "") -> None:
    """Verdict, evidence, lens as a sparkline, what was run, next step, and the path of the page."""
    console.print(model_line(document))
    _verdict(document, console, lang)
    heading(console, sentences.evidence_finding(document, lang))
    console.print(_evidence_table(document, console, lang))
    console.print(Text(sentences.floor(document.metric, lang), style="dim"))
    _lens(document, console, lang)
    if document.agreement is not None:
        console.print()
        console.print(Text(one_line(sentences.agreement(document, lang))))
    parts(document, console, lang)
    heading(console, sentences.tried_summary(document, lang))
    console.print(_tried_table(document.tried[:MOST_TRIED], document, console, lang))
    if len(document.tried) > MOST_TRIED:
        console.print(Text(say("tried.more", lang, n=len(document.tried) - MOST_TRIED), style="dim"))
    if step := document.verdict.said(lang).next_step:
        heading(console, say("verdict.next", lang))
        console.print(Text(calm(step)))
    if path:
        console.print(Text(say("text.report", lang, path=one_line(path)), style="bold"))


def _token_table(tokens: tuple[TokenRow, ...], console: Console, lang: Lang) -> Table:
    table = plain_table(console)
    table.add_column("#", justify="right")
    table.add_column(say("column.id", lang), justify="right")
    table.add_column(say("column.text", lang), overflow="fold")
    table.add_column(say("column.bytes", lang), overflow="fold", style="dim")
    table.add_column(say("column.part", lang), overflow="fold")
    first = 0 if len(tokens) <= MOST_TOKENS else len(tokens) - MOST_TOKENS
    if first:
        table.add_row("", "", Text(say("next.more", lang, n=first), style="dim"), "", "")
    for place, token in enumerate(tokens[first:], first):
        table.add_row(str(place), str(token.id), *_token_cells(token, lang))
    return table


def _token_cells(token: TokenRow, lang: Lang) -> tuple[Text, Text, Text]:
    text = Text(visible(token.text), style="dim" if token.of > 1 else "")
    cut = token.of > 1
    part = say("next.part", lang, k=token.part, n=token.of, char=visible(token.text)) if cut else ""
    return text, Text(" ".join(token.bytes[i : i + 2] for i in range(0, len(token.bytes), 2))), Text(part)


def _next_table(document: NextDocument, console: Console, lang: Lang) -> Table:
    table = plain_table(console)
    for name, side in (("token", "left"), ("probability", "right"), ("logprob", "right")):
        table.add_column(say(f"next.{name}", lang), justify="right" if side == "right" else "left", overflow="fold")
    table.add_column("", width=30, no_wrap=True)
    for candidate in document.next:
        cells = (Text(visible(candidate.text)), percent(candidate.prob), number(candidate.logprob))
        table.add_row(*cells, Text(bar(candidate.prob, 30), style="blue"))
    rest = 1 - sum(candidate.prob for candidate in document.next)
    if document.next and rest > 5e-7:
        table.add_row(Text(say("next.rest", lang), style="dim"), percent(rest), "", Text(bar(rest, 30), style="dim"))
    return table


def _stages(stages: tuple[Stage, ...], console: Console, lang: Lang) -> None:
    """A paragraph per stage; the layers, which all say the same things, as one table."""
    for place, stage in enumerate(stages, 1):
        if stage.layer is None:
            _stage(place, stage, console, lang)
        elif stage.layer == 0:
            console.print(_layer_table([stage for stage in stages if stage.layer is not None], console, lang))


def _stage(place: int, stage: Stage, console: Console, lang: Lang) -> None:
    head = Text(f"{place:>2}  ").append(calm(stage.name), style="bold")
    console.print(head.append(f"  {calm(stage.site)}  {stage.shape}", style="dim"))
    numbers = " · ".join(f"{_spoken(name, lang)} {_counted(value)}" for name, value in stage.numbers.items())
    for line in (numbers, calm(stage.note)):
        if line:
            console.print(Padding(Text(line), (0, 0, 0, 4)))


def _layer_table(stages: list[Stage], console: Console, lang: Lang) -> Table:
    table = plain_table(console)
    table.add_column(say("column.layer", lang), justify="right")
    for name in stages[0].numbers:
        table.add_column(_spoken(name, lang), justify="right")
    for stage in stages:
        table.add_row(str(stage.layer), *(_counted(value) for value in stage.numbers.values()))
    return table


def _spoken(name: str, lang: Lang) -> str:
    """A number's name: from the catalogue, else as the document writes it."""
    known = f"number.{name}"
    return say(known, lang) if known in WORDS else calm(name.replace("_", " "))


def _counted(value: float) -> str:
    return f"{value:,}" if isinstance(value, int) else number(value)


def _verdict(document: WhyDocument, console: Console, lang: Lang) -> None:
    verdict, metric = document.verdict, document.metric
    cause = verdict.causes[0]
    heading(console, sentences.headline(document, lang))
    code = cause.code + (f" · {cause.detail}" if cause.detail else "")
    console.print(Text(f"{code} · {sentences.scope(verdict, lang)}", style="cyan"))
    if cause.after is not None:
        console.print(Text(one_line(sentences.change(cause, metric, lang))))
        if told := sentences.over_variants(cause, lang):
            console.print(Text(told))
    if cause.shams is not None:
        p = number(cause.shams.p)
        told = say("verdict.p", lang, hits=cause.shams.flipped, n=cause.shams.n, p=p)
        console.print(Text(f"{say('verdict.shams', lang)}{'：' if lang == 'zh' else ': '}{told}"))
    colon = "：" if lang == "zh" else ": "
    if document.answer.cut_at is not None:
        cut = say("answer.cut", lang, n=document.answer.cut_at)
        written = shortened(one_line(ended(document.answer.got)), 60)
        console.print(Text.assemble((say("answer.got", lang) + colon, "dim"), written, (f" · {cut}", "yellow")))
    said = verdict.said(lang)
    for key, text in (("because", said.because), ("mind", said.would_change_my_mind)):
        console.print(Text.assemble((say(f"verdict.{key}", lang) + colon, "dim"), calm(text)))


def _evidence_table(document: WhyDocument, console: Console, lang: Lang) -> Table:
    table = plain_table(console)
    letters = {segment.name: segment.letter for segment in document.prompt.segments}
    unit = f", {one_line(document.metric.unit)}"
    table.add_column("")
    table.add_column(say("column.segment", lang), overflow="fold")
    table.add_column(say("column.share_short", lang), justify="right")
    table.add_column(Text(say("column.direct", lang) + unit), justify="right", no_wrap=True)
    table.add_column(say("column.total", lang), justify="right")
    table.add_column("p", justify="right")
    for row in document.segments:
        name = Text(one_line(sentences.called(row.name, document, lang)))
        table.add_row(Text(letters[row.name]), name, *_evidence_cells(row, lang))
    return table


def _evidence_cells(row: SegmentRow, lang: Lang) -> tuple[str, Text, str, str]:
    share = "—" if row.share is None else percent(row.share)
    style = STYLES[sentences.tone_of(row.direct, row.noise)]
    direct = Text(sentences.effect(row.direct, row.noise, lang, row.direct_interval), style=style)
    return share, direct, sentences.effect(row.total, row.noise, lang), number(row.null.p) if row.null else "—"


def _lens(document: WhyDocument, console: Console, lang: Lang) -> None:
    known = [row.ld for row in document.lens if row.ld is not None]
    heading(console, sentences.lens_finding(document, lang))
    if known:
        ends = f"{number(known[0])} … {number(known[-1])} {document.metric.unit}"
        console.print(Text.assemble((sparkline(known), "cyan"), f"  {ends}"))
    reason = document.lens_reason or document.decided_at_reason
    if reason:
        console.print(Text(say("missing", lang, reason=calm(reason)), style="dim"))


def _tried_table(tried: tuple[Tried, ...], document: WhyDocument, console: Console, lang: Lang) -> Table:
    table = plain_table(console)
    table.add_column(say("tried.what", lang), overflow="fold", ratio=3)
    table.add_column(say("tried.column", lang, unit=document.metric.unit), justify="right", no_wrap=True)
    table.add_column(say("tried.flips", lang))
    table.add_column(say("tried.answer", lang), overflow="fold", ratio=3)
    for row in tried:
        flips = sentences.flip_word(row, lang) or "—"
        told = "—" if row.answer is None else shortened(one_line(ended(row.answer)), 60)
        effect = sentences.effect(row.effect, document.metric.noise, lang)
        table.add_row(Text(one_line(named(row.what, lang))), effect, flips, Text(told))
    return table
