"""Who leaves takes their question along: it is cancelled when its reader closes the connection before the answer."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

GONE: Message = {"type": "http.disconnect"}


@dataclass(frozen=True)
class Leaving:
    """An application whose requests end with their readers."""

    app: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        line = _Line(receive, send)
        answering = asyncio.ensure_future(self.app(scope, line.receive, line.send))
        leaving = asyncio.ensure_future(line.left())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if answering.done() or line.answered:
                await answering
                return
        finally:
            leaving.cancel()
            if not line.answered:
                answering.cancel()
        with suppress(asyncio.CancelledError):
            await answering


class _Line:
    """One connection: how much of the question was read, and whether the answer is whole."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive, self._send = receive, send
        self._read, self._gone = asyncio.Event(), asyncio.Event()
        self.answered = False

    async def receive(self) -> Message:
        """The question; behind its end nothing comes but that the reader is gone."""
        if self._read.is_set():
            await self._gone.wait()
            return GONE
        message = await self._receive()
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self._read.set()
        return message

    async def send(self, message: Message) -> None:
        await self._send(message)
        self.answered = message["type"] == "http.response.body" and not message.get("more_body", False)

    async def left(self) -> None:
        """Comes back once the reader is gone, whose question was read."""
        await self._read.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone.set()
