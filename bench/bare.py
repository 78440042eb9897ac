"""The least that a client can do: bytes made beforehand, sent until a whole answer comes. Nothing is kept."""

import asyncio
import json
import time
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from whybox.targets import wire
from whybox.targets.target import Request


def reached(url: str, model: str, requests: Sequence[Request], concurrency: int, timeout: float, most: float) -> float:
    """Calls a second until `most` of them have come, `concurrency` at once, a failed one again at once."""
    return asyncio.run(_reached(url, [_bytes(url, model, each) for each in requests], concurrency, timeout, most))


async def _reached(url: str, sent: Sequence[bytes], concurrency: int, timeout: float, most: float) -> float:
    host, port, ahead, done = urlsplit(url).hostname or "", urlsplit(url).port or 80, iter(sent), list[float]()

    async def work() -> None:
        lane = await asyncio.open_connection(host, port)
        for data in ahead:
            while not await _answered(*lane, data, timeout):
                lane[1].close()
                lane = await asyncio.open_connection(host, port)
            done.append(time.perf_counter())
        lane[1].close()

    begun = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(concurrency)))
    count = round(most * len(sent))
    return count / (sorted(done)[count - 1] - begun)


async def _answered(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, data: bytes, timeout: float) -> bool:
    """Whether a whole JSON came back with status 200."""
    with suppress(TimeoutError, OSError, EOFError):
        async with asyncio.timeout(timeout):
            writer.write(data)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length:")[2].split(b"\r\n")[0])
            body = await reader.readexactly(length)
            return head.startswith(b"HTTP/1.1 200") and body.endswith(b"}")
    return False


def _bytes(url: str, model: str, request: Request) -> bytes:
    body = json.dumps(wire.body_of(request, model, "max_tokens", False)).encode()
    path = urlsplit(url).path + wire.path_of(request.prompt)
    return f"POST {path} HTTP/1.1\r\nHost: here\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
