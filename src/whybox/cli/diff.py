"""`whybox diff A B`: two runs of one model, compared down to the cause."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whybox.cli.options import Shared, with_shared
from whybox.cli.threads import limit_threads

if TYPE_CHECKING:
    from whybox.cli.runs import Steps
    from whybox.cli.telling import Form
    from whybox.compare.comparison import Asked
    from whybox.compare.sides import Live, Side
    from whybox.model import Model
    from whybox.report.document import DiffDocument, SensitivityDocument
    from whybox.report.document.diff import SelfDocument

One = Annotated[
    str,
    typer.Argument(
        metavar="A", help="A model, or NAME@way,way: smollm2@bf16, model.gguf@numpy, smollm2@cache; or openai:NAME."
    ),
]
Other = Annotated[
    str | None,
    typer.Argument(
        metavar="B",
        help="The same, @way alone for A run that way, a recorded trace (.npz, .safetensors), or openai:NAME.",
        show_default=False,
    ),
]
Prompts = Annotated[
    Path | None,
    typer.Option(
        "--prompts",
        metavar="FILE|RUN",
        help="Texts to compare on, one a line; or the folder of a run: its failed items.",
        show_default=False,
    ),
]
Itself = Annotated[bool, typer.Option("--self", help="A in every way that it can be run here, as a table for CI.")]
Record = Annotated[
    Path | None,
    typer.Option("--record", metavar="FILE.npz", help="Record A's run, to compare elsewhere.", show_default=False),
]
Sensitivity = Annotated[
    bool, typer.Option("--sensitivity", help="Which layers and tensors of a quantised B to keep in higher precision.")
]
Written = Annotated[int, typer.Option("--tokens", min=0, help="Tokens that both sides write on behind every text.")]
DIFFERENT = 1


@dataclass(frozen=True)
class Job:
    """What is to be done with the sides, where it is no comparison."""

    itself: Itself = False
    record: Record = None
    sensitivity: Sensitivity = False


@with_shared
def diff(
    one: One,
    other: Other = None,
    prompts: Prompts = None,
    tokens: Written = 16,
    *,
    job: Job,
    shared: Shared,
) -> None:
    """Compare two runs of one model: where they part, why, and whether it matters."""
    limit_threads(shared.threads)
    _require_one_job(other, job)
    _require_writable(job, shared)

    from whybox.cli.runs import Steps
    from whybox.compare.sides import side_of
    from whybox.jobs.diff import diff as compared
    from whybox.jobs.diff_self import diff_self
    from whybox.jobs.diff_sensitivity import diff_sensitivity

    ours = side_of(one, lambda name: _opened(name, shared))
    steps = Steps(shared.language, shared.quiet)
    asked = _asked(ours, prompts, tokens, steps)
    if job.record is not None:
        return _record(_live(ours), asked, job.record)
    if job.itself:
        with steps:
            table = diff_self(_live(ours).model, asked, shared.seed, shared.language)
        return _tell_table(table, shared)
    theirs = side_of(str(other), lambda name: _opened(name, shared), _model_of(ours))
    if job.sensitivity:
        with steps:
            parts = diff_sensitivity(_live(ours), theirs, asked, shared.seed, shared.language)
        return _sensitivity_form().deliver(parts, shared.language, shared.out, shared.json)
    with steps:
        found = compared(ours, theirs, asked, shared.seed, shared.language)
    return _tell(found, shared)


def _model_of(side: "Side") -> "Live | None":
    """The side whose model `@way` means."""
    from whybox.compare.sides import Live

    return side if isinstance(side, Live) else None


def _require_one_job(other: str | None, job: Job) -> None:
    from whybox.errors import UsageError

    if sum((other is not None, job.itself, job.record is not None)) != 1:
        raise UsageError("expected one of: a second side, --self, --record FILE", "whybox diff smollm2 @bf16")
    if job.sensitivity and other is None:
        raise UsageError("--sensitivity needs a quantised second side", "whybox diff smollm2 @int4 --sensitivity")


def _require_writable(job: Job, shared: Shared) -> None:
    from whybox.errors import UsageError

    (_sensitivity_form() if job.sensitivity else _form()).check(shared.out)
    if job.record is not None and job.record.suffix != ".npz":
        raise UsageError(f"cannot write {job.record.suffix or 'a file without suffix'}", "use --record FILE.npz")


def _form() -> "Form[DiffDocument]":
    from whybox.cli.telling import Form
    from whybox.report.draw import diff_picture, png_bytes, svg_text
    from whybox.report.html.diff import diff_page
    from whybox.report.text_diff import render_diff

    return Form(
        render_diff,
        diff_page,
        pictures={
            ".png": lambda document, lang: png_bytes(diff_picture(document, lang)),
            ".svg": lambda document, lang: svg_text(diff_picture(document, lang)),
        },
    )


def _sensitivity_form() -> "Form[SensitivityDocument]":
    from whybox.cli.telling import Form
    from whybox.report.html.diff_sensitivity import sensitivity_page
    from whybox.report.text_diff_sensitivity import render_sensitivity

    return Form(render_sensitivity, sensitivity_page)


def _opened(name: str, shared: Shared) -> "Model":
    from dataclasses import replace

    from whybox.cli.opening import model_of

    return model_of(replace(shared, model=name))


def _live(side: "Side") -> "Live":
    from whybox.compare.sides import Live
    from whybox.errors import UsageError

    if not isinstance(side, Live):
        raise UsageError(f"{side.name} cannot be run here", "put the model first: a file or an alias")
    return side


def _asked(ours: "Side", prompts: Path | None, tokens: int, steps: "Steps") -> "Asked":
    from whybox.compare.comparison import Asked
    from whybox.compare.effort import Effort
    from whybox.jobs.diff_prompts import texts_of

    live = _model_of(ours)
    texts = None if prompts is None else texts_of(prompts, None if live is None else live.model)
    return Asked(texts, tokens, Effort(steps.tell))


def _record(ours: "Live", asked: "Asked", path: Path) -> None:
    from whybox.compare.pieces import MOST_LOGITS
    from whybox.compare.prompts import default_texts
    from whybox.compare.recorded import write_recorded

    rows = max(1, MOST_LOGITS // ours.model.spec.vocab)
    texts = asked.texts or tuple(default_texts(ours.model))
    write_recorded(path, [(text.text, ours.observe(text.ids, rows)) for text in texts], ours.precision, ours.name)
    print(path)


def _tell_table(document: "SelfDocument", shared: Shared) -> None:
    from whybox.cli.telling import Form
    from whybox.report.text_diff import render_self

    Form(render_self).deliver(document, shared.language, shared.out, shared.json)
    if not document.passed:
        raise typer.Exit(DIFFERENT)


def _tell(document: "DiffDocument", shared: Shared) -> None:
    from whybox.jobs.diff import FAILING

    _form().deliver(document, shared.language, shared.out, shared.json)
    if document.verdict in FAILING:
        raise typer.Exit(DIFFERENT)
