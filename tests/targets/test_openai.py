"""An endpoint as a target: every way in which a call can end is one outcome with one clear message."""

import asyncio
import json
import logging
import random
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.targets.certificates import CERTIFICATE, PRIVATE_KEY
from tests.targets.scripted import Script, Scripted, http, stream
from whybox.errors import EndpointError, UsageError
from whybox.targets.openai import Endpoint, OpenAITarget
from whybox.targets.pace import Patience
from whybox.targets.secrets import HIDDEN, Key
from whybox.targets.target import AnswerRequest, Failure, Raw, Reply, Request, Sampling, Usage, chat

T = TypeVar("T")
SECRET = "sk-test-9f8e7d6c5b4a"
SAID = json.dumps({"model": "m", "choices": [{"message": {"content": "7 days"}, "finish_reason": "stop"}]})
QUICK = Patience(max_retries=2, base=1e-4)


def against(
    answers: Script, use: Callable[[OpenAITarget], Awaitable[T]], close: bool = True, **settings: Any
) -> tuple[T, Scripted]:
    server = Scripted(answers, close)

    async def run() -> T:
        async with server.serving() as url:
            endpoint = Endpoint("m", url, **({"patience": QUICK, "timeout": 5.0} | settings))
            target = OpenAITarget(endpoint, random.Random(0))
            try:
                return await use(target)
            finally:
                await target.close()

    return asyncio.run(run()), server


HELLO = Request(chat("hi"))


def ask(answers: Script, request: Request = HELLO, **settings: Any) -> tuple[Reply | Failure, Scripted]:
    return against(answers, lambda target: target.ask(request), **settings)


def test_what_is_sent() -> None:
    request = Request(chat("hi"), Sampling(0.0, seed=5), repeat=3)
    found, server = ask(
        [http(SAID)], request, key=Key(SECRET, "K"), extra_body={"top_k": 4}, extra_headers={"x-tenant": "blue-team"}
    )
    assert found == Reply("7 days", served_by="m")
    head = server.heads[0].lower()
    assert head.startswith("post /v1/chat/completions http/1.1")
    for line in (f"authorization: bearer {SECRET}", "x-tenant: blue-team", "x-whybox-repeat: 3", "user-agent: whybox/"):
        assert line in head
    assert json.loads(server.bodies[0]) == {
        "model": "m", "messages": [{"role": "user", "content": "hi"}], "temperature": 0.0, "seed": 5, "max_tokens": 64,
        "top_k": 4,
    }  # fmt: skip


def test_raw_text_goes_to_completions() -> None:
    body = json.dumps({"choices": [{"text": " days", "finish_reason": "length"}]})
    found, server = ask([http(body)], Request(Raw("seven")))
    assert found == Reply(" days", "length")
    assert server.heads[0].startswith("POST /v1/completions ")


FAULTS: dict[str, bytes | list[bytes]] = {
    "500": http('{"error": "boom"}', "500 Internal Server Error"),
    "429": http("{}", "429 Too Many Requests", headers="Retry-After: 0\r\n"),
    "malformed": http('{"choices": [{"mess'),
    "another protocol": http('{"choices": [{"message": {"content": 5}}]}'),
    "half-closed": [b"HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n{"],
    "closed at once": [b""],
    "no http": [b"SSH-2.0-x\r\n\r\n"],
    "error with 200": http('{"error": {"message": "overloaded"}}'),
}


@pytest.mark.parametrize("name", FAULTS)
def test_what_may_pass_is_tried_again(name: str) -> None:
    found, server = ask([FAULTS[name], FAULTS[name], http(SAID)])
    assert found == Reply("7 days", served_by="m")
    assert (len(found.attempts), len(server.heads)) == (3, 3)
    assert found.attempts[-1].ended == "ok"


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.parametrize("retries", [0, 1])
def test_and_no_more_often_than_allowed(name: str, retries: int) -> None:
    found, server = ask([FAULTS[name]], patience=Patience(retries, base=1e-4))
    assert isinstance(found, Failure)
    assert not found.fatal
    assert (len(found.attempts), len(server.heads)) == (retries + 1, retries + 1)


def test_a_server_that_hangs_is_a_timeout() -> None:
    found, server = ask([None], timeout=0.05, patience=Patience(1, base=1e-4))
    assert isinstance(found, Failure)
    assert (found.kind, found.cause, len(server.heads)) == ("timeout", "no answer within 0.05 s", 2)


