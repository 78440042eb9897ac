"""The explorer's server as a process: a port, an address with its token, and an end."""

import socket
import sys
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import uvicorn

from whybox.errors import InfrastructureError
from whybox.model import Model
from whybox.web.app import guarded
from whybox.web.guard import Address, new_token
from whybox.web.seat import Beside

LOCAL = ("127.0.0.1", "localhost", "::1")
GRACE_S = 2


@dataclass(frozen=True)
class Served:
    """Where the explorer listens. open: whether the browser is shown its page."""

    host: str = "127.0.0.1"
    port: int = 0
    open: bool = False


def until_stopped(served: Served, opening: Callable[[], Model], beside: Beside | None = None) -> None:
    """Serves until Ctrl-C. InfrastructureError where the port cannot be had."""
    with listening(served) as listener:
        port = listener.getsockname()[1]
        names = () if served.host in LOCAL else (served.host, socket.gethostname().lower())
        token = new_token()
        url = f"http://{_shown(served.host)}:{port}/?token={token}"
        print(url, flush=True)
        if served.host not in LOCAL:
            print("whybox: other machines can reach this page; whoever has the address can use it", file=sys.stderr)
        app = guarded(opening, token, Address(port, names), beside)
        config = uvicorn.Config(app, log_level="warning", access_log=False, timeout_graceful_shutdown=GRACE_S)
        if served.open:
            webbrowser.open(url)
        with suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listener])


def listening(served: Served) -> socket.socket:
    """A socket at that port. InfrastructureError where it cannot be had."""
    family = socket.AF_INET6 if ":" in served.host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((served.host, served.port))
        listener.listen()  # from now on a browser may come; it waits until the server is up
    except OSError as problem:
        listener.close()
        raise InfrastructureError(
            f"cannot listen on {served.host}:{served.port}: {problem.strerror}",
            "choose another --port, or 0 for a free one",
        ) from problem
    return listener


def _shown(host: str) -> str:
    if host in ("0.0.0.0", "::"):
        return socket.gethostname().lower()
    return f"[{host}]" if ":" in host else host
