"""What a target could do is counted by what calls needed, and what came back."""

from whybox.items.generate import generate
from whybox.probes.design import AnyOutcome, AnyRequest, Call, Record
from whybox.statistics.intervals import Rate
from whybox.suite.observed import Observed, observed, written
from whybox.targets.target import AnswerRequest, AnswerScore, Failure, Raw, Reply, Request, Usage, chat

(ITEM,) = generate("fact", "en", 1, seed=0, count_tokens=len)
PLAIN, WANTED = Request(chat("hi")), Request(chat("hi"), logprobs=5)


def record(request: AnyRequest, outcome: AnyOutcome, target: str = "t") -> Record:
    return Record(Call(target, "p", ITEM.id, "a", 0, request), outcome)


def test_each_ability_is_counted_over_the_calls_that_needed_it() -> None:
    records = [
        record(PLAIN, Reply("a", usage=Usage(3, 1))),
        record(PLAIN, Failure("timeout", "no answer within 1 s")),
        record(PLAIN, Failure("http", "another cause")),
        record(WANTED, Reply("a", tokens=())),
        record(WANTED, Reply("a", tokens_reason="logprobs is null", usage=Usage(3, 1))),
        record(AnswerRequest(chat("hi"), "a"), Failure("malformed", "answers are scored only behind raw text")),
        record(AnswerRequest(Raw("hi"), "a"), AnswerScore(-1.0, ())),
        record(Request(Raw("hi")), Reply("a"), "other"),
    ]
    found = observed(records)
    assert found == {
        "t": {
            "chat": Observed(Rate(3, 5), "no answer within 1 s"),
            "usage": Observed(Rate(2, 3), "not told"),
            "logprobs": Observed(Rate(1, 2), "logprobs is null"),
            "chat_scores": Observed(Rate(0, 1), "answers are scored only behind raw text"),
            "scores": Observed(Rate(1, 1)),
        },
        "other": {"raw": Observed(Rate(1, 1)), "usage": Observed(Rate(0, 1), "not told")},
    }
    assert written(found)["t"]["usage"] == [2, 3, "not told"]


def test_what_no_call_needed_is_not_listed() -> None:
    assert observed([]) == {}
    assert "logprobs" not in observed([record(PLAIN, Reply("a"))])["t"]
