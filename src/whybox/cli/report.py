"""`whybox report [RUN]`: what a run found, again: on the terminal, as JSON, JUnit XML, Markdown or one HTML page."""

from pathlib import Path
from typing import Annotated

import typer

from whybox.cli.options import Json, Language, Out, language
from whybox.cli.run import FOLDER

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]


def report(run: Run = FOLDER, out: Out = None, json: Json = False, lang: Language = None) -> None:
    """Show what a run found: nothing is asked again. -o FILE.html is a page, FILE.xml JUnit, FILE.md a summary."""
    from whybox.cli.telling import Form
    from whybox.jobs.run import kept_document
    from whybox.jobs.run_calls import calls_of
    from whybox.report.html import run_page
    from whybox.report.junit import junit
    from whybox.report.markdown import markdown
    from whybox.report.text_run import render_run

    document = kept_document(run)
    written = {".xml": lambda found, _: junit(found), ".md": lambda found, _: markdown(found)}
    form = Form(render_run, lambda found, told: run_page(found, calls_of(run), told), pictures=written)
    form.check(out)
    form.deliver(document, document.lang if lang is None else language(lang), out, json)
