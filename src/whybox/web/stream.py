"""Long work as lines of JSON: progress, then a result or an error. A reader that leaves ends the work."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.datastructures import Headers
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from whybox.errors import WhyboxError
from whybox.report.error_words import said
from whybox.web.language import asked_language
from whybox.web.worker import Tell

MEDIA = "application/x-ndjson"
Line = dict[str, Any]


def lines(source: AsyncIterator[Line]) -> "Lines":
    """A response that sends each line as it comes, and an error as the last one."""
    return Lines(source)


class Lines(StreamingResponse):
    """Lines of JSON; an error is told in the language that was asked for."""

    def __init__(self, source: AsyncIterator[Line]) -> None:
        super().__init__(self._told(source), media_type=MEDIA)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.lang = asked_language(Headers(scope=scope))
        await super().__call__(scope, receive, send)

    async def _told(self, source: AsyncIterator[Line]) -> AsyncIterator[bytes]:
        try:
            async for line in source:
                yield _line(line)
        except WhyboxError as error:
            yield _line({"error": said(error, self.lang)})


async def with_progress(work: Callable[[Tell], Awaitable[Line]]) -> AsyncIterator[Line]:
    """Lines {progress: [done, all]} while the work goes on, then its result. What is not read in time is left out."""
    latest: asyncio.Queue[tuple[int, int]] = asyncio.Queue(maxsize=1)

    def tell(done: int, of: int) -> None:
        if latest.full():
            latest.get_nowait()
        latest.put_nowait((done, of))

    task = asyncio.ensure_future(work(tell))
    try:
        while not task.done():
            step = asyncio.ensure_future(latest.get())
            await asyncio.wait({task, step}, return_when=asyncio.FIRST_COMPLETED)
            if step.done():
                yield {"progress": list(step.result())}
            step.cancel()
        yield await task
    finally:
        task.cancel()


def _line(line: Line) -> bytes:
    return (json.dumps(line, ensure_ascii=False, allow_nan=False) + "\n").encode(errors="backslashreplace")
