"""`whybox look PROMPT|CASE`: what every attention head does."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whybox.cli.options import Chat, Shared, with_shared
from whybox.cli.threads import limit_threads
from whybox.errors import UsageError

if TYPE_CHECKING:
    from whybox.cli.telling import Form
    from whybox.items.case import Case
    from whybox.jobs.look import LookResult
    from whybox.model import Model as Opened
    from whybox.report.document import LookDocument
    from whybox.report.draw import Picture
    from whybox.report.text_look import Shown
    from whybox.text.prompt import Prompt

What = Annotated[
    str, typer.Argument(metavar="PROMPT|CASE.yaml", help="A text (- reads standard input) or a case file.")
]
Layer = Annotated[int | None, typer.Option("--layer", min=0, help="Only the heads of this layer.", show_default=False)]
Head = Annotated[int | None, typer.Option("--head", min=0, help="Only this head, with --layer.", show_default=False)]
Sort = Annotated[str | None, typer.Option("--sort", metavar="COLUMN", help="Sort the heads, largest first.")]
Csv = Annotated[bool, typer.Option("--csv", help="The table of heads as CSV on stdout, and nothing else there.")]
Dilution = Annotated[
    str | None,
    typer.Option("--dilution", metavar="SEGMENT", help="Follow its share as filler makes the context longer."),
]
PictureKind = Literal["model", "head", "budget"]
Drawn = Annotated[
    PictureKind | None,
    typer.Option("--picture", help="What -o x.png or x.svg shows (model; with --head: head).", show_default=False),
]


@dataclass(frozen=True)
class Heads:
    """Which heads are listed, and in which order."""

    layer: Layer = None
    head: Head = None
    sort: Sort = None

    @property
    def one(self) -> tuple[int, int] | None:
        """Layer and head, where a single one is asked for."""
        return (self.layer, self.head) if self.layer is not None and self.head is not None else None


@with_shared
def look(
    what: What,
    *,
    heads: Heads,
    csv: Csv = False,
    dilution: Dilution = None,
    picture: Drawn = None,
    chat: Chat = False,
    shared: Shared,
) -> None:
    """Show what every attention head does: statistics, classes, segments, and what that may mean."""
    limit_threads(shared.threads)

    from whybox.cli.opening import model_of
    from whybox.cli.runs import Walk
    from whybox.jobs.look import LookOptions
    from whybox.jobs.look import look as look_at
    from whybox.report.text_look import Shown, heads_csv, require_column
    from whybox.sites import require_layer

    shown = Shown(heads.sort, heads.layer, heads.head)
    _require_sense(heads, csv, shared.json)
    require_column(heads.sort)
    which = _picture(picture, heads)
    _form(shown, which).check(shared.out)
    case = _case(what)
    loaded = model_of(shared)
    if heads.layer is not None:
        require_layer(heads.layer, loaded.spec)
    opened = () if heads.one is None else (heads.one,)
    options = LookOptions(opened, dilution, shared.seed, shared.language, command=shlex.join(["whybox", *sys.argv[1:]]))
    with Walk(shared.language, shared.quiet) as walk:
        result = look_at(loaded, case or _prompt(loaded, what, chat), options, walk.tell)
    form = _form(shown, which, result)
    if csv and shared.out is not None:
        form.save(result.document, shared.language, shared.out)
    if csv:
        print(heads_csv(result.document), end="")
    else:
        form.deliver(result.document, shared.language, shared.out, shared.json)


def _form(shown: "Shown", which: "Picture", result: "LookResult | None" = None) -> "Form[LookDocument]":
    """Every way to show a look. result: what page and pictures are made from, once there is one."""
    from whybox.cli.telling import Form
    from whybox.report.document import LookPayload
    from whybox.report.draw import look_picture, png_bytes, svg_text
    from whybox.report.html import look_page
    from whybox.report.text_look import heads_csv, render_look

    payload = result.payload if result is not None else LookPayload
    return Form(
        lambda document, console, lang: render_look(document, console, lang, shown),
        lambda document, lang: look_page(document, payload(), lang),
        heads_csv,
        {
            ".png": lambda document, lang: png_bytes(look_picture(document, payload(), which, lang)),
            ".svg": lambda document, lang: svg_text(look_picture(document, payload(), which, lang)),
        },
    )


def _picture(kind: PictureKind | None, heads: Heads) -> "Picture":
    """What a PNG or SVG shows: all heads, unless one is named or the budget is asked for."""
    from whybox.report.draw import Budget, HeadAt, ModelView

    named = None if heads.one is None else HeadAt(*heads.one)
    match kind:
        case "budget":
            return Budget()
        case "model":
            return ModelView()
        case "head" if named is None:
            raise UsageError("--picture head needs --layer and --head", "for instance: --layer 18 --head 6")
        case _:
            return named or ModelView()


def _require_sense(heads: Heads, csv: bool, json: bool) -> None:
    if heads.head is not None and heads.layer is None:
        raise UsageError("--head needs --layer", "for instance: --layer 18 --head 6")
    if csv and json:
        raise UsageError("--csv and --json both want stdout", "give one of them, and the other a file with -o")


def _case(what: str) -> "Case | None":
    """A case where the argument names a YAML file; a text otherwise."""
    from whybox.items.case import Case

    return Case.load(what) if Path(what).suffix in (".yaml", ".yml") else None


def _prompt(model: "Opened", what: str, chat: bool) -> "Prompt":
    from whybox.cli.opening import prompt_of

    return prompt_of(model, what, chat)
