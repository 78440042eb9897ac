"""Questions whose readers leave are cancelled; all others are answered."""

import asyncio
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from starlette.types import Message, Receive, Scope, Send

from whybox.web.leaving import GONE, Leaving

SCOPE = {"type": "http", "method": "POST", "path": "/", "headers": []}


def asked(app: Any, incoming: list[Message], leaves_after: float | None = None) -> list[Message]:
    """What an application sends to one request; its reader may leave some time after the question."""

    async def whole() -> list[Message]:
        sent: list[Message] = []

        async def receive() -> Message:
            if incoming:
                return incoming.pop(0)
            await asyncio.sleep(leaves_after if leaves_after is not None else 60)
            return GONE

        async def send(message: Message) -> None:
            sent.append(message)

        await asyncio.wait_for(Leaving(app)(SCOPE, receive, send), 10)
        return sent

    return asyncio.run(whole())


def body(*parts: bytes) -> list[Message]:
    return [{"type": "http.request", "body": part, "more_body": i < len(parts) - 1} for i, part in enumerate(parts)]


async def answer(send: Send, text: bytes) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": text})


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    held = b""
    while True:
        message = await receive()
        held += message.get("body", b"")
        if not message.get("more_body"):
            break
    await answer(send, held)


def test_a_question_in_pieces_is_answered() -> None:
    assert asked(echo, body(b"one ", b"two"))[-1]["body"] == b"one two"


def test_what_reads_nothing_is_answered() -> None:
    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await asyncio.sleep(0.02)
        await answer(send, b"page")

    assert asked(app, [])[-1]["body"] == b"page"


def test_a_reader_that_leaves_cancels_the_work() -> None:
    ended: list[str] = []

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        try:
            await asyncio.sleep(30)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        await answer(send, b"too late")

    assert asked(app, body(b"x"), leaves_after=0.02) == []
    assert ended == ["cancelled"]


def test_a_reader_that_leaves_in_the_middle_of_the_question_is_told_to_the_application() -> None:
    seen: list[str] = []

    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        seen.append((await receive())["type"])
        seen.append((await receive())["type"])

    asked(app, [{"type": "http.request", "body": b"x", "more_body": True}, GONE])
    assert seen == ["http.request", "http.disconnect"]


def test_what_is_left_to_do_behind_the_answer_is_done() -> None:
    done: list[str] = []

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await answer(send, b"answer")
        await asyncio.sleep(0.05)
        done.append("swept")

    assert asked(app, body(b"x"), leaves_after=0)[-1]["body"] == b"answer"
    assert done == ["swept"]


def test_a_fault_is_not_hidden() -> None:
    async def app(_scope: Scope, receive: Receive, _send: Send) -> None:
        await receive()
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asked(app, body(b"x"))
