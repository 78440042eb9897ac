"""A server that answers each request with the bytes that a test wrote down, and remembers what it was sent."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

Script = list[bytes | list[bytes] | None]


@dataclass
class Scripted:
    """answers: one for each request, the last one for all that follow; None hangs; a list is sent piece by piece.

    close: whether the connection ends behind each answer. peers: who connected.
    """

    answers: Script
    close: bool = True
    heads: list[str] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    peers: list[object] = field(default_factory=list)

    @asynccontextmanager
    async def serving(self, tls: ssl.SSLContext | None = None) -> AsyncIterator[str]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        port = server.sockets[0].getsockname()[1]
        try:
            yield f"http{'s' if tls else ''}://127.0.0.1:{port}/v1"
        finally:
            server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.peers.append(writer.get_extra_info("peername"))
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = next((int(x[15:]) for x in head.lower().split("\r\n") if x.startswith("content-length:")), 0)
                self.heads.append(head)
                self.bodies.append(await reader.readexactly(length))
                answer = self.answers[min(len(self.heads), len(self.answers)) - 1]
                if answer is None:
                    await reader.read(1)
                    break
                for piece in [answer] if isinstance(answer, bytes) else answer:
                    writer.write(piece)
                    await writer.drain()
                    await asyncio.sleep(0)
                if self.close:
                    break
        with suppress(ConnectionError):
            writer.close()


def http(body: str | bytes, status: str = "200 OK", kind: str = "application/json", headers: str = "") -> bytes:
    """A whole HTTP answer."""
    data = body.encode() if isinstance(body, str) else body
    head = f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n{headers}\r\n"
    return head.encode() + data


def stream(*pieces: bytes) -> list[bytes]:
    """A stream whose end is the end of the connection."""
    return [b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", *pieces]
