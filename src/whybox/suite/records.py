"""Requests and outcomes as JSON text and back, and the names under which they are kept."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from hashlib import blake2b
from typing import Any

from whybox.probes.design import AnyOutcome, AnyRequest, Call
from whybox.targets.target import (
    AnswerRequest,
    AnswerScore,
    Attempt,
    Chat,
    Failure,
    Raw,
    Reply,
    Request,
    Sampling,
    TokenLogprob,
    Turn,
    from_record,
)
from whybox.version import __version__

# `default=vars`: what `asdict` gives for these, which have no other attributes, without its deep copies
_ENCODER = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=vars)


def outcome_text(outcome: AnyOutcome) -> str:
    """An outcome as JSON text; `outcome_of` gives an equal one, times and attempts included."""
    match outcome:
        case AnswerScore():
            kind = "score"
        case Reply():
            kind = "reply"
        case Failure():
            kind = "failure"
    return text({"outcome": kind, **vars(outcome)})


def outcome_of(written: str) -> AnyOutcome:
    """The outcome of a text."""
    data = json.loads(written)
    if data["outcome"] != "score":
        return from_record(data)
    return AnswerScore(
        data["logprob"],
        tuple(TokenLogprob(token["text"], token["logprob"], _pairs(token["top"])) for token in data["tokens"]),
        data["seconds"],
        tuple(Attempt(**attempt) for attempt in data["attempts"]),
    )


def request_text(request: AnyRequest) -> str:
    """A request as JSON text, its repeat number aside."""
    kinds = {"prompt_kind": "chat" if isinstance(request.prompt, Chat) else "raw"}
    data = asdict(request)
    del data["repeat"]
    if isinstance(request, Request):
        data["sampling"] = request.sampling.stated
    if not data.get("choices", True):  # as it stood before there were any
        del data["choices"]
    return text({"request": "score" if isinstance(request, AnswerRequest) else "ask", **kinds, **data})


def request_of(written: str, repeat: int = 0) -> AnyRequest:
    """The request of a text."""
    data = json.loads(written)
    prompt = _prompt(data["prompt_kind"], data["prompt"])
    if data["request"] == "score":
        return AnswerRequest(prompt, data["answer"], data["logprobs"], repeat)
    texts = {name: tuple(data["sampling"].get(name, ())) for name in ("stop", "banned")}
    sampling = Sampling(**{**data["sampling"], **texts})
    return Request(prompt, sampling, data["logprobs"], repeat, tuple(data.get("choices", ())))


def with_earlier(outcome: AnyOutcome, earlier: AnyOutcome | None) -> AnyOutcome:
    """The outcome of a call that was made again: the attempts of before stand in front of its own."""
    if earlier is None:
        return outcome
    return replace(outcome, attempts=(*earlier.attempts, *outcome.attempts))


def plan_digest(calls: Iterable[Call], identities: Mapping[str, str]) -> str:
    """Hex name of a plan: every cell with what it asks, and who is asked. One plan can be run in several sittings.

    identities: the digest of every target, by its name.
    """
    state = blake2b(text(dict(identities)).encode(), digest_size=16)
    for call in sorted(calls, key=lambda call: call.cell):
        state.update(text([*call.cell, call.request.digest, call.request.repeat]).encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def cache_key(call: Call, target: str) -> str:
    """Hex name of everything that could change the answer: target, what is asked, which repetition, which whybox.

    target: digest of the target's identity with the fingerprint that it showed in this run.
    """
    parts = [target, type(call.request).__name__, call.request.digest, call.request.repeat, __version__]
    return blake2b(text(parts).encode(), digest_size=16).hexdigest()


def text(data: Any) -> str:
    """JSON of one line, the same bytes for the same data; a dataclass stands as its fields."""
    return _ENCODER.encode(data)


def parsed(written: str) -> Any:
    """The data of a JSON text."""
    return json.loads(written)


def _prompt(kind: str, data: dict[str, Any]) -> Chat | Raw:
    return Raw(data["text"]) if kind == "raw" else Chat(tuple(Turn(**turn) for turn in data["turns"]))


def _pairs(top: Iterable[Sequence[Any]]) -> tuple[tuple[str, float], ...]:
    return tuple((word, float(logprob)) for word, logprob in top)
