"""A choice by log-probability: against brute force on models, worked by hand for first tokens, on bots behind HTTP."""

import asyncio
import json
import math
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest

from tests.targets.bots.asking import items
from tests.targets.bots.test_server import through_http
from tests.targets.test_local import all_of, model, targets
from whybox.errors import UsageError
from whybox.items.instance import CaseInstance
from whybox.suite.records import request_of as request_from
from whybox.suite.records import request_text
from whybox.targets.bots.kinds import DropsLogprobs, Honest
from whybox.targets.bots.process import BotTarget
from whybox.targets.choosing import by_first_token, by_scores, first_token, wanted
from whybox.targets.local import LocalTarget
from whybox.targets.target import (
    AnswerScore,
    Chat,
    Failure,
    Raw,
    Reply,
    Request,
    Sampling,
    TokenLogprob,
    chat,
    request_of,
)

LABELS = ("A", "B", "C", "D")
PROMPTS = (Raw("The cat sat on"), Raw("Pick one: "), chat("Which letter?"), chat("天氣很好?", "Answer with a letter."))


def choosing(prompt: Chat | Raw, labels: tuple[str, ...] = LABELS) -> Request:
    return Request(prompt, Sampling(max_tokens=1), choices=labels)


def brute_force(prompt: Chat | Raw) -> dict[str, float]:
    """log P of each label: e^log P summed over its spellings, each scored alone by the model's own verb."""
    read = LocalTarget(model()).prompt(prompt)
    blank = isinstance(prompt, Raw) and prompt.text.endswith(" ")
    spelled = {label: [label] if blank else [label, f" {label}"] for label in LABELS}
    starts = {model().join(read, each)[1] for spellings in spelled.values() for each in spellings}
    assert len(starts) == 1, "every label begins at the same token"
    return {
        label: math.log(sum(math.exp(model().score(read, each).log_prob) for each in spellings))
        for label, spellings in spelled.items()
    }


@pytest.mark.parametrize("name", ["numpy", "torch", "transformers"])
def test_the_most_probable_label_is_that_of_brute_force(name: str) -> None:
    requests = [choosing(prompt) for prompt in PROMPTS]
    for prompt, reply in zip(PROMPTS, all_of(targets()[name], requests), strict=True):
        expected = brute_force(prompt)
        assert isinstance(reply, Reply)
        assert (reply.text, reply.finish) == (max(expected, key=lambda label: expected[label]), "stop")
        assert reply.tokens is not None
        (token,) = reply.tokens
        assert dict(token.top) == pytest.approx(expected, abs=1e-3)
        total = sum(map(math.exp, expected.values()))
        shares = [math.exp(logprob) / sum(math.exp(other) for _, other in token.top) for _, logprob in token.top]
        assert shares == pytest.approx(sorted((math.exp(e) / total for e in expected.values()), reverse=True), abs=1e-3)


def test_choices_and_texts_may_stand_in_one_batch_and_fail_alone() -> None:
    target = LocalTarget(model())
    requests = [choosing(PROMPTS[0]), Request(PROMPTS[2], Sampling(max_tokens=3)), choosing(Raw("word " * 400))]
    requests += [choosing(PROMPTS[3])]
    first, text, long, last = all_of(target, requests)
    assert first == asyncio.run(target.ask(requests[0]))
    assert text == asyncio.run(target.ask(requests[1]))
    assert last == asyncio.run(target.ask(requests[3]))
    assert isinstance(long, Failure)
    assert long.kind == "prompt"


def score(logprob: float, *tokens: str) -> AnswerScore:
    return AnswerScore(logprob, tuple(TokenLogprob(token, logprob / len(tokens)) for token in tokens))


def test_a_spelling_counts_only_where_all_labels_begin_at_the_same_token() -> None:
    request = choosing(Raw("Answer:"), ("C", "D"))
    assert [each.answer for each in wanted(request)] == ["C", "D", " C", " D"]
    merged = [score(-1.0, "C"), score(-9.0, ":D"), score(-3.0, " C"), score(-2.0, " D")]
    reply = by_scores(request, merged)
    assert isinstance(reply, Reply)
    assert reply.text == "D"
    assert reply.tokens == (TokenLogprob("D", -2.0, (("D", -2.0), ("C", -3.0))),)
    apart = by_scores(request, [*merged[:2], score(-3.0, " C"), score(-2.0, ": D")])
    assert isinstance(apart, Failure)
    assert (apart.kind, "do not begin at one and the same token" in apart.cause) == ("undecided", True)
    tied = by_scores(request, [score(-1.0, "C"), score(-1.0, "D"), score(-3.0, " C"), score(-3.0, " D")])
    assert isinstance(tied, Failure)
    assert tied.cause == "all labels do not tell 'C' from 'D'"
    nested = by_scores(choosing(Raw("Go"), ("N", "NE")), merged)
    assert isinstance(nested, Failure)
    assert (nested.kind, nested.cause) == ("undecided", "'N' begins 'NE', so it is never the less probable")
    failed = Failure("engine", "not finite")
    assert by_scores(request, [merged[0], failed, *merged[2:]]) == failed


def told(*top: tuple[str, float]) -> Reply:
    """The first token of an endpoint; its most probable ones with their probabilities."""
    rows = tuple((text, math.log(p)) for text, p in top)
    return Reply(top[0][0], "length", (TokenLogprob(*rows[0], rows),), "", served_by="m")


