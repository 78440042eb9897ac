"""The protocol as data, against bodies as OpenAI, vLLM and llama.cpp write them."""

from typing import Any

import pytest

from whybox.targets import wire
from whybox.targets.target import AnswerRequest, AnswerScore, Failure, Raw, Reply, Request, Sampling, Usage, chat


def outcome(body: dict[str, Any], wanted: bool = False) -> Reply | Failure:
    gathered = wire.Gathered()
    gathered.take(body)
    return gathered.outcome(wanted)


def said(content: object, finish: str = "stop", **more: object) -> dict[str, Any]:
    message = {"role": "assistant", "content": content, **more}
    return {"model": "m", "choices": [{"index": 0, "message": message, "finish_reason": finish}]}


def test_a_body_says_what_was_set_and_nothing_else() -> None:
    request = Request(chat("hi", "be brief"), Sampling(None, None, 7))
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": "hi"}]
    assert wire.body_of(request, "m", "max_tokens", False) == {"model": "m", "messages": messages, "max_tokens": 7}
    full = Request(Raw("x"), Sampling(0.5, 0.9, 7, 3, ("a", "b")), 4)
    assert wire.body_of(full, "m", "max_completion_tokens", True) == {
        "model": "m", "prompt": "x", "temperature": 0.5, "top_p": 0.9, "seed": 3, "stop": ["a", "b"], "max_tokens": 7,
        "logprobs": 4, "stream": True, "stream_options": {"include_usage": True},
    }  # fmt: skip
    wanted = Request(chat("hi"), Sampling(0.0, None, 7), 0)
    body = wire.body_of(wanted, "m", "max_completion_tokens", False)
    assert (body["logprobs"], "top_logprobs" in body, body["max_completion_tokens"]) == (True, False, 7)
    assert body["temperature"] == 0.0


def test_a_reply_with_its_numbers() -> None:
    tokens = [
        {
            "token": "7",
            "logprob": -0.25,
            "top_logprobs": [{"token": "8", "logprob": -1.5}, {"token": "7", "logprob": -0.25}],
        },
        {"token": " days", "logprob": -0.5, "top_logprobs": []},
    ]
    body = said("7 days") | {"usage": {"prompt_tokens": 11, "completion_tokens": 3}, "system_fingerprint": "fp"}
    body["choices"][0]["logprobs"] = {"content": tokens}
    found = outcome(body, True)
    assert isinstance(found, Reply)
    assert (found.text, found.finish, found.usage, found.fingerprint) == ("7 days", "stop", Usage(11, 3), "fp")
    assert found.tokens is not None
    assert [(t.text, t.logprob) for t in found.tokens] == [("7", -0.25), (" days", -0.5)]
    assert found.tokens[0].top == (("7", -0.25), ("8", -1.5))


COMPLETION = {
    "tokens": ["7", " days"],
    "token_logprobs": [-0.25, -0.5],
    "top_logprobs": [{"8": -1.5, "7": -0.25}, None],
}


def test_a_completion_with_its_numbers() -> None:
    body = {"choices": [{"text": "7 days", "finish_reason": "length", "logprobs": COMPLETION}]}
    found = outcome(body, True)
    assert isinstance(found, Reply)
    assert found.finish == "length"
    assert found.tokens is not None
    assert found.tokens[0].top == (("7", -0.25), ("8", -1.5))
    assert found.tokens[1].top == ()


