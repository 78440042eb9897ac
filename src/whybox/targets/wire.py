"""The OpenAI protocol as data: a request → a body, a body or a stream of chunks → a reply or a failure.

Nothing here touches a network. A body is judged strictly: what is missing is a failure or None with a reason, never a
value by default.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeGuard

from whybox.targets.target import (
    AnswerRequest,
    AnswerScore,
    Chat,
    Failure,
    Raw,
    Reply,
    Request,
    TokenLogprob,
    Usage,
)

LimitName = Literal["max_tokens", "max_completion_tokens"]
NOT_GIVEN = "the endpoint gave none"
ONLY_RAW = "answers are scored only behind raw text: the template is the endpoint's own"


def path_of(prompt: Chat | Raw) -> str:
    """Where a request is sent, behind the base address."""
    return "/chat/completions" if isinstance(prompt, Chat) else "/completions"


def body_of(request: Request, model: str, limit_name: LimitName, stream: bool) -> dict[str, Any]:
    """The JSON body of a request; settings that are None are left to the endpoint."""
    settings = request.sampling
    body: dict[str, Any] = {"model": model, **_prompt(request.prompt)}
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.top_p is not None:
        body["top_p"] = settings.top_p
    if settings.seed is not None:
        body["seed"] = settings.seed
    if settings.stop:
        body["stop"] = list(settings.stop)
    body[limit_name if isinstance(request.prompt, Chat) else "max_tokens"] = settings.max_tokens
    if request.logprobs is not None:
        body |= _wanted_logprobs(request.prompt, request.logprobs)
    if stream:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    return body


def answer_body(request: AnswerRequest, model: str) -> dict[str, Any]:
    """The body that asks for the log-probabilities of a text that is given: it comes back as an echo."""
    text = request.prompt.text + request.answer if isinstance(request.prompt, Raw) else ""
    return {
        "model": model,
        "prompt": text,
        "max_tokens": 1,
        "echo": True,
        "logprobs": max(1, request.logprobs),
        "temperature": 0,
    }


def _prompt(prompt: Chat | Raw) -> dict[str, Any]:
    if isinstance(prompt, Raw):
        return {"prompt": prompt.text}
    return {"messages": [{"role": turn.role, "content": turn.content} for turn in prompt.turns]}


def _wanted_logprobs(prompt: Chat | Raw, top: int) -> dict[str, Any]:
    if isinstance(prompt, Raw):
        return {"logprobs": top}
    return {"logprobs": True, "top_logprobs": top} if top else {"logprobs": True}


@dataclass
class Gathered:
    """An answer that is being read, from one body or from the chunks of a stream."""

    text: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    refusal: list[str] = field(default_factory=list)
    tokens: list[TokenLogprob] = field(default_factory=list)
    has_text: bool = False
    finish: str | None = None
    usage: Usage | None = None
    served_by: str = ""
    fingerprint: str | None = None

    def take(self, data: Mapping[str, Any]) -> None:
        """What one body or chunk adds. Raises Unreadable where a field is of another kind than the protocol says."""
        self.served_by = _optional_text(data, "model") or self.served_by
        self.fingerprint = _optional_text(data, "system_fingerprint") or self.fingerprint
        if isinstance(usage := data.get("usage"), Mapping):
            self.usage = _usage(usage)
        choices = data.get("choices")
        if not isinstance(choices, Sequence) or isinstance(choices, str):
            raise Unreadable("no list of choices")
        for choice in choices[:1]:
            self._choice(_mapping(choice, "choice"))

    def _choice(self, choice: Mapping[str, Any]) -> None:
        self.finish = _optional_text(choice, "finish_reason") or self.finish
        said = choice.get("message", choice.get("delta", choice))
        said = _mapping(said, "message")
        for name, kept in (("content", self.text), ("text", self.text), ("refusal", self.refusal)):
            if (found := _optional_text(said, name)) is not None:
                kept.append(found)
                self.has_text |= kept is self.text
        reasoning = _optional_text(said, "reasoning_content") or _optional_text(said, "reasoning")
        self.reasoning += [reasoning] if reasoning else []
        if isinstance(logprobs := choice.get("logprobs"), Mapping):
            self.tokens += tokens_of(logprobs)

    def outcome(self, wanted_logprobs: bool) -> Reply | Failure:
        """The whole answer, judged: no content is no answer."""
        text, reasoning, refusal = "".join(self.text), "".join(self.reasoning), "".join(self.refusal)
        if refusal or self.finish == "content_filter":
            return Failure("refused", f"the endpoint declined to answer: {refusal or 'content_filter'}")
        if not text and self.finish == "length":
            spent = "all tokens went into reasoning" if reasoning else "the limit came before any text"
            return Failure("truncated", f"cut by max_tokens: {spent}", "raise max_tokens")
        if not self.has_text or (not text and reasoning):
            kind = "reasoning, but no content" if reasoning else "no content (null)"
            return Failure("no-content", f"the answer holds {kind}")
        reason = self._unusable(text) if wanted_logprobs else "not wanted"
        tokens = None if reason else tuple(self.tokens)
        finish = self.finish or "unknown"
        return Reply(text, finish, tokens, reason, self.usage, self.served_by, self.fingerprint, reasoning)

    def _unusable(self, text: str) -> str:
        """Why the log-probabilities are none of this text; empty where they are."""
        if not self.tokens and text:
            return NOT_GIVEN
        if any(not token.logprob <= 0 for token in self.tokens):
            return f"the endpoint gave {max(token.logprob for token in self.tokens):.3g}, which is no log-probability"
        written = self.usage.completion if self.usage and not self.reasoning else 0
        if len(self.tokens) + 1 < written or 2 * sum(len(token.text) for token in self.tokens) < len(text):
            return f"the endpoint gave {len(self.tokens)} for {written or 'more'} tokens"
        return ""


class Unreadable(Exception):
    """An answer that does not follow the protocol; the text says where."""


def tokens_of(logprobs: Mapping[str, Any]) -> list[TokenLogprob]:
    """Tokens of a chat answer (`content`) or of a completion (`tokens`, `token_logprobs`, `top_logprobs`).

    A token without a number is left out: the caller compares counts.
    """
    if isinstance(content := logprobs.get("content"), Sequence) and not isinstance(content, str):
        return [_chat_token(_mapping(token, "logprob")) for token in content if _number(token, "logprob") is not None]
    texts, numbers = _list(logprobs, "tokens"), _list(logprobs, "token_logprobs")
    tops = _list(logprobs, "top_logprobs") or [None] * len(texts)
    found = zip(texts, numbers, tops, strict=False)
    return [TokenLogprob(str(text), float(number), _top(top)) for text, number, top in found if _is_number(number)]


def answer_score(data: Mapping[str, Any], request: AnswerRequest) -> AnswerScore | Failure:
    """The part of an echo that belongs to the answer: every token that reaches beyond the prompt, up to its end.

    Fewer numbers than tokens is a failure, never a score.
    """
    assert isinstance(request.prompt, Raw)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Unreadable("no list of choices")
    logprobs = _mapping(choices[0], "choice").get("logprobs")
    if not isinstance(logprobs, Mapping):
        return Failure("malformed", "the endpoint accepts an echo and gives no log-probabilities for it")
    texts, numbers, tops = (_list(logprobs, name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    begins, end = len(request.prompt.text), len(request.prompt.text) + len(request.answer)
    chosen, at = [], 0
    for place, text in enumerate(texts):
        after = at + len(str(text))
        if after > begins and at < end:
            number = numbers[place] if place < len(numbers) else None
            if place == 0 or not _is_number(number):
                return Failure("malformed", f"the echo has no log-probability for token {place} of the answer")
            top = _top(tops[place]) if place < len(tops) else ()
            chosen.append(TokenLogprob(str(text), float(number), top))
        at = after
    if not chosen or at < end:
        return Failure("malformed", "the echo does not hold the whole answer")
    return AnswerScore(sum(token.logprob for token in chosen), tuple(chosen))


def error_text(body: str) -> str:
    """What an error body says, in whatever of the usual forms; at most 300 characters."""
    try:
        data = json.loads(body)
    except ValueError:
        data = None
    match data:
        case {"error": {"message": str(said)}} | {"message": str(said)} | {"detail": str(said)} | {"error": str(said)}:
            text = said
        case _:
            text = "" if is_page(body) else body
    return " ".join(text.split())[:300]


def is_page(body: str) -> bool:
    """Whether a body is a web page."""
    return body.lstrip()[:100].lower().startswith(("<!doctype", "<html", "<head", "<?xml"))


def model_names(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The names of `/models`."""
    listed = (row for row in _list(data, "data") if isinstance(row, Mapping))
    return tuple(str(row["id"]) for row in listed if isinstance(row.get("id"), str))