def test_the_first_token_decides_for_the_label_that_no_other_can_overtake() -> None:
    reply = by_first_token(choosing(chat("?")), told((" B", 0.3), ("A", 0.25), ("The", 0.2), ("B", 0.1), ("x", 0.01)))
    assert isinstance(reply, Reply)
    assert (reply.text, reply.finish, reply.served_by) == ("B", "stop", "m")
    assert reply.tokens is not None
    (token,) = reply.tokens
    assert [label for label, _ in token.top] == ["B", "A"]
    assert [logprob for _, logprob in token.top] == pytest.approx([math.log(0.4), math.log(0.25)], abs=1e-9)


@pytest.mark.parametrize(
    ("labels", "top", "said"),
    [
        (LABELS, (("The", 0.6), ("It", 0.3)), "no label stands alone among the 2 most probable first tokens"),
        (LABELS, (("A", 0.5), ("B", 0.5)), "do not tell 'A' from 'B'"),
        (LABELS, (("A", 0.3), ("B", 0.2), ("x", 0.11)), "do not tell 'A' from 'B'"),  # " B" may hold 0.11 too
        (LABELS, (("A", 0.3), ("x", 0.2)), "do not tell 'A' from 'B'"),
        (LABELS, (("\n", 0.5), ("A", 0.3), ("x", 0.01)), "do not tell 'A' from 'B'"),
        (("option A", "option B"), (("option", 0.9), ("x", 0.01)), "no label stands alone"),
        (("North", "North East"), (("North", 0.9), ("x", 0.01)), "no label stands alone"),
        (("North", "South"), ((" S", 0.6), ("North", 0.3), ("x", 0.01)), "do not tell 'North' from 'South'"),
    ],
)
def test_what_the_first_token_leaves_open_is_undecided(
    labels: tuple[str, ...], top: tuple[tuple[str, float], ...], said: str
) -> None:
    found = by_first_token(choosing(chat("?"), labels), told(*top))
    assert isinstance(found, Failure)
    assert found.kind == "undecided"
    assert said in found.cause


def test_a_label_that_begins_no_other_is_decided_beside_its_like() -> None:
    top = (("North", 0.6), (" South", 0.3), ("N", 0.01))
    found = by_first_token(choosing(chat("?"), ("North", "South")), told(*top))
    assert isinstance(found, Reply)
    assert found.text == "North"


def choices(count: int = 6) -> list[CaseInstance]:
    """Generated choices, with the options that stand in their questions."""
    return [
        replace(
            item.instance,
            by="logprob",
            options=tuple(re.findall(r"^([A-Z])\) (.+)$", item.instance.part("question").text, re.M)),
        )
        for item in items("choice", "en", count)
    ]


@pytest.mark.parametrize("stream", [False, True])
def test_an_endpoint_with_log_probabilities_chooses_as_its_bot_does(stream: bool) -> None:
    cases = choices()
    outcomes, _ = through_http(Honest(), [request_of(case) for case in cases], stream=stream)
    for case, outcome in zip(cases, outcomes, strict=True):
        assert isinstance(outcome, Reply)
        assert case.scorer().score(outcome.text, outcome.finish).outcome == "right"
        assert outcome.text == case.right
        assert outcome.tokens is not None
        assert {label for label, _ in outcome.tokens[0].top} == {label for label, _ in case.options}
        here = asyncio.run(BotTarget(Honest()).ask(request_of(case)))
        assert isinstance(here, Reply)
        assert (here.text, here.tokens) == (outcome.text, outcome.tokens)


@pytest.mark.parametrize("kind", ["null", "missing", "short", "constant"])
def test_an_endpoint_without_them_is_never_scored(kind: str) -> None:
    outcomes, _ = through_http(DropsLogprobs(kind), [request_of(case) for case in choices(3)])  # type: ignore[arg-type]
    for outcome in outcomes:
        assert isinstance(outcome, Failure)
        assert (outcome.kind, outcome.again, outcome.fatal) == ("undecided", False, False)
        assert ("needs log-probabilities: the endpoint gave none" in outcome.cause) == (kind != "constant")


def test_a_call_that_failed_stays_what_it_was() -> None:
    failed = Failure("timeout", "no answer within 1 s")
    assert by_first_token(choosing(chat("?")), failed) == failed


def test_the_labels_are_part_of_what_was_asked() -> None:
    plain, first = Request(PROMPTS[0], Sampling(max_tokens=1)), choosing(PROMPTS[0])
    digests = {plain.digest, first.digest, choosing(PROMPTS[0], LABELS[:2]).digest}
    assert len(digests) == 3
    assert "choices" not in json.loads(request_text(plain)), "runs of before read alike"
    for request in (plain, replace(first, repeat=3)):
        assert request_from(request_text(request), request.repeat) == request
    assert first_token(first).choices == ()


@pytest.mark.parametrize("labels", [("A",), ("A", "A"), ("A", " ")])
def test_labels_that_cannot_be_told_apart_are_refused(labels: Sequence[str]) -> None:
    with pytest.raises(UsageError, match="two or more different labels"):
        choosing(PROMPTS[0], tuple(labels))
