"""The OpenAI protocol as data: a request → a body, a body or a stream of chunks → a reply or a failure.

Nothing here touches a network. A body is judged strictly: what is missing is a failure or None with a reason, never a
value by default.
"""

import json
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise, zip_longest
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
CUT = "\ufffd"  # in the text of a token that is part of a character
_BOS = re.compile(r"(<[^<>]*>|\[[A-Z]+\])?")  # as servers show one: `<s>`, `<|begin_of_text|>`, `[CLS]` or nothing
ROUNDING = 1e-6  # nats by which a log-probability of a sure token may come out above 0
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
        missing = [place for place, token in enumerate(self.tokens) if math.isnan(token.logprob)]
        if len(missing) == len(self.tokens) and text:
            return NOT_GIVEN
        if missing:
            return f"the endpoint gave no number for token {missing[0]} of {len(self.tokens)}"
        if odd := [token.logprob for token in self.tokens if not _is_logprob(token.logprob)]:
            return f"the endpoint gave {odd[0]:.3g}, which is no log-probability"
        written = self.usage.completion if self.usage and not self.reasoning else 0
        if len(self.tokens) + 1 < written or 2 * sum(len(token.text) for token in self.tokens) < len(text):
            return f"the endpoint gave {len(self.tokens)} for {written or 'more'} tokens"
        return ""


class Unreadable(Exception):
    """An answer that does not follow the protocol; the text says where."""


def tokens_of(logprobs: Mapping[str, Any]) -> list[TokenLogprob]:
    """Tokens of a chat answer (`content`) or of a completion (`tokens`, `token_logprobs`, `top_logprobs`).

    A token without a number has NaN, so that it is missed where it stands.
    """
    if isinstance(content := logprobs.get("content"), Sequence) and not isinstance(content, str):
        return [_chat_token(_mapping(token, "logprob")) for token in content]
    lists = (_list(logprobs, name) for name in ("tokens", "token_logprobs", "top_logprobs"))
    return [TokenLogprob(str(text or ""), _logprob(number), _top(top)) for text, number, top in zip_longest(*lists)]


def answer_score(data: Mapping[str, Any], request: AnswerRequest) -> AnswerScore | Failure:
    """The part of an echo that belongs to the answer: every token that reaches beyond the prompt, up to its end.

    The echo must be what was sent, behind a BOS at most, and hold a log-probability for every token but the first. What
    misses one, or stands elsewhere, is a failure, never a score.
    """
    assert isinstance(request.prompt, Raw)
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        raise Unreadable("no list of choices")
    logprobs = _mapping(choices[0], "choice").get("logprobs")
    if not isinstance(logprobs, Mapping):
        return Failure("malformed", "the endpoint accepts an echo and gives no log-probabilities for it")
    tokens, sent = tokens_of(logprobs), request.prompt.text + request.answer
    spans = _spans(tokens, _list(logprobs, "text_offset"), sent)
    if spans is None:
        return Failure("malformed", "the echo is not the text that was sent, so its numbers belong to another")
    begins, end = len(request.prompt.text), len(sent)
    last = max((place for place, (start, _) in spans.items() if start < end), default=0)
    chosen = [place for place, (start, after) in spans.items() if (after > begins or start >= begins) and start < end]
    if not chosen or chosen[0] == 0:
        return Failure("malformed", "the echo has no log-probability for token 0, with which the answer begins")
    if _is_logprob(tokens[0].logprob) and tokens[0].logprob < 0:
        return Failure("malformed", "the echo has a number for its first token, before which nothing stands")
    for place in range(1, last + 1):
        if not _is_logprob(number := tokens[place].logprob):
            found = "no log-probability" if math.isnan(number) else f"{number:.3g}, which is no log-probability,"
            return Failure("malformed", f"the echo has {found} for token {place} of {last + 1}")
    answer = tuple(tokens[place] for place in chosen)
    return AnswerScore(math.fsum(token.logprob for token in answer), answer)


