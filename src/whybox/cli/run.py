"""`whybox run [SUITE.yaml]`: behaviour tests on local weights or an endpoint; goes on where it was."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from whybox.cli.options import Shared, with_shared
from whybox.cli.threads import limit_threads
from whybox.cli.verb import Verb

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
Why = Annotated[
    int | None,
    typer.Option(
        "--why",
        metavar="[N]",
        min=1,
        help="Explain the first N failed items of each probe (3) with the weights of local targets.",
        show_default=False,
    ),
]
WHY = 3
FOLDER = Path("whybox-run")


class Run(Verb):
    """`--why` may stand without a number, even in front of the suite's name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, [said for place in range(len(args)) for said in _counted(args, place)])


def _counted(args: list[str], place: int) -> list[str]:
    """A word of the command line, with the number that is meant where none follows."""
    bare = args[place] == "--why" and not "".join(args[place + 1 : place + 2]).lstrip("-").isdigit()
    return ["--why", str(WHY)] if bare else [args[place]]


@dataclass(frozen=True)
class Chosen:
    """Which calls of the suite are made, and whether answers of other runs stand in for them."""

    limit: Limit = None
    filter: Filter = None
    repeat: Repeat = None
    retry_errors: RetryErrors = False
    no_cache: NoCache = False


@with_shared
def run(
    suite: SuiteFile = Path("whybox.yaml"),
    dry_run: DryRun = False,
    jobs: Width = None,
    strict: Strict = False,
    why: Why = None,
    *,
    chosen: Chosen,
    shared: Shared,
) -> None:
    """Run a suite of behaviour tests; what was done before is kept, and not asked again."""
    limit_threads(shared.threads)

    from whybox.cli.running import prepared_suite, ran, say_plan
    from whybox.jobs.run import RUN, RunOptions
    from whybox.jobs.run_examined import once, remembered
    from whybox.library.folders import own_answers
    from whybox.suite.whole import Choice

    choice = Choice(chosen.filter, chosen.limit, chosen.retry_errors, None if chosen.no_cache else own_answers())
    seed = shared.seed if "seed" in shared.typed else None
    model = shared.model if "model" in shared.typed else None
    options = RunOptions(choice, seed, chosen.repeat, model, strict, shared.language, why)
    folder = shared.out or FOLDER
    know = partial(remembered if dry_run else once, folder / RUN)
    prepared = prepared_suite(suite, options, shared, jobs, know)
    if dry_run:
        say_plan(prepared, choice, shared, folder)
    elif code := ran(prepared, options, folder, shared).exit_code:
        raise typer.Exit(code)
