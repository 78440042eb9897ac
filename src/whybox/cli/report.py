"""`whybox report [RUN]`: what a run found, again: on the terminal, as JSON, JUnit XML or Markdown."""

from pathlib import Path
from typing import Annotated

import typer

from whybox.cli.options import Json, Language, Out, language
from whybox.cli.run import FOLDER

Run = Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run.")]


def report(run: Run = FOLDER, out: Out = None, json: Json = False, lang: Language = None) -> None:
    """Show what a run found: nothing is asked again. -o FILE.xml is JUnit, FILE.md a summary."""
    from whybox.cli.telling import Form
    from whybox.jobs.run import kept_document
    from whybox.report.junit import junit
    from whybox.report.markdown import markdown
    from whybox.report.text_run import render_run

    document = kept_document(run)
    written = {".xml": lambda found, _: junit(found), ".md": lambda found, _: markdown(found)}
    form = Form(render_run, pictures=written)
    form.check(out)
    form.deliver(document, document.lang if lang is None else language(lang), out, json)