def _spans(tokens: Sequence[TokenLogprob], offsets: Sequence[object], sent: str) -> dict[int, tuple[int, int]] | None:
    """Characters of the text that was sent which each token covers, by its place; None where they are of another text.

    A token in front that is none of the text, a BOS, is left out. Tokens that are parts of a character show nothing of
    it; their places are told by `text_offset`, if the whole tokens stand where that says.
    """
    whole = [_data(token.text) for token in tokens]
    in_front = (0, 1) if tokens and _BOS.fullmatch(tokens[0].text) else (0,)
    for skipped in in_front:
        if b"".join(whole[skipped:]).startswith(sent.encode("utf-8", "surrogatepass")):
            return _laid(whole, skipped, sent)
    places = [offset for offset in offsets if isinstance(offset, int)]
    if not tokens or len(places) != len(tokens):
        return None
    for skipped in in_front:
        if (found := _placed([token.text for token in tokens], places, skipped, sent)) is not None:
            return found
    return None


def _laid(whole: Sequence[bytes], skipped: int, sent: str) -> dict[int, tuple[int, int]]:
    """Tokens end to end. A character that is cut counts as reached by each of its parts."""
    ends = [0]
    for character in sent:
        ends.append(ends[-1] + len(character.encode("utf-8", "surrogatepass")))
    spans, at = {}, 0
    for place, data in enumerate(whole[skipped:], skipped):
        if at >= ends[-1]:
            break
        start = bisect_right(ends, at) - 1
        spans[place] = (start, max(start, bisect_left(ends, min(at + len(data), ends[-1]))))
        at += len(data)
    return spans


def _placed(texts: Sequence[str], offsets: Sequence[int], skipped: int, sent: str) -> dict[int, tuple[int, int]] | None:
    """Tokens where `text_offset` puts them; None where one does not stand there, or they leave a gap."""
    kept, places = texts[skipped:], [place - offsets[skipped] for place in offsets[skipped:]] if texts[skipped:] else []
    if not kept or any(a > b for a, b in pairwise(places)):
        return None
    after = [*places[1:], max(places[-1] + len(kept[-1]), places[-1])]
    for text, start, end in zip(kept, places, after, strict=True):
        is_cut = text == "" or CUT in text
        if (
            start < len(sent)
            and not is_cut
            and (sent[start : start + len(text)] != text[: len(sent) - start] or end != start + len(text))
        ):
            return None
    if after[-1] < len(sent):
        return None
    return {place: span for place, span in enumerate(zip(places, after, strict=True), skipped) if span[0] < len(sent)}


def _data(text: str) -> bytes:
    """The bytes that a token shows; parts of a character are written `bytes:\\xe5\\xa4`."""
    if match := re.fullmatch(r"bytes:((?:\\x[0-9a-fA-F]{2})+)", text):
        return bytes.fromhex(match[1].replace("\\x", ""))
    return text.encode("utf-8", "surrogatepass")


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
    return TokenLogprob(str(token.get("token", "")), _logprob(token.get("logprob")), _top(token.get("top_logprobs")))


def _top(found: object) -> tuple[tuple[str, float], ...]:
    """Most probable first: a list of {token, logprob}, or a mapping from token to number; none where one is odd."""
    pairs: Iterable[tuple[object, object]] = ()
    if isinstance(found, Mapping):
        pairs = found.items()
    elif isinstance(found, list):
        pairs = ((row.get("token"), row.get("logprob")) for row in found if isinstance(row, Mapping))
    kept = [(str(text), _logprob(number)) for text, number in pairs if _is_number(number)]
    if not all(number <= 0 for _, number in kept):  # NaN too; −∞ is a token that is ruled out
        return ()
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


def _logprob(found: object) -> float:
    """A number as it came, rounding above 0 taken off; NaN where there is none."""
    number = float(found) if _is_number(found) else math.nan
    return 0.0 if 0 < number <= ROUNDING else number


def _is_logprob(number: float) -> bool:
    return math.isfinite(number) and number <= 0


def _is_number(found: object) -> TypeGuard[int | float]:
    return isinstance(found, int | float) and not isinstance(found, bool)