@pytest.mark.parametrize(
    ("answer", "kind", "said", "fatal"),
    [
        (
            http('{"error": {"message": "long"}}', "400 Bad Request"),
            "http",
            "refused the request (HTTP 400: long)",
            False,
        ),
        (http('{"error": {"message": "no"}}', "401 Unauthorized"), "http", "wants a key, and none was sent", True),
        (
            http("<html>nginx</html>", "404 Not Found", "text/html"),
            "http",
            "does not serve this address (HTTP 404)",
            True,
        ),
        (http('{"error": {"message": "The model `m` does not exist"}}', "404 Not Found"), "http", "no model 'm'", True),
        (http("", "302 Found", headers="Location: /x\r\n"), "http", "sends elsewhere (HTTP 302)", True),
        (
            http("<!doctype html><title>Log in</title>", kind="text/html"),
            "malformed",
            "a web page, not with JSON",
            True,
        ),
        (http('{"error": {"message": "pay", "code": "insufficient_quota"}}', "429 Too Many"), "http", "pay", True),
        (http(SAID.replace('"7 days"', "null")), "no-content", "no content (null)", False),
    ],
)
def test_what_cannot_pass_is_said_once(answer: bytes, kind: str, said: str, fatal: bool) -> None:
    found, server = ask([answer])
    assert isinstance(found, Failure)
    assert (found.kind, found.fatal, len(server.heads)) == (kind, fatal, 1)
    assert said in found.cause
    assert "\n" not in found.cause


@pytest.mark.parametrize("stream", [False, True])
def test_half_a_character_is_refused_before_it_is_sent(stream: bool) -> None:
    found, server = ask([http(SAID)], Request(chat("a\ud83d")), stream=stream)
    assert isinstance(found, Failure)
    assert (found.kind, server.heads) == ("prompt", [])


def test_nobody_there() -> None:
    async def run() -> tuple[Failure, str]:
        target = OpenAITarget(Endpoint("m", "http://127.0.0.1:1/v1", patience=Patience(0)))
        found = await target.ask(Request(chat("hi")))
        with pytest.raises(EndpointError) as raised:
            await target.require_ready()
        await target.close()
        assert isinstance(found, Failure)
        return found, raised.value.cause

    found, cause = asyncio.run(run())
    assert (found.kind, found.fatal) == ("unreachable", True)
    assert cause.startswith("http://127.0.0.1:1/v1 cannot be reached: ")


def test_a_refused_key_is_told_and_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    answers: Script = [http(json.dumps({"error": {"message": f"Incorrect API key provided: {SECRET}"}}), "401 No")]
    found, server = ask(answers, key=Key(SECRET, "OPENAI_API_KEY"))
    assert isinstance(found, Failure)
    assert "refused the <key from OPENAI_API_KEY>" in found.cause
    assert HIDDEN in found.cause
    assert "set OPENAI_API_KEY to a key that is valid there" in found.remedy
    assert SECRET in server.heads[0]
    assert SECRET not in repr(found) + caplog.text


@pytest.mark.parametrize("spelt", ["sk-ab\\/cd-5512", "\\u0073k-ab/cd-5512"])
def test_a_key_that_an_error_escapes_is_hidden_on_every_path(spelt: str) -> None:
    refused = http('{"error": {"message": "bad key ' + spelt + '"}}', "401 No")
    key = Key("sk-ab/cd-5512", "K")
    for found in (
        against([refused], lambda target: target.ask(HELLO), key=key)[0],
        against([refused], lambda target: target.models(), key=key)[0],
        against([refused], lambda target: target.score(AnswerRequest(Raw("a"), "b")), key=key)[0],
    ):
        assert isinstance(found, Failure)
        assert f"bad key {HIDDEN}" in found.cause


def test_a_model_that_repeats_the_key_is_not_stored_with_it() -> None:
    found, _ = ask([http(SAID.replace("7 days", f"you sent {SECRET}"))], key=Key(SECRET, "K"))
    assert found == Reply(f"you sent {HIDDEN}", tokens_reason="the text repeats a secret", served_by="m")


