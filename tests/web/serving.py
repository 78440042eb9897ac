"""The explorer's server in a thread, for tests that ask it over the wire."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import httpx
import uvicorn

from whybox.errors import FormatError
from whybox.model import Model
from whybox.web.app import guarded
from whybox.web.guard import Address
from whybox.web.seat import Beside
from whybox.web.serving import Served, listening

TOKEN = "a-token-for-tests"


@dataclass(frozen=True)
class Running:
    url: str

    @property
    def page(self) -> str:
        return f"{self.url}/?token={TOKEN}"

    def client(self) -> httpx.Client:
        return httpx.Client(base_url=self.url, headers={"authorization": f"Bearer {TOKEN}"}, timeout=60)


def no_model() -> Model:
    """A file that is none."""
    raise FormatError("x.gguf", "header", "GGUF", "nothing", "take another file")


@contextmanager
def running(opening: Callable[[], Model], beside: Beside | None = None) -> Iterator[Running]:
    with listening(Served()) as listener:
        port = listener.getsockname()[1]
        config = uvicorn.Config(
            guarded(opening, TOKEN, Address(port), beside), log_level="warning", timeout_graceful_shutdown=1
        )
        server = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: server.run(sockets=[listener]), daemon=True)
        thread.start()
        found = Running(f"http://127.0.0.1:{port}")
        with found.client() as client:
            while not server.started or client.get("/api/health").json()["status"] == "opening":
                time.sleep(0.02)
        yield found
        server.should_exit = True
        thread.join(10)
