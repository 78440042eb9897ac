"""`whybox doctor TARGET`: what a target can really do, before any number is taken from it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from whybox.cli.options import Shared, with_shared
from whybox.cli.threads import limit_threads

if TYPE_CHECKING:
    from whybox.targets.target import Target

What = Annotated[
    str | None,
    typer.Argument(
        metavar="TARGET",
        help="openai:NAME (OPENAI_BASE_URL, OPENAI_API_KEY), bot:NAME(b=.3), or a model as -m takes it.",
        show_default=False,
    ),
]
Context = Annotated[int, typer.Option("--context", min=256, help="How long prompts are made, in tokens.")]
Items = Annotated[int, typer.Option("--items", min=2, help="How many prompts are asked again and again.")]
Times = Annotated[int, typer.Option("--times", min=3, help="How often each is asked, in a row and beside others.")]
Timeout = Annotated[float, typer.Option("--timeout", min=0.1, help="Seconds for one attempt (endpoints).")]
Retries = Annotated[int, typer.Option("--max-retries", min=0, help="Retries of a call that failed (endpoints).")]
Concurrency = Annotated[int, typer.Option("--concurrency", min=1, help="Calls at once, at most (endpoints).")]
Strict = Annotated[bool, typer.Option("--strict", help="End with 4 where something could not be told.")]
FAULTS, UNDETERMINED = 1, 4


@dataclass(frozen=True)
class Pace:
    """How an endpoint is asked."""

    timeout: Timeout = 60.0
    max_retries: Retries = 3
    concurrency: Concurrency = 8


@with_shared
def doctor(
    what: What = None,
    context: Context = 4096,
    items: Items = 12,
    times: Times = 5,
    strict: Strict = False,
    *,
    pace: Pace,
    shared: Shared,
) -> None:
    """Find out what a target can really do: seeds, log-probabilities, context, template, equal calls."""
    limit_threads(shared.threads)

    from whybox.cli.runs import Calls
    from whybox.cli.telling import Form
    from whybox.jobs.doctor import DoctorOptions
    from whybox.jobs.doctor import doctor as examine
    from whybox.jobs.doctor.repeats import Repeats
    from whybox.report.text_doctor import render_doctor

    form = Form(render_doctor)
    form.check(shared.out)
    target = target_named(what or shared.model, shared, pace)
    options = DoctorOptions(shared.seed, context, Repeats(items, times), lang=shared.language)
    with Calls(shared.language, shared.quiet) as calls:
        document = examine(target, options, lambda plan: calls.announce(plan.calls), calls.tell)
    form.deliver(document, shared.language, shared.out, shared.json)
    if document.verdict == "faults":
        raise typer.Exit(FAULTS)
    if document.verdict == "undetermined" and strict:
        raise typer.Exit(UNDETERMINED)


def target_named(name: str, shared: Shared, pace: Pace) -> "Target":
    """The target of a name; pace: of an endpoint."""
    from dataclasses import replace

    from whybox.cli.opening import model_of
    from whybox.targets.naming import OPENAI, endpoint_of, target_of
    from whybox.targets.openai import OpenAITarget

    if name.startswith(OPENAI):
        end = endpoint_of(name)
        patience = replace(end.patience, max_retries=pace.max_retries)
        return OpenAITarget(replace(end, timeout=pace.timeout, patience=patience, concurrency=pace.concurrency))
    return target_of(name, lambda alias: model_of(replace(shared, model=alias)), shared.seed)
