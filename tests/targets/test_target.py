"""Requests and outcomes as data: what names a request, what a record keeps, what cannot be meant."""

import json
from dataclasses import replace

import pytest

from whybox.errors import UsageError
from whybox.items.generate import generate
from whybox.targets.target import (
    AnswerRequest,
    Attempt,
    Chat,
    Failure,
    Raw,
    Reply,
    Request,
    Sampling,
    TokenLogprob,
    Turn,
    Usage,
    chat,
    from_record,
    request_of,
    to_record,
)

REQUEST = Request(chat("Hello", "Be brief."), Sampling(0.7, 0.9, 32, 5, ("\n",)), logprobs=2)


@pytest.mark.parametrize(
    "other",
    [
        replace(REQUEST, prompt=chat("Hello", "Be brief")),
        replace(REQUEST, prompt=chat("Hello")),
        replace(REQUEST, prompt=Raw("Hello")),
        replace(REQUEST, sampling=replace(REQUEST.sampling, temperature=0.0)),
        replace(REQUEST, sampling=replace(REQUEST.sampling, top_p=None)),
        replace(REQUEST, sampling=replace(REQUEST.sampling, max_tokens=33)),
        replace(REQUEST, sampling=replace(REQUEST.sampling, seed=None)),
        replace(REQUEST, sampling=replace(REQUEST.sampling, stop=())),
        replace(REQUEST, logprobs=None),
    ],
)
def test_everything_that_could_change_the_answer_changes_the_digest(other: Request) -> None:
    assert other.digest != REQUEST.digest


def test_a_repetition_with_a_seed_draws_anew_and_one_without_is_left_to_the_target() -> None:
    seeded = replace(REQUEST, sampling=replace(REQUEST.sampling, seed=5))
    free = replace(REQUEST, sampling=replace(REQUEST.sampling, seed=None))
    assert [(seeded.again(n).sampling.seed, seeded.again(n).repeat) for n in range(3)] == [(5, 0), (6, 1), (7, 2)]
    assert free.again(2) == replace(free, repeat=2)


def test_a_repetition_is_the_same_request() -> None:
    assert replace(REQUEST, repeat=3).digest == REQUEST.digest
    assert AnswerRequest(Raw("a"), "bc").digest != AnswerRequest(Raw("ab"), "c").digest
    assert Request(Raw("<x>")).digest != Request(Chat((Turn("user", "<x>"),))).digest


@pytest.mark.parametrize(
    "outcome",
    [
        Reply(
            "天",
            "stop",
            (TokenLogprob("天", -0.5, (("天", -0.5), ("地", -1.5))),),
            "",
            Usage(3, 2),
            "m",
            "fp",
            "because",
            1.5,
            0.2,
            (Attempt("http", 0.1, 0.5), Attempt("ok", 0.2)),
        ),
        Reply(""),
        Failure("http", "no", "do", 429, True, True, 2.0, 0.3, (Attempt("http", 0.3),)),
    ],
)
def test_a_record_gives_the_outcome_back(outcome: Reply | Failure) -> None:
    stored = json.loads(json.dumps(to_record(outcome)))
    found = from_record(stored)
    assert found == outcome
    assert to_record(found) == to_record(outcome)  # times and attempts too, which equality leaves out


def test_times_and_attempts_are_no_part_of_equality() -> None:
    assert Reply("a", seconds=1.0, attempts=(Attempt("ok", 1.0),)) == Reply("a", seconds=2.0)
    assert Reply("a") != Reply("b")


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"temperature": float("nan")}, "temperature"),
        ({"temperature": -1.0}, "temperature"),
        ({"top_p": 0.0}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"stop": ("",)}, "empty stop"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        Sampling(**settings)  # type: ignore[arg-type]


def test_a_case_is_asked_as_it_is_written() -> None:
    instance = generate("fact", "zh", 1, 3, len, size=2)[0].instance
    prompt = request_of(instance).prompt
    assert isinstance(prompt, Chat)
    assert [turn.role for turn in prompt.turns] == ["system", "user"]
    assert prompt.turns[1].content == "\n".join(part.text for part in instance.messages[1].parts)
