"""What each target could do when it was asked: counted over the calls of a run, whatever it says of itself."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from whybox.probes.design import Record
from whybox.statistics.intervals import Rate
from whybox.targets.target import AnswerScore, Chat, Failure, Reply, Request

NOTE = "abilities"


@dataclass(frozen=True)
class Observed:
    """Of one ability: calls that needed it and showed it, of all that needed it; why the first other one did not."""

    rate: Rate
    why: str = ""


def observed(records: Iterable[Record]) -> dict[str, dict[str, Observed]]:
    """By target and ability. A call that failed showed nothing it needed; what no call needed is not listed."""
    found: dict[str, dict[str, Observed]] = {}
    for record in records:
        abilities = found.setdefault(record.call.target, {})
        for name, missing in _shown(record):
            old = abilities.get(name, Observed(Rate(0, 0)))
            rate = Rate(old.rate.hits + (missing is None), old.rate.n + 1)
            abilities[name] = Observed(rate, old.why or missing or "")
    return found


def written(found: Mapping[str, Mapping[str, Observed]]) -> dict[str, dict[str, list[object]]]:
    """As a note of the run."""
    return {
        target: {name: [each.rate.hits, each.rate.n, each.why] for name, each in abilities.items()}
        for target, abilities in found.items()
    }


def _shown(record: Record) -> Iterator[tuple[str, str | None]]:
    """The abilities that a call needed, each with what was missing; None where it was there."""
    request, outcome = record.call.request, record.outcome
    failed = outcome.cause if isinstance(outcome, Failure) else None
    is_chat = isinstance(request.prompt, Chat)
    if not isinstance(request, Request):
        yield "chat_scores" if is_chat else "scores", None if isinstance(outcome, AnswerScore) else failed
        return
    if request.choices:
        yield "logprobs", failed
        return
    yield "chat" if is_chat else "raw", failed
    if not isinstance(outcome, Reply):
        return
    yield "usage", None if outcome.usage is not None else "not told"
    if request.logprobs is not None:
        yield "logprobs", None if outcome.tokens is not None else outcome.tokens_reason
