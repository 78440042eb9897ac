"""`whybox serve`: the explorer in the browser."""

import importlib.util
from typing import TYPE_CHECKING, Annotated

import typer

from whybox.cli.options import (
    DEFAULT_MODEL,
    DEFAULT_PRECISION,
    AcceptKey,
    AllowLong,
    Device,
    Engine,
    EngineName,
    Model,
    Precision,
    Quiet,
    Threads,
)
from whybox.cli.threads import limit_threads
from whybox.errors import InfrastructureError

if TYPE_CHECKING:
    from whybox.model import Model as Opened

Port = Annotated[int, typer.Option("--port", min=0, max=65535, help="0 takes a free one.")]
Host = Annotated[str, typer.Option("--host", help="Where it listens; another than 127.0.0.1 opens it to the network.")]
Open = Annotated[bool, typer.Option("--open/--no-open", help="Open the page in the browser.")]


def serve(
    model: Model = DEFAULT_MODEL,
    port: Port = 0,
    host: Host = "127.0.0.1",
    open_: Open = True,
    allow_long: AllowLong = False,
    accept_key: AcceptKey = None,
    engine: Engine = EngineName.auto,
    precision: Precision = DEFAULT_PRECISION,
    device: Device = "auto",
    threads: Threads = None,
    quiet: Quiet = False,
) -> None:
    """Serve the explorer until Ctrl-C. The first line on stdout is its address, with the token that opens it."""
    _require_web()
    limit_threads(threads)

    from whybox.cli.opening import opened
    from whybox.web.serving import Served, until_stopped

    def opening() -> "Opened":
        return opened(model, engine, precision, device, accept_key, allow_long, quiet)

    until_stopped(Served(host, port, open_), opening)


def _require_web() -> None:
    if any(importlib.util.find_spec(name) is None for name in ("fastapi", "uvicorn")):
        raise InfrastructureError("the explorer needs fastapi and uvicorn", "pip install 'whybox[web]'")
