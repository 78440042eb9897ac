"""Answers of bots in the OpenAI protocol, and its bodies as requests."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from whybox.targets.bots.play import Echo, Said
from whybox.targets.target import AnswerRequest, Chat, Raw, Request, Sampling, TokenLogprob, Turn, Usage


class BadRequest(Exception):
    """A body that asks for what cannot be meant; the text says what."""


def request_of(path: str, body: Mapping[str, Any]) -> Request | AnswerRequest:
    """The request that a body makes. Raises BadRequest."""
    try:
        return _request(path, body)
    except (KeyError, TypeError, ValueError) as odd:
        raise BadRequest(f"cannot read the request: {type(odd).__name__}: {odd}") from odd


def _request(path: str, body: Mapping[str, Any]) -> Request | AnswerRequest:
    prompt: Chat | Raw
    if path.endswith("/chat/completions"):
        prompt = Chat(tuple(Turn(str(row["role"]), _content(row["content"])) for row in body["messages"]))
        logprobs = int(body.get("top_logprobs") or 0) if body.get("logprobs") else None
        limit = body.get("max_completion_tokens") or body.get("max_tokens") or 64
    else:
        prompt = Raw(str(body["prompt"]))
        logprobs = None if body.get("logprobs") is None else int(body["logprobs"])
        limit = body.get("max_tokens") or 64
        if body.get("echo"):
            return AnswerRequest(prompt, "", logprobs or 0)
    stop = body.get("stop") or ()
    stops = (stop,) if isinstance(stop, str) else tuple(map(str, stop))
    temperature = body.get("temperature")
    top_p, seed = body.get("top_p"), body.get("seed")
    sampling = Sampling(
        1.0 if temperature is None else float(temperature),
        None if top_p is None else float(top_p),
        int(limit),
        None if seed is None else int(seed),
        stops,
    )
    return Request(prompt, sampling, logprobs)


def _content(content: object) -> str:
    """A text, or a list of parts of which the texts count."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        raise TypeError("content is neither a text nor a list of parts")
    return content


def body_of(said: Said, request: Request, model: str, number: int) -> dict[str, Any]:
    """A whole answer."""
    chat = isinstance(request.prompt, Chat)
    choice: dict[str, Any] = {"index": 0, "finish_reason": said.finish}
    if chat:
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        choice["message"] = message | ({"reasoning_content": said.reasoning} if said.reasoning else {})
    else:
        choice["text"] = said.text
    if said.told:
        choice["logprobs"] = _logprobs(said.tokens, chat)
    return {
        "id": f"bot-{number}",
        "object": "chat.completion" if chat else "text_completion",
        "created": 0,
        "model": model,
        "choices": [choice],
        "usage": _usage(said.usage),
        "system_fingerprint": None,
    }


def chunks_of(said: Said, request: Request, model: str, number: int) -> Iterator[bytes]:
    """The same as a stream: a comment, one event a token, the end, the usage, `[DONE]`."""
    chat = isinstance(request.prompt, Chat)
    head = {"id": f"bot-{number}", "object": "chat.completion.chunk", "created": 0, "model": model}
    yield b": a bot\n\n"
    if said.reasoning:
        yield _event(head | {"choices": [{"index": 0, "delta": {"reasoning_content": said.reasoning}}]})
    for place, (text, token) in enumerate(_pieces(said)):
        choice: dict[str, Any] = {"index": 0, "finish_reason": None}
        choice |= {"delta": {"content": text}} if chat else {"text": text}
        if chat and place == 0:
            choice["delta"]["role"] = "assistant"
        if said.told and token is not None:
            choice["logprobs"] = _logprobs((token,), chat)
        yield _event(head | {"choices": [choice]})
    end: dict[str, Any] = {"index": 0, "finish_reason": said.finish, **({"delta": {}} if chat else {"text": ""})}
    if said.text is None and not chat:
        del end["text"]
    yield _event(head | {"choices": [end]})
    yield _event(head | {"choices": [], "usage": _usage(said.usage)})
    yield b"data: [DONE]\n\n"


def echo_of(echo: Echo, model: str, number: int) -> dict[str, Any]:
    """The answer to a text that is to be scored."""
    logprobs = None
    if echo.numbers is not None:
        tops = [dict(top) for top in echo.tops] if echo.tops else [{}] * len(echo.tokens)
        logprobs = {"tokens": list(echo.tokens), "token_logprobs": list(echo.numbers), "top_logprobs": tops}
    choice = {"index": 0, "finish_reason": "length", "text": "".join(echo.tokens), "logprobs": logprobs}
    head = {"id": f"bot-{number}", "object": "text_completion", "created": 0, "model": model}
    return head | {"choices": [choice], "usage": _usage(echo.usage)}


def _pieces(said: Said) -> Iterator[tuple[str, TokenLogprob | None]]:
    """The text in pieces, with the log-probability of each where there are as many."""
    if said.tokens:
        covered = "".join(token.text for token in said.tokens)
        yield from ((token.text, token) for token in said.tokens)
        if said.text and len(covered) < len(said.text):
            yield said.text[len(covered) :], None
    elif said.text:
        middle = (len(said.text) + 1) // 2
        yield from ((piece, None) for piece in (said.text[:middle], said.text[middle:]) if piece)
    elif said.text == "":
        yield "", None


def _event(data: Mapping[str, Any]) -> bytes:
    return f"data: {json.dumps(data, ensure_ascii=False)}\n\n".encode()


def _usage(usage: Usage) -> dict[str, int]:
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
    }


def _logprobs(tokens: tuple[TokenLogprob, ...] | None, chat: bool) -> dict[str, Any] | None:
    if tokens is None:
        return None
    if chat:
        return {"content": [
            {"token": t.text, "logprob": t.logprob, "top_logprobs": [{"token": x, "logprob": n} for x, n in t.top]}
            for t in tokens
        ]}  # fmt: skip
    texts, numbers = [token.text for token in tokens], [token.logprob for token in tokens]
    return {"tokens": texts, "token_logprobs": numbers, "top_logprobs": [dict(token.top) for token in tokens]}
