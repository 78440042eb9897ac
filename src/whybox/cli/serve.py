"""`whybox serve`: the explorer in the browser."""

import importlib.util
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from whybox.cli.options import Run, with_shared
from whybox.cli.threads import limit_threads
from whybox.errors import InfrastructureError, UsageError

if TYPE_CHECKING:
    from whybox.model import Model

Second = Annotated[
    str | None,
    typer.Option(
        "--beside",
        metavar="MODEL",
        help="A second model to set beside it: as -m takes it, NAME@precision, or @precision alone for the same file.",
        show_default=False,
    ),
]
Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")]
Host = Annotated[str, typer.Option("--host", help="Where it listens; another than 127.0.0.1 opens it to the network.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")]


@dataclass(frozen=True)
class Place:
    """Where the page is."""

    port: Port = 0
    host: Host = "127.0.0.1"
    open_: Open = True


@with_shared
def serve(beside: Second = None, *, place: Place, run: Run) -> None:
    """Serve the explorer until Ctrl-C. The first line on stdout is its address, with the token that opens it."""
    _require_web()
    limit_threads(run.threads)

    from whybox.cli.opening import model_of
    from whybox.web.seat import Beside
    from whybox.web.serving import Served, until_stopped

    second = None if beside is None else Beside(_name(beside, run), lambda first: _second(beside, first, run))
    until_stopped(Served(place.host, place.port, place.open_), lambda: model_of(run), second)


def _name(beside: str, run: Run) -> str:
    """What a state calls it: without the folder, which is this machine's own."""
    name, at, way = beside.rpartition("@")
    whole = f"{name or run.model}@{way}" if at else beside
    return Path(whole).name


def _second(beside: str, first: "Model", run: Run) -> "Model":
    """UsageError for a side that no page can ask: an endpoint, a recording, a prompt fed in steps."""
    from whybox.cli.opening import model_of
    from whybox.compare.sides import Live, side_of

    side = side_of(beside, lambda name: model_of(replace(run, model=name)), Live(run.model, first))
    if not isinstance(side, Live) or side.stepped:
        raise UsageError(f"--beside {beside}: expected a model that can be run here", "such as gemma3-270m or @int8")
    return side.model


def _require_web() -> None:
    if any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise InfrastructureError("the explorer needs fastapi and uvicorn", "pip install 'whybox[web]'")