@pytest.mark.parametrize(
    ("logprobs", "usage", "reason"),
    [
        (None, None, "gave none"),
        ({"content": []}, None, "gave none"),
        (
            {"content": [{"token": "7", "logprob": -0.1}]},
            {"prompt_tokens": 1, "completion_tokens": 9},
            "1 for 9 tokens",
        ),
        ({"content": [{"token": "7", "logprob": None}]}, None, "gave none"),
        ({"content": [{"token": "7 da", "logprob": 0.3}]}, None, "no log-probability"),
    ],
)
def test_log_probabilities_that_are_none_are_none_with_a_reason(logprobs: object, usage: object, reason: str) -> None:
    body = said("7 days in the long run") | ({"usage": usage} if usage else {})
    body["choices"][0]["logprobs"] = logprobs
    found = outcome(body, True)
    assert isinstance(found, Reply)
    assert found.tokens is None
    assert reason in found.tokens_reason


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (said(None), "no-content"),
        (said(None, reasoning_content="hm"), "no-content"),
        (said("", reasoning_content="hm"), "no-content"),
        (said("", "length"), "truncated"),
        (said(None, "length", reasoning_content="hm"), "truncated"),
        (said(None, refusal="I will not."), "refused"),
        (said("", "content_filter"), "refused"),
    ],
)
def test_no_content_is_no_answer(body: dict[str, Any], kind: str) -> None:
    found = outcome(body)
    assert isinstance(found, Failure)
    assert found.kind == kind


def test_an_empty_answer_is_an_answer() -> None:
    assert outcome(said("")) == Reply("", served_by="m")


@pytest.mark.parametrize(
    "body",
    [{}, {"choices": "x"}, {"choices": [3]}, {"choices": [{"message": 4}]}, said(["a"]), said(5), {"choices": None}],
)
def test_another_protocol_is_unreadable(body: dict[str, Any]) -> None:
    with pytest.raises(wire.Unreadable):
        outcome(body)


def echo(tokens: list[str], numbers: list[float | None]) -> dict[str, Any]:
    return {"choices": [{"text": "", "logprobs": {"tokens": tokens, "token_logprobs": numbers, "top_logprobs": None}}]}


ASKED = AnswerRequest(Raw("The capital is"), " Paris now")
TOKENS = ["The", " capital", " is", " Par", "is", " now", " and"]


def test_the_answer_is_scored_from_the_rows_before_it() -> None:
    found = wire.answer_score(echo(TOKENS, [None, -9.0, -9.0, -1.0, -0.5, -2.0, -7.0]), ASKED)
    assert isinstance(found, AnswerScore)
    assert (found.logprob, len(found.tokens)) == (-3.5, 3)


def test_a_token_across_the_joint_belongs_to_the_answer() -> None:
    found = wire.answer_score(echo(["The capital", " is Paris", " now"], [None, -4.0, -1.0]), ASKED)
    assert isinstance(found, AnswerScore)
    assert found.logprob == -5.0


@pytest.mark.parametrize(
    "body",
    [
        echo(TOKENS, [None, -9.0, -9.0, -1.0]),
        echo(TOKENS, []),
        echo([], []),
        echo(TOKENS[:5], [None, -9.0, -9.0, -1.0, -0.5]),
        echo(["The capital is Paris now"], [-1.0]),
        {"choices": [{"text": "", "logprobs": None}]},
    ],
)
def test_fewer_numbers_than_tokens_are_an_error_and_never_a_score(body: dict[str, Any]) -> None:
    assert isinstance(wire.answer_score(body, ASKED), Failure)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"error": {"message": "bad key"}}', "bad key"),
        ('{"error": "bad key"}', "bad key"),
        ('{"detail": "bad\\nkey"}', "bad key"),
        ('{"message": "bad key"}', "bad key"),
        ("plain words", "plain words"),
        ("<!DOCTYPE html><html>…", ""),
        ("", ""),
        ("[1]", "[1]"),
    ],
)
def test_what_an_error_says(body: str, said: str) -> None:
    assert wire.error_text(body) == said


def test_stated_context() -> None:
    data = {"data": [{"id": "a", "max_model_len": 7}, {"id": "b", "meta": {"n_ctx_train": 9}}, {"id": "c"}, 5]}
    assert [wire.stated_context(data, name) for name in "abcd"] == [7, 9, None, None]
    assert wire.model_names(data) == ("a", "b", "c")


SENT = AnswerRequest(Raw("The capital is"), " Paris")
PARTS = ["The", " capital", " is", " Paris", "."]
CHINESE = AnswerRequest(Raw("天氣很好"), "吗")


def with_offsets(body: dict[str, Any], offsets: list[int]) -> dict[str, Any]:
    body["choices"][0]["logprobs"]["text_offset"] = offsets
    return body