def stated_context(data: Mapping[str, Any], model: str) -> int | None:
    """The context that `/models` states for a model, under any of the names in use."""
    for row in _list(data, "data"):
        if isinstance(row, Mapping) and row.get("id") == model:
            meta = row.get("meta")
            places = [row, meta] if isinstance(meta, Mapping) else [row]
            for name in ("max_model_len", "context_length", "context_window", "n_ctx_train"):
                for place in places:
                    if isinstance(found := place.get(name), int) and not isinstance(found, bool) and found > 0:
                        return found
    return None


def _chat_token(token: Mapping[str, Any]) -> TokenLogprob:
    return TokenLogprob(str(token.get("token", "")), float(token["logprob"]), _top(token.get("top_logprobs")))


def _top(found: object) -> tuple[tuple[str, float], ...]:
    """Most probable first: a list of {token, logprob}, or a mapping from token to number."""
    pairs: Iterable[tuple[object, object]] = ()
    if isinstance(found, Mapping):
        pairs = found.items()
    elif isinstance(found, list):
        pairs = ((row.get("token"), row.get("logprob")) for row in found if isinstance(row, Mapping))
    kept = [(str(text), float(number)) for text, number in pairs if isinstance(number, int | float)]
    return tuple(sorted(kept, key=lambda pair: -pair[1]))


def _usage(usage: Mapping[str, Any]) -> Usage | None:
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens", 0)
    return Usage(prompt, completion or 0) if isinstance(prompt, int) and isinstance(completion, int | None) else None


def _mapping(found: object, what: str) -> Mapping[str, Any]:
    if not isinstance(found, Mapping):
        raise Unreadable(f"{what} is no object")
    return found


def _list(data: Mapping[str, Any], name: str) -> list[Any]:
    found = data.get(name)
    return found if isinstance(found, list) else []


def _optional_text(data: Mapping[str, Any], name: str) -> str | None:
    found = data.get(name)
    if found is not None and not isinstance(found, str):
        raise Unreadable(f"{name} is no text")
    return found


def _number(token: object, name: str) -> float | None:
    found = token.get(name) if isinstance(token, Mapping) else None
    return float(found) if _is_number(found) else None


def _is_number(found: object) -> TypeGuard[int | float]:
    return isinstance(found, int | float) and not isinstance(found, bool)
