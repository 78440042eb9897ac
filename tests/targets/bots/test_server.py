"""A bot behind an address: run by run the records of the bot in this process; its faults are those of the world."""

import asyncio
import json
import random
from collections.abc import Sequence
from typing import Any

import pytest

from tests.targets.bots.asking import asked, items, ordered
from whybox.targets.bots import kinds
from whybox.targets.bots.kinds import Bot, described
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.reading import NO_BANK, Bank
from whybox.targets.bots.server import BotServer
from whybox.targets.openai import Endpoint, OpenAITarget
from whybox.targets.pace import Patience
from whybox.targets.target import (
    AnswerRequest,
    AnswerScore,
    Chat,
    Failure,
    Outcome,
    Raw,
    Reply,
    Request,
    Sampling,
    chat,
    to_record,
)

QUICK = Patience(max_retries=4, base=1e-3)


def through_http(
    bot: Bot, requests: Sequence[Request], bank: Bank = NO_BANK, key: str | None = None, **settings: Any
) -> tuple[list[Outcome], BotServer]:
    """Outcomes in the order of the requests."""
    server = BotServer(bot, bank, key=key)

    async def run() -> list[Outcome]:
        async with server.serving() as url:
            endpoint = Endpoint(server.model, url, **({"patience": QUICK, "concurrency": 16} | settings))
            target = OpenAITarget(endpoint, random.Random(1))
            found = {index: outcome async for index, outcome in target.ask_all(requests)}
            await target.close()
            return [found[index] for index in range(len(requests))]

    return asyncio.run(run()), server


def record(outcome: Outcome) -> dict[str, Any]:
    """All of an outcome but times and the name of the model, which is that of the server."""
    return {
        k: v for k, v in to_record(outcome).items() if k not in ("seconds", "first_token_s", "attempts", "served_by")
    }


FACTS = items("fact", "en", 12)
REQUESTS = [
    Request(ordered(item, order), Sampling(max_tokens=32), logprobs=3, repeat=repeat)
    for item in FACTS
    for order in ([0, 1, 2, 3], [3, 1, 0, 2])
    for repeat in range(2)
]


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize(
    "bot",
    [
        kinds.Honest(0.6),
        kinds.TieFlipper(0.3),
        kinds.PositionBiased(0.4),
        kinds.DropsLogprobs("short"),
        kinds.DropsLogprobs("null"),
        kinds.DropsLogprobs("missing"),
        kinds.TruncatesContext(20, "start", "before"),
        kinds.LogitNoise(0.2),
        kinds.NullContent(),
        kinds.ReasoningOnly(),
        kinds.CutOff(),
    ],
)
def test_records_are_those_of_the_bot_in_this_process(bot: Bot, stream: bool) -> None:
    bank = Bank.of(FACTS)
    near = asked(BotTarget(bot, bank), REQUESTS)
    shuffled = random.Random(3).sample(range(len(REQUESTS)), len(REQUESTS))
    far, _ = through_http(bot, [REQUESTS[i] for i in shuffled], bank, stream=stream)
    assert [record(far[shuffled.index(i)]) for i in range(len(REQUESTS))] == [record(outcome) for outcome in near]


def test_a_client_that_names_no_repetition_is_counted() -> None:
    """Equal calls of an ordinary client are repetitions 0, 1, 2 … and so give the same set of answers."""
    request = REQUESTS[0]
    bot = kinds.TieFlipper(0.5)
    named = asked(BotTarget(bot), [Request(request.prompt, request.sampling, 3, repeat) for repeat in range(8)])

    async def run() -> list[str]:
        server = BotServer(bot)
        async with server.serving() as url:
            host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
            return [await plain_call(host, int(port), server.model, request) for _ in range(8)]

    texts = [outcome.text for outcome in named if isinstance(outcome, Reply)]
    assert asyncio.run(run()) == texts
    assert len(set(texts)) == 2


