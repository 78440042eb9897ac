"""A bot behind an address: an OpenAI-compatible server of the standard library, on loopback unless told otherwise.

Keep-alive, chat and completions, streams, `/models`, `/tokenize`. Its faults are real: connections that hang, break in
the middle, or carry half a JSON.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from whybox.errors import UsageError
from whybox.targets.bots import bodies
from whybox.targets.bots.kinds import Bot, TruncatesContext, described, name_of
from whybox.targets.bots.play import Player, Said, Trouble
from whybox.targets.bots.reading import NO_BANK, Bank
from whybox.targets.target import AnswerRequest, Chat, Raw, Request, Turn

MOST_HEAD = 64 << 10
MOST_BODY = 16 << 20
REPEAT_HEADER = "x-whybox-repeat"
_REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 404: "Not Found", 429: "Too Many Requests"}


@dataclass(frozen=True)
class Asked:
    """One HTTP request."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class _Broken(Exception):
    """The connection is to be closed at once."""


@dataclass(eq=False)
class BotServer:
    """Serves one bot.

    key: what clients must send as bearer; None lets all in. served: calls that came in. answered: those with an
    answer behind them.
    """

    bot: Bot
    bank: Bank = NO_BANK
    seed: int = 0
    latency: float = 0.0
    key: str | None = field(default=None, repr=False)
    served: int = field(default=0, init=False)
    answered: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self._player = Player(self.bot, self.bank, self.seed, self.latency)
        self._open: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    @property
    def model(self) -> str:
        """The one model that it serves."""
        return f"whybox-{name_of(type(self.bot))}"

    @asynccontextmanager
    async def serving(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[str]:
        """The base address while it runs. port 0 takes a free one. UsageError where the port is taken."""
        try:
            server = await asyncio.start_server(self._connection, host, port, limit=MOST_HEAD, backlog=1024)
        except OSError as taken:
            raise UsageError(f"cannot listen on {host}:{port}: {taken.strerror}", "name another --port") from taken
        found = server.sockets[0].getsockname()[1]
        try:
            yield f"http://{f'[{host}]' if ':' in host else host}:{found}/v1"
        finally:
            server.close()
            connections = dict(self._open)
            for writer in connections:
                writer.transport.abort()
            await asyncio.gather(*connections.values(), return_exceptions=True)

    async def _connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open[writer] = task
        try:
            while (asked := await _read(reader)) is not None:
                await self._answer(asked, reader, writer)
                await writer.drain()
                if asked.headers.get("connection", "").lower() == "close":
                    break
        except (_Broken, ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            del self._open[writer]
            with suppress(ConnectionError, RuntimeError):
                writer.close()

    async def _answer(self, asked: Asked, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.key is not None and asked.headers.get("authorization") != f"Bearer {self.key}":
            return _error(writer, 401, "the key is expired or wrong", "invalid_api_key")
        path = asked.path.partition("?")[0]
        match asked.method, path.removeprefix("/v1"):
            case "GET", "/models":
                return _send(
                    writer, {"object": "list", "data": [{"id": self.model, "object": "model"} | self._states()]}
                )
            case "GET", "/health" | "/":
                counts = {"served": self.served, "answered": self.answered}
                return _send(writer, {"status": "ok", "bot": described(self.bot), **counts})
            case "POST", "/tokenize":
                return self._tokenize(_json(asked.body), writer)
            case "POST", "/chat/completions" | "/completions":
                return await self._complete(asked, path, reader, writer)
            case _:
                return _error(writer, 404, f"no such address: {asked.method} {path}", "not_found")

    def _states(self) -> dict[str, int]:
        """A bot that cuts does not say so: it states more context than it reads."""
        return {"max_model_len": 100_000} if isinstance(self.bot, TruncatesContext) else {}

    def _tokenize(self, body: Mapping[str, Any], writer: asyncio.StreamWriter) -> None:
        prompt: Chat | Raw = Raw(str(body.get("prompt", "")))
        if isinstance(messages := body.get("messages"), list):
            prompt = Chat(tuple(Turn(str(row.get("role")), str(row.get("content"))) for row in messages))
        ids = self._player.ids(prompt)
        _send(writer, {"tokens": list(ids), "count": len(ids)})

    async def _complete(
        self, asked: Asked, path: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        body = _json(asked.body)
        if body.get("model") not in (self.model, described(self.bot)):
            return _error(writer, 404, f"The model `{body.get('model')}` does not exist.", "model_not_found")
        try:
            request = bodies.request_of(path, body)
        except bodies.BadRequest as odd:
            return _error(writer, 400, str(odd), "invalid_request")
        self.served += 1
        if isinstance(request, AnswerRequest):
            assert isinstance(request.prompt, Raw)
            return _send(writer, bodies.echo_of(self._player.echo(request.prompt.text), self.model, self.served))
        repeat = asked.headers.get(REPEAT_HEADER, "")
        played = await self._player.ask(request, int(repeat) if repeat.isdigit() else None)
        if isinstance(played, Trouble):
            return await self._trouble(played, request, bool(body.get("stream")), reader, writer)
        return self._said(played, request, bool(body.get("stream")), writer)

    def _said(self, said: Said, request: Request, stream: bool, writer: asyncio.StreamWriter) -> None:
        self.answered += 1
        if not stream:
            return _send(writer, bodies.body_of(said, request, self.model, self.served))
        writer.write(_STREAM_HEAD)
        for chunk in bodies.chunks_of(said, request, self.model, self.served):
            writer.write(_chunk(chunk))
        writer.write(b"0\r\n\r\n")
        return None

    async def _trouble(
        self,
        trouble: Trouble,
        request: Request,
        stream: bool,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        match trouble.kind:
            case "status":
                after = {} if trouble.after is None else {"Retry-After": f"{trouble.after:g}"}
                return _error(writer, trouble.status, "asked too often" if after else "out of order", "fault", after)
            case "hang":
                await reader.read(1)  # until the client gives up
                raise _Broken
        assert trouble.behind is not None
        if stream:
            chunks = list(bodies.chunks_of(trouble.behind, request, self.model, self.served))
            half = chunks[: len(chunks) // 2] or [b"data: {"]
            broken = b'data: {"choices": [{"delta\n\n' if trouble.kind == "malformed" else b""
            writer.write(_STREAM_HEAD + b"".join(map(_chunk, [*half, *([broken] if broken else [])])))
            if broken:
                writer.write(b"0\r\n\r\n")
                return None
        else:
            whole = json.dumps(bodies.body_of(trouble.behind, request, self.model, self.served)).encode()
            half_body = whole[: len(whole) // 2]
            if trouble.kind == "malformed":
                return _raw(writer, 200, half_body)
            writer.write(_head(200, len(whole)) + half_body)
        await writer.drain()
        raise _Broken


async def _read(reader: asyncio.StreamReader) -> Asked | None:
    """The next request of a connection; None where there is none."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").split("\r\n")
    method, _, rest = first.partition(" ")
    headers = {
        name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines if line)
    }
    length = int(headers.get("content-length", "0"))
    if length > MOST_BODY or "chunked" in headers.get("transfer-encoding", ""):
        raise _Broken
    body = await reader.readexactly(length) if length else b""
    return Asked(method, rest.rpartition(" ")[0] or rest, headers, body)


def _json(body: bytes) -> Mapping[str, Any]:
    try:
        data = json.loads(body)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


_STREAM_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"


def _chunk(data: bytes) -> bytes:
    return b"%x\r\n%s\r\n" % (len(data), data)


def _send(writer: asyncio.StreamWriter, data: Mapping[str, Any]) -> None:
    _raw(writer, 200, json.dumps(data, ensure_ascii=False).encode("utf-8", "replace"))


def _error(
    writer: asyncio.StreamWriter, status: int, said: str, code: str, headers: Mapping[str, str] | None = None
) -> None:
    body = json.dumps({"error": {"message": said, "type": code, "code": code}}, ensure_ascii=False)
    _raw(writer, status, body.encode("utf-8", "replace"), headers)


def _raw(writer: asyncio.StreamWriter, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
    writer.write(_head(status, len(body), headers) + body)


def _head(status: int, length: int, headers: Mapping[str, str] | None = None) -> bytes:
    reason = _REASONS.get(status, "Error")
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    kind = "Content-Type: application/json"
    return f"HTTP/1.1 {status} {reason}\r\n{kind}\r\nContent-Length: {length}\r\n{more}\r\n".encode()