@pytest.mark.parametrize(
    ("body", "request_", "expected"),
    [
        (echo(PARTS, [None, -5, -1, -0.1, -3]), SENT, -0.1),
        (echo(["<s>", *PARTS], [None, -9, -5, -1, -0.1, -3]), SENT, -0.1),
        (echo(["", *PARTS], [None, -9, -5, -1, -0.1, -3]), SENT, -0.1),
        (echo(PARTS, [None, -5, -1, 5e-7, -3]), SENT, 0.0),
        (echo(["天", "氣", "很", "好", "吗"], [None, -1, -2, -3, -4]), CHINESE, -4),
        (echo(["bytes:\\xe5\\xa4", "bytes:\\xa9", *"氣很好吗"], [None, -1, -2, -3, -4, -5]), CHINESE, -5),
        (echo([*"天氣很好", "bytes:\\xe5\\x90", "bytes:\\x97"], [None, -1, -2, -3, -4, -5]), CHINESE, -9),
        (
            with_offsets(
                echo(["\ufffd", "", *"氣很好", "", "吗"], [None, -1, -2, -3, -4, -5, -6]), [0, 0, 1, 2, 3, 4, 4]
            ),
            CHINESE,
            -11,
        ),
    ],
)
def test_an_echo_is_laid_along_the_text_that_was_sent(
    body: dict[str, Any], request_: AnswerRequest, expected: float
) -> None:
    found = wire.answer_score(body, request_)
    assert isinstance(found, AnswerScore)
    assert found.logprob == expected


@pytest.mark.parametrize(
    ("body", "request_", "why"),
    [
        (echo(["Once", " upon a ti", "me", " there was"], [None, -5, -1, -0.3]), SENT, "not the text"),
        (echo(["Say:", *PARTS], [None, -9, -5, -1, -0.1, -3]), SENT, "not the text"),
        (echo(["<s>", "<s>", *PARTS], [None, -9, -9, -5, -1, -0.1, -3]), SENT, "not the text"),
        (echo(["\ufffd", "\ufffd", *"氣很好吗"], [None, -1, -2, -3, -4, -5]), CHINESE, "not the text"),
        (
            with_offsets(echo(["\ufffd", "\ufffd", *"氣很好吗"], [None, -1, -2, -3, -4, -5]), [0, 1, 2, 3, 4, 5]),
            CHINESE,
            "not the text",
        ),
        (echo(PARTS, [None, -5, -1, float("nan"), -3]), SENT, "no log-probability"),
        (echo(PARTS, [None, -5, -1, float("-inf"), -3]), SENT, "no log-probability"),
        (echo(PARTS, [None, -5, -1, 0.7, -3]), SENT, "0.7"),
        (echo(PARTS, [None, None, -1, -0.1, -3]), SENT, "token 1 of 4"),
        (echo(PARTS, [-5, -1, -0.1, -3, -2]), SENT, "first token"),
        (echo(PARTS[:4], [-5, -1, -0.1]), SENT, "first token"),
    ],
)
def test_an_echo_of_something_else_is_no_score(body: dict[str, Any], request_: AnswerRequest, why: str) -> None:
    found = wire.answer_score(body, request_)
    assert isinstance(found, Failure)
    assert why in found.cause


@pytest.mark.parametrize("place", [0, 2])
@pytest.mark.parametrize("is_chat", [True, False])
def test_a_null_anywhere_in_an_answer_is_missed(place: int, is_chat: bool) -> None:
    numbers = [None if place == n else -1.0 for n in range(4)]
    body = said("abcd") | {"usage": {"prompt_tokens": 3, "completion_tokens": 4}}
    content = [{"token": text, "logprob": number} for text, number in zip("abcd", numbers, strict=True)]
    body["choices"][0]["logprobs"] = (
        {"content": content} if is_chat else {"tokens": list("abcd"), "token_logprobs": numbers}
    )
    found = outcome(body, True)
    assert isinstance(found, Reply)
    assert found.tokens is None
    assert f"token {place} of 4" in found.tokens_reason
