"""`whybox diff A B`: two runs of one model, compared down to the cause."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whybox.cli.options import Shared, with_shared
from whybox.cli.threads import limit_threads

if TYPE_CHECKING:
    from whybox.compare.comparison import Asked
    from whybox.compare.prompts import Text
    from whybox.compare.sides import Live, Side
    from whybox.model import Model

One = Annotated[
    str,
    typer.Argument(metavar="A", help="A model, or NAME@way,way: smollm2@bf16, model.gguf@numpy, smollm2@cache."),
]
Other = Annotated[
    str | None,
    typer.Argument(
        metavar="B",
        help="The same, @way alone for A run that way, or a recorded trace (.npz, .safetensors).",
        show_default=False,
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option("--prompts", metavar="FILE", help="Texts to compare on, one a line.", show_default=False),
]
Itself = Annotated[bool, typer.Option("--self", help="A in every way that it can be run here, as a table for CI.")]
Record = Annotated[
    Path | None,
    typer.Option("--record", metavar="FILE.npz", help="Record A's run, to compare elsewhere.", show_default=False),
]
Written = Annotated[int, typer.Option("--tokens", min=0, help="Tokens that both sides write on behind every text.")]
DIFFERENT = 1


@with_shared
def diff(
    one: One,
    other: Other = None,
    prompts: Prompts = None,
    itself: Itself = False,
    record: Record = None,
    tokens: Written = 16,
    *,
    shared: Shared,
) -> None:
    """Compare two runs of one model: where they part, why, and whether it matters."""
    limit_threads(shared.threads)
    _require_one_job(other, itself, record)
    _require_writable(record, shared)

    from whybox.compare.sides import side_of

    ours = _live(side_of(one, lambda name: _opened(name, shared)))
    asked = _asked(ours, prompts, tokens, shared)
    if record is not None:
        _record(ours, asked, record)
    elif itself:
        _itself(ours, asked, shared)
    else:
        _against(ours, side_of(str(other), lambda name: _opened(name, shared), ours), asked, shared)


def _require_one_job(other: str | None, itself: bool, record: Path | None) -> None:
    from whybox.errors import UsageError

    if sum((other is not None, itself, record is not None)) != 1:
        raise UsageError("expected one of: a second side, --self, --record FILE", "whybox diff smollm2 @bf16")


def _require_writable(record: Path | None, shared: Shared) -> None:
    from whybox.cli.telling import Form
    from whybox.errors import UsageError
    from whybox.report.html.diff import diff_page
    from whybox.report.text_diff import render_diff

    Form(render_diff, diff_page).check(shared.out)
    if record is not None and record.suffix != ".npz":
        raise UsageError(f"cannot write {record.suffix or 'a file without suffix'}", "use --record FILE.npz")


def _opened(name: str, shared: Shared) -> "Model":
    from dataclasses import replace

    from whybox.cli.opening import model_of

    return model_of(replace(shared, model=name))


def _live(side: "Side") -> "Live":
    from whybox.compare.sides import Live
    from whybox.errors import UsageError

    if not isinstance(side, Live):
        raise UsageError(f"{side.name} is a recording: it cannot be run", "put the model first, the recording second")
    return side


def _asked(ours: "Live", prompts: Path | None, tokens: int, shared: Shared) -> "Asked":
    from whybox.compare.comparison import Asked

    told = _silent if shared.quiet else _told
    return Asked(None if prompts is None else _texts(ours, prompts), tokens, told)


def _texts(ours: "Live", path: Path) -> "tuple[Text, ...]":
    from whybox.compare.prompts import Text
    from whybox.errors import UsageError

    try:
        lines = [line for line in path.read_text("utf-8").splitlines() if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"cannot read {path}: {error}", "a text file in UTF-8, one prompt a line") from None
    if not lines:
        raise UsageError(f"{path} holds no prompt", "one prompt a line")
    return tuple(Text(f"line {n}", tuple(ours.model.prompt(line).ids), line) for n, line in enumerate(lines, 1))


def _told(line: str) -> None:
    import sys

    print(line, file=sys.stderr)


def _silent(line: str) -> None:
    pass


def _record(ours: "Live", asked: "Asked", path: Path) -> None:
    from whybox.compare.pieces import MOST_LOGITS
    from whybox.compare.prompts import default_texts
    from whybox.compare.recorded import write_recorded

    rows = max(1, MOST_LOGITS // ours.model.spec.vocab)
    texts = asked.texts or tuple(default_texts(ours.model))
    write_recorded(path, [(text.text, ours.observe(text.ids, rows)) for text in texts], ours.precision, ours.name)
    print(path)


def _itself(ours: "Live", asked: "Asked", shared: Shared) -> None:
    from whybox.cli.telling import Form
    from whybox.jobs.diff_self import diff_self
    from whybox.report.text_diff import render_self

    form = Form(render_self)
    document = diff_self(ours.model, asked, shared.seed, shared.language)
    form.deliver(document, shared.language, shared.out, shared.json)
    if not document.passed:
        raise typer.Exit(DIFFERENT)


def _against(ours: "Live", theirs: "Side", asked: "Asked", shared: Shared) -> None:
    from whybox.cli.telling import Form
    from whybox.jobs.diff import FAILING
    from whybox.jobs.diff import diff as compared
    from whybox.report.html.diff import diff_page
    from whybox.report.text_diff import render_diff

    form = Form(render_diff, diff_page)
    document = compared(ours, theirs, asked, shared.seed, shared.language)
    form.deliver(document, shared.language, shared.out, shared.json)
    if document.verdict in FAILING:
        raise typer.Exit(DIFFERENT)
