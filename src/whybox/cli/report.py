"""`whybox report [RUN]`: what a run found, again; or how it differs from another. Nothing is asked again."""

from pathlib import Path
from typing import Annotated

import typer

from whybox.cli.options import Json, Language, Out, language
from whybox.cli.run import FOLDER

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]
Compare = Annotated[
    Path | None,
    typer.Option("--compare", metavar="EARLIER", help="Another run, with which it is compared.", show_default=False),
]
Margin = Annotated[
    float | None,
    typer.Option("--margin", min=0.001, max=0.5, help="With --compare: so near is the same.", show_default=False),
]
Judge = Annotated[
    str | None,
    typer.Option(
        "--judge",
        metavar="TARGET",
        help="Ask a judge model about answers that no scorer could read; its errors are taken off.",
        show_default=False,
    ),
]


def report(
    run: Run = FOLDER,
    compare: Compare = None,
    margin: Margin = None,
    judge: Judge = None,
    out: Out = None,
    json: Json = False,
    lang: Language = None,
) -> None:
    """Show what a run found; nothing is asked but of a --judge. -o FILE.html is a page, FILE.xml JUnit, FILE.md a
    summary, FILE.jsonl the failed items as cases.
    """
    if judge is not None:
        from whybox.cli.judging import judge as ask_judge

        ask_judge(run, judge, json, lang)
        return
    if compare is not None:
        _compare(compare, run, margin, out, json, lang)
        return
    from whybox.cli.telling import Form
    from whybox.jobs.run import kept_document, kept_failures
    from whybox.jobs.run_calls import calls_of
    from whybox.report.html import run_page
    from whybox.report.junit import junit
    from whybox.report.markdown import markdown
    from whybox.report.text_run import render_run

    if margin is not None:
        raise typer.BadParameter("--margin belongs to --compare")
    document = kept_document(run)
    document = document if lang is None else document.told_in(language(lang))
    written = {
        ".xml": lambda found, _: junit(found),
        ".md": lambda found, _: markdown(found),
        ".jsonl": lambda *_: kept_failures(run),
    }
    form = Form(render_run, lambda found, told: run_page(found, calls_of(run), told), pictures=written)
    form.check(out)
    form.deliver(document, document.lang, out, json)


def _compare(first: Path, second: Path, margin: float | None, out: Out, json: Json, lang: Language) -> None:
    """Ends with 1 where the second run is shown to be worse."""
    from whybox.cli.telling import Form
    from whybox.jobs.run_comparison import compare_runs
    from whybox.report.html import comparison_page
    from whybox.report.text_comparison import render_comparison

    form = Form(render_comparison, comparison_page)
    form.check(out)
    document = compare_runs(first, second, margin, language(lang))
    form.deliver(document, document.lang, out, json)
    if document.shown == "worse":
        raise typer.Exit(1)