async def plain_call(host: str, port: int, model: str, request: Request) -> str:
    """One call of a client that knows nothing of whybox."""
    assert isinstance(request.prompt, Chat)
    messages = [{"role": turn.role, "content": turn.content} for turn in request.prompt.turns]
    wanted = {"temperature": 0.0, "max_tokens": 32, "logprobs": True, "top_logprobs": 3}
    body = json.dumps({"model": model, "messages": messages} | wanted).encode()
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(
        b"POST /v1/chat/completions HTTP/1.1\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    )
    answer = await reader.read()
    writer.close()
    text: str = json.loads(answer.partition(b"\r\n\r\n")[2])["choices"][0]["message"]["content"]
    return text


def test_scores_through_http_are_those_of_this_process() -> None:
    async def run(bot: Bot, asked_for: AnswerRequest) -> tuple[object, object]:
        server = BotServer(bot)
        async with server.serving() as url:
            target = OpenAITarget(Endpoint(server.model, url, patience=QUICK))
            far = await target.score(asked_for)
            await target.close()
        return far, await BotTarget(bot).score(asked_for)

    wanted = AnswerRequest(Raw("one two three one two"), " three one", 5)
    for bot in (kinds.Honest(), kinds.LogitNoise(0.3), kinds.DropsLogprobs("constant")):
        far, near = asyncio.run(run(bot, wanted))
        assert isinstance(far, AnswerScore)
        assert far == near
    for kind in ("null", "missing", "short"):
        far, near = asyncio.run(run(kinds.DropsLogprobs(kind), wanted))
        assert isinstance(far, Failure)
        assert far == near


@pytest.mark.parametrize("way", kinds.FAULT_WAYS)
@pytest.mark.parametrize("stream", [False, True])
def test_each_fault_is_met_and_passed(way: str, stream: bool) -> None:
    bot = kinds.Errors(0.4, way)
    patience, timeout = Patience(9, base=1e-3), 0.3 if way == "hang" else 30.0
    found, server = through_http(bot, REQUESTS, Bank.of(FACTS), stream=stream, timeout=timeout, patience=patience)
    assert [record(outcome) for outcome in found] == [
        record(outcome) for outcome in asked(BotTarget(kinds.Honest(), Bank.of(FACTS)), REQUESTS)
    ]
    failed = [attempt.ended for outcome in found for attempt in outcome.attempts[:-1]]
    assert set(failed) == {{"hang": "timeout", "malformed": "malformed", "half_closed": "transport"}.get(way, "http")}
    assert server.served == len(REQUESTS) + len(failed)
    assert server.answered == len(REQUESTS)


def test_a_limit_of_calls_at_once_slows_and_loses_nothing() -> None:
    found, server = through_http(
        kinds.RateLimited(3, 0.01), REQUESTS, Bank.of(FACTS), patience=Patience(200, base=0.002), concurrency=16
    )
    assert all(isinstance(outcome, Reply) for outcome in found)
    assert server.answered == len(REQUESTS)


def test_late_answers_are_timeouts() -> None:
    found, _ = through_http(kinds.AnswersLate(300), REQUESTS[:2], timeout=0.05, patience=Patience(0))
    assert [outcome.kind for outcome in found if isinstance(outcome, Failure)] == ["timeout"] * 2


def test_an_expired_key_a_wrong_model_and_a_wrong_address() -> None:
    found, _ = through_http(kinds.Honest(), REQUESTS[:1], key="good-key-123")
    assert isinstance(found[0], Failure)
    assert "wants a key" in found[0].cause

    async def run(model: str, path: str) -> Outcome:
        server = BotServer(kinds.Honest())
        async with server.serving() as url:
            target = OpenAITarget(Endpoint(model, url.replace("/v1", path), patience=QUICK))
            outcome = await target.ask(Request(chat("hi")))
            await target.close()
            return outcome

    wrong = asyncio.run(run("gpt-9", "/v1"))
    assert isinstance(wrong, Failure)
    assert (wrong.fatal, "no model 'gpt-9'" in wrong.cause) == (True, True)
    lost = asyncio.run(run("whybox-honest", "/v2"))
    assert isinstance(lost, Failure)
    assert (lost.fatal, "does not serve this address" in lost.cause) == (True, True)


def test_ids_and_names() -> None:
    async def run(bot: Bot) -> tuple[object, object, object]:
        server = BotServer(bot)
        async with server.serving() as url:
            target = OpenAITarget(Endpoint(server.model, url))
            found = await target.ids(chat("hi")), await target.ids(Raw("hi")), await target.models()
            await target.close()
            return found

    in_chat, in_raw, models = asyncio.run(run(kinds.TemplateBreaker("doubles_bos")))
    assert isinstance(in_chat, tuple)
    assert in_chat[:2] == (1, 1)
    assert isinstance(in_raw, tuple)
    assert models == (("whybox-template_breaker",), None)


@pytest.mark.parametrize(
    "head", [b"GET\r\n\r\n", b"POST /v1/completions HTTP/1.1\r\nContent-Length: x\r\n\r\n", b"\x00" * 99, b"A" * 70_000]
)
def test_nonsense_ends_its_own_connection_only(head: bytes) -> None:
    async def run() -> str:
        server = BotServer(kinds.Honest())
        async with server.serving() as url:
            host, port = url.removeprefix("http://").removesuffix("/v1").split(":")
            _, writer = await asyncio.open_connection(host, int(port))
            writer.write(head)
            writer.write_eof()
            found = await plain_call(host, int(port), server.model, REQUESTS[0])
            writer.close()
            return found

    assert asyncio.run(run()) == FACTS[0].instance.right


def test_every_bot_can_be_named_and_named_again() -> None:
    for name, kind in kinds.KINDS.items():
        assert kinds.bot_from(described(kind())) == kind() == kinds.bot_of(name, {})
