"""`whybox learn [CHAPTER]`: the course; `whybox learn --claims [ID …]`: what the documents claim, recomputed."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whybox.cli.options import (
    DEFAULT_MODEL,
    DEFAULT_PRECISION,
    Delivered,
    Device,
    Engine,
    EngineName,
    Threads,
    language,
    with_shared,
)
from whybox.cli.threads import limit_threads
from whybox.errors import UsageError

if TYPE_CHECKING:
    from whybox.model import Model

What = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[CHAPTER | ID …]", help="A chapter, such as L4; with --claims ids, such as C20.", show_default=False
    ),
]
Claims = Annotated[
    bool, typer.Option("--claims", help="Recompute what the documents claim, and say what is right, and what is not.")
]
File = Path | None
Check = Annotated[File, typer.Option("--check", metavar="FILE", help="Grade what you wrote for an exercise.")]
Exercise = Annotated[
    str | None,
    typer.Option("--exercise", metavar="ID", help="Which exercise FILE is for, where its name does not say."),
]
Recite = Annotated[File, typer.Option("--recite", metavar="FILE", help="Hear a recital, as text.")]
Answers = Annotated[
    File,
    typer.Option("--answers", metavar="FILE", help="Answers by question, as YAML or JSON, in place of typing them."),
]
BROKEN = NOT_PASSED = 1


@dataclass(frozen=True)
class Computed:
    """How the default model runs; the records of the ledger are of its numbers, in fp32."""

    engine: Engine = EngineName.auto
    device: Device = "auto"
    threads: Threads = None


@dataclass(frozen=True)
class Handed:
    """What is handed in for a chapter."""

    check: Check = None
    exercise: Exercise = None
    recite: Recite = None
    answers: Answers = None

    @property
    def anything(self) -> bool:
        return any(each is not None for each in (self.check, self.exercise, self.recite, self.answers))


@with_shared
def learn(what: What = None, claims: Claims = False, *, handed: Handed, computed: Computed, told: Delivered) -> None:
    """The course: fifteen chapters that ask before they show. With --claims the ledger of what the documents claim."""
    limit_threads(computed.threads)
    if claims:
        if handed.anything:
            raise UsageError("--claims takes no answers", "leave --check, --exercise, --recite and --answers out")
        _claims(what or [], computed, told)
        return

    from whybox.cli.learn_session import Asked, begin

    if what and len(what) > 1:
        raise UsageError(f"one chapter at a time, found {', '.join(what)}", "whybox learn L4, or --claims for ids")
    if not what and handed.anything:
        raise UsageError("which chapter is that for?", "name it: whybox learn L4 --check FILE")
    passed = begin(
        Asked(what[0] if what else None, handed.check, handed.exercise, handed.recite, handed.answers),
        lambda: _model(computed, told.quiet),
        told,
    )
    if not passed:
        raise typer.Exit(NOT_PASSED)


def _model(computed: Computed, quiet: bool) -> "Model":
    from whybox.cli.opening import opened

    return opened(DEFAULT_MODEL, computed.engine, DEFAULT_PRECISION, computed.device, None, False, quiet)


def _claims(ids: list[str], computed: Computed, told: Delivered) -> None:
    """Ends with 1 where a record is broken."""
    from whybox.cli.runs import Passes
    from whybox.cli.telling import Form
    from whybox.learn.claims import claims as recomputed
    from whybox.learn.claims import planned
    from whybox.report.html import claims_page
    from whybox.report.text_claims import render_claims

    form = Form(render_claims, claims_page)
    form.check(told.out)
    lang = language(told.lang)
    with Passes(lang, told.quiet) as passes:
        passes.announce(planned(ids))
        document = recomputed(ids, lang, lambda: _model(computed, told.quiet), passes.tell)
    form.deliver(document, lang, told.out, told.json)
    if document.broken:
        raise typer.Exit(BROKEN)
