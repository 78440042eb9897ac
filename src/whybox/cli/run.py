"""`whybox run [SUITE.yaml]`: behaviour tests on local weights or an endpoint; goes on where it was."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whybox.cli.options import EngineName, Shared, with_shared
from whybox.cli.threads import limit_threads

if TYPE_CHECKING:
    from whybox.jobs.run import RunOptions
    from whybox.model import Model
    from whybox.report.document import RunDocument
    from whybox.statistics.unknown import Unknown
    from whybox.suite.behaviour import TargetText
    from whybox.suite.whole import Prepared
    from whybox.targets.target import Target

SuiteFile = Annotated[Path, typer.Argument(metavar="SUITE.yaml", help="The suite file; `whybox init` writes one.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be done: calls, tokens, time. Ask nothing.")]
Limit = Annotated[int | None, typer.Option("--limit", min=1, help="Only so many items a probe.", show_default=False)]
Filter = Annotated[
    str | None,
    typer.Option("--filter", metavar="PROBE/ITEM/ARM", help="Such as 'order/*'.", show_default=False),
]
Repeat = Annotated[int | None, typer.Option("--repeat", min=1, help="Make every call so often.", show_default=False)]
RetryErrors = Annotated[bool, typer.Option("--retry-errors", help="Make calls again that failed before.")]
Width = Annotated[int | None, typer.Option("-j", "--jobs", min=1, help="Calls at once.", show_default=False)]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Take no answer of another run, and keep none for others.")]
Strict = Annotated[bool, typer.Option("--strict", help="End with 4 where a gate is inconclusive.")]
FOLDER = Path("whybox-run")


@with_shared
def run(
    context: typer.Context,
    suite: SuiteFile = Path("whybox.yaml"),
    dry_run: DryRun = False,
    limit: Limit = None,
    filter: Filter = None,
    repeat: Repeat = None,
    retry_errors: RetryErrors = False,
    jobs: Width = None,
    no_cache: NoCache = False,
    strict: Strict = False,
    *,
    shared: Shared,
) -> None:
    """Run a suite of behaviour tests; what was done before is kept, and not asked again."""
    limit_threads(shared.threads)

    from whybox.jobs.run import RunOptions, prepare, target_from
    from whybox.library.folders import own_answers
    from whybox.suite.whole import Choice

    choice = Choice(filter, limit, retry_errors, None if no_cache else own_answers())
    seed = shared.seed if _typed(context, "seed") else None
    model = shared.model if _typed(context, "model") else None
    options = RunOptions(choice, seed, repeat, model, strict, shared.language)

    def opened(text: "TargetText") -> "Target":
        return target_from(text, lambda each: _model(each, shared), shared.seed, jobs)

    prepared = prepare(suite, options, opened)
    folder = shared.out or FOLDER
    if dry_run:
        _say_plan(prepared, shared, folder)
        return
    document = _ran(prepared, options, folder, shared)
    if document.exit_code:
        raise typer.Exit(document.exit_code)


def _typed(context: typer.Context, option: str) -> bool:
    """Whether an option was given: what was not leaves the suite's own word standing."""
    source = context.get_parameter_source(option)
    return source is not None and source.name == "COMMANDLINE"


def _ran(prepared: "Prepared", options: "RunOptions", folder: Path, shared: Shared) -> "RunDocument":
    from rich.console import Console

    from whybox.cli.run_bar import RunBar, show_plan
    from whybox.cli.telling import json_text
    from whybox.jobs.run import plan_rows, run_suite

    if not shared.quiet:
        show_plan(plan_rows(prepared), shared.language, Console(stderr=True))
    try:
        with RunBar(shared.language, shared.quiet) as bar:
            document = run_suite(prepared, options, folder, bar.tell)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt(f"What was done is in {folder}; the same command goes on from there.") from stop
    _write(document, folder)
    if shared.json:
        print(json_text(document))
    else:
        _show(document, folder)
    return document


def _write(document: "RunDocument", folder: Path) -> None:
    from whybox.cli.telling import json_text, write_whole
    from whybox.report.junit import junit
    from whybox.report.markdown import markdown

    write_whole(folder / "report.json", json_text(document) + "\n")
    write_whole(folder / "junit.xml", junit(document))
    write_whole(folder / "summary.md", markdown(document))


def _show(document: "RunDocument", folder: Path) -> None:
    from rich.console import Console

    from whybox.report.text_run import render_run

    console = Console()
    render_run(document, console, document.lang)
    console.print(f"→ {folder}", style="dim", markup=False)


def _say_plan(prepared: "Prepared", shared: Shared, folder: Path) -> None:
    import time
    from dataclasses import asdict

    from rich.console import Console

    from whybox.cli.run_bar import show_plan
    from whybox.cli.telling import print_document
    from whybox.jobs.run import plan_rows, seconds_of
    from whybox.statistics.unknown import Unknown

    begun = time.perf_counter()
    seconds = seconds_of(prepared, folder)
    if not shared.json:
        show_plan(plan_rows(prepared), shared.language, Console())
        print("—: " + seconds.reason if isinstance(seconds, Unknown) else f"≈ {seconds:.0f} s")
        return
    rows = [asdict(row) | _maybe("finds", row.finds) for row in plan_rows(prepared)]
    print_document("plan", begun, {"suite": prepared.suite.file.suite, "rows": rows, **_maybe("seconds", seconds)})


def _maybe(name: str, value: "float | Unknown") -> dict[str, float | str | None]:
    """A number, or null beside the reason why there is none."""
    from whybox.statistics.unknown import Unknown

    known = (None, value.reason) if isinstance(value, Unknown) else (value, None)
    return {name: known[0], f"{name}_reason": known[1]}


def _model(text: "TargetText", shared: Shared) -> "Model":
    from dataclasses import replace

    from whybox.cli.opening import model_of

    engine = shared.engine if text.engine == "auto" else EngineName(text.engine)
    return model_of(replace(shared, model=text.model, engine=engine, precision=text.precision))
