"""`whybox why CASE`: what one answer rests on, by changing one thing at a time."""

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from whybox.cli.options import Shared, with_shared
from whybox.cli.threads import limit_threads
from whybox.errors import UsageError

if TYPE_CHECKING:
    from whybox.items.case import Case
    from whybox.report.document import WhyDocument

CaseFile = Annotated[Path | None, typer.Argument(metavar="CASE.yaml", help="A case file (docs/case.md).")]
Messages = Annotated[
    Path | None, typer.Option("--messages", metavar="FILE", help="A chat as JSON, in place of a case file.")
]
Right = Annotated[str | None, typer.Option("--right", metavar="TEXT", help="The right answer to that chat.")]
Wrong = Annotated[str | None, typer.Option("--wrong", metavar="TEXT", help="The wrong answer to that chat.")]
Fact = Annotated[str, typer.Option("--fact", metavar="TEXT", help="A text that answers the question, to be added.")]
TestOut = Annotated[
    Path | None,
    typer.Option("--test-out", metavar="FILE", help="Write the test of the finding: a suite (.yaml) or pytest (.py)."),
]
Effort = Annotated[Literal["quick", "full"], typer.Option("--effort", help="How much is run.")]
Limit = Annotated[int, typer.Option("-n", "--limit", min=1, metavar="N", help="Tokens of an answer at most.")]


@dataclass(frozen=True)
class Conversation:
    """A chat with its answers, in place of a case file."""

    messages: Messages = None
    right: Right = None
    wrong: Wrong = None


@with_shared
def why(
    case: CaseFile = None,
    *,
    conversation: Conversation,
    fact: Fact = "",
    effort: Effort = "quick",
    limit: Limit = 32,
    test_out: TestOut = None,
    shared: Shared,
) -> None:
    """Explain one answer: what mattered, where it was decided, and which cause is confirmed by undoing it."""
    limit_threads(shared.threads)

    from whybox.cli.opening import model_of
    from whybox.cli.runs import Runs
    from whybox.cli.telling import Form
    from whybox.jobs.why import WhyOptions
    from whybox.jobs.why import why as explain
    from whybox.report.html import why_page
    from whybox.report.text import render_why

    question, told_by = _question(case, conversation), str(case or conversation.messages)
    out = shared.out or (None if shared.json else Path(f"{_file_stem(case, question.id)}.html"))
    form = Form(lambda document, console, lang: render_why(document, console, lang, str(out)), why_page, summary=True)
    form.check(out)
    check_test(test_out)
    loaded = model_of(shared)
    options = WhyOptions(effort, shared.seed, shared.language, limit, fact, _command(), told_by)
    with Runs(shared.language, shared.quiet) as runs:
        document = explain(loaded, question, options, runs.announce, runs.tell)
    if test_out is not None:
        save_test(document, test_out)
    form.deliver(document, shared.language, out, shared.json)


def _question(case: Path | None, conversation: Conversation) -> "Case":
    from whybox.items.case import Case

    match case, conversation:
        case Path(), Conversation(messages=None):
            return Case.load(case)
        case None, Conversation(Path(), right=None):
            raise UsageError("--messages needs --right", "give the right answer, and --wrong where there is one")
        case None, Conversation(Path() as messages, str() as right, wrong):
            return Case.load_messages(messages, right, wrong)
        case _:
            raise UsageError("expected a case file, or --messages with --right", "try: whybox why examples/refund.yaml")


def check_test(path: Path | None) -> None:
    """UsageError for a file that is neither a suite nor pytest."""
    if path is not None and path.suffix not in (".yaml", ".yml", ".py"):
        raise UsageError(f"--test-out {path}: expected .yaml for a suite, or .py for pytest, found {path.suffix!r}")


def save_test(document: "WhyDocument", path: Path) -> None:
    """The suite of the finding, or its pytest file, whole or not at all."""
    from whybox.cli.telling import write_whole

    text = document.regression_test if path.suffix == ".py" else document.regression_suite
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, text or "")


def _file_stem(case: Path | None, name: str) -> str:
    """The report of examples/refund.yaml is refund.html, where the command was given."""
    return name if case is None else case.stem


def _command() -> str:
    return shlex.join(["whybox", *sys.argv[1:]])