def event(delta: dict[str, Any] | None, finish: str | None = None) -> bytes:
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return f"data: {json.dumps({'model': 'm', 'choices': choices}, ensure_ascii=False)}\n\n".encode()


def streamed(*pieces: bytes, **settings: Any) -> tuple[Reply | Failure, Scripted]:
    return ask([stream(*pieces)], stream=True, **settings)


WHOLE = event({"role": "assistant", "content": "天氣"}) + event({"content": "很好😊"}) + event({}, "stop")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_stream_in_pieces_of_any_size(size: int) -> None:
    data = b": hello\n\n" + WHOLE + b"data: [DONE]\n\n"
    found, server = streamed(*(data[i : i + size] for i in range(0, len(data), size)))
    assert found == Reply("天氣很好😊", served_by="m")
    assert isinstance(found, Reply)
    assert found.first_token_s is not None
    assert json.loads(server.bodies[0])["stream"] is True


def test_the_end_of_a_stream_need_not_be_announced() -> None:
    assert streamed(WHOLE)[0] == Reply("天氣很好😊", served_by="m")
    assert streamed(WHOLE.rstrip())[0] == Reply("天氣很好😊", served_by="m")


def test_usage_behind_the_end() -> None:
    last = b'data: {"choices": [], "usage": {"prompt_tokens": 4, "completion_tokens": 2}}\n\ndata: [DONE]\n\n'
    found, _ = streamed(WHOLE, last)
    assert isinstance(found, Reply)
    assert found.usage == Usage(4, 2)


@pytest.mark.parametrize(
    ("pieces", "kind"),
    [
        ([event({"content": "half"})], "transport"),
        ([], "transport"),
        ([event({"content": "half"}), b'data: {"choi'], "malformed"),
        ([event({"content": "half"}), b'data: {"error": {"message": "out of memory"}}\n\n'], "http"),
        ([event({"content": "half"}), b"data: 7 days\n\n"], "malformed"),
    ],
)
def test_a_stream_that_breaks_is_no_answer(pieces: list[bytes], kind: str) -> None:
    found, server = streamed(*pieces)
    assert isinstance(found, Failure)
    assert (found.kind, len(server.heads)) == (kind, 3)


def test_an_error_instead_of_a_stream() -> None:
    found, _ = ask([http('{"error": {"message": "The model is gone"}}', "404 Not Found")], stream=True)
    assert isinstance(found, Failure)
    assert found.fatal
    assert "no model 'm'" in found.cause


def test_connections_are_kept() -> None:
    async def three(target: OpenAITarget) -> list[Reply | Failure]:
        return [await target.ask(Request(chat("hi"))) for _ in range(3)]

    found, server = against([http(SAID)], three, close=False)
    assert found == [Reply("7 days", served_by="m")] * 3
    assert len(server.peers) == 1


@pytest.mark.parametrize(
    "settings",
    [
        {"timeout": 0.0},
        {"concurrency": 0},
        {"patience": Patience(max_retries=-1)},
        {"extra_body": {"stream": True}},
        {"ca_file": Path("/nowhere/ca.pem")},
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        Endpoint("m", **settings)


def test_an_own_certificate_is_trusted_where_it_is_named_and_only_there(tmp_path: Path) -> None:
    authority, private = tmp_path / "ca.pem", tmp_path / "key.pem"
    authority.write_text(CERTIFICATE)
    private.write_text(PRIVATE_KEY)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(authority, private)

    async def run() -> tuple[Reply | Failure, Reply | Failure]:
        async with Scripted([http(SAID)]).serving(tls) as url:
            plain = Endpoint("m", url, patience=Patience(0))
            trusting = OpenAITarget(replace(plain, ca_file=authority))
            strict = OpenAITarget(plain)
            found = await trusting.ask(Request(chat("hi"))), await strict.ask(Request(chat("hi")))
            await trusting.close()
            await strict.close()
            return found

    trusted, refused = asyncio.run(run())
    assert trusted == Reply("7 days", served_by="m")
    assert isinstance(refused, Failure)
    assert "cannot be reached" in refused.cause
    (tmp_path / "no.pem").write_text("no certificate")
    with pytest.raises(UsageError, match="holds no certificates"):
        asyncio.run(
            OpenAITarget(Endpoint("m", "https://127.0.0.1:1", ca_file=tmp_path / "no.pem")).ask(Request(Raw("")))
        )
