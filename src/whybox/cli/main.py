"""`whybox`: the list of verbs. To add one, write `cli/VERB.py` with one function, and name it here."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from whybox.cli.bots import bots
from whybox.cli.diff import diff
from whybox.cli.doctor import doctor
from whybox.cli.init import init
from whybox.cli.learn import learn
from whybox.cli.look import look
from whybox.cli.models import models
from whybox.cli.next import next_
from whybox.cli.outcome import exit_codes, leave, utf8_streams
from whybox.cli.pull import pull
from whybox.cli.replay import replay
from whybox.cli.report import report
from whybox.cli.run import Run, run
from whybox.cli.serve import serve
from whybox.cli.size import size
from whybox.cli.verb import LANG, Verb
from whybox.cli.why import why
from whybox.version import __version__


class Verbs(TyperGroup):
    """Runs a verb so that every way in which it can end has its exit code."""

    def invoke(self, ctx: Any) -> Any:
        with exit_codes(lambda: ctx.meta.get(LANG, "en")):
            return super().invoke(ctx)


app = typer.Typer(
    cls=Verbs,
    name="whybox",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(name="next", cls=Verb)(next_)
app.command(name="look", cls=Verb)(look)
app.command(name="why", cls=Verb)(why)
app.command(name="diff", cls=Verb)(diff)
app.command(name="size", cls=Verb)(size)
app.command(name="serve", cls=Verb)(serve)
app.command(name="pull", cls=Verb)(pull)
app.command(name="models", cls=Verb)(models)
app.command(name="doctor", cls=Verb)(doctor)
app.command(name="run", cls=Run)(run)
app.command(name="init", cls=Verb)(init)
app.command(name="learn", cls=Verb)(learn)
app.command(name="report", cls=Verb)(report)
app.command(name="replay", cls=Verb)(replay)
app.add_typer(bots, name="bots")


def _print_version(asked: bool) -> bool:
    if asked:
        print(f"whybox {__version__}")
        raise typer.Exit
    return asked


Version = Annotated[
    bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end.")
]


@app.callback()
def options(version: Version = False) -> None:
    """A black box tells you what. whybox tells you why, and proves it."""


def main() -> None:
    """The entry point of the `whybox` command."""
    utf8_streams()
    try:
        app(prog_name="whybox")
    except SystemExit as ended:
        leave(ended)
