"""A model behind an address: any server that speaks the OpenAI protocol (vLLM, SGLang, llama.cpp, Ollama, hosted).

A call ends in exactly one outcome, with the list of its attempts. Retries, backoff and the pace follow `pace.py`. What
comes from the endpoint passes `Secrets.hide` before it is kept.
"""

import asyncio
import json
import random
import re
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import starmap
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import urlsplit

from whybox.errors import EndpointError, UsageError
from whybox.targets import choosing, wire
from whybox.targets.exchange import Answer, Broken, Connection, Lanes, Route, Unreached
from whybox.targets.pace import Gate, Patience, concurrently, persistently
from whybox.targets.refusals import malformed, page, parsed, refusal, unreached
from whybox.targets.secrets import Key, Secrets
from whybox.targets.sse import EventStream
from whybox.targets.target import (
    YES,
    Abilities,
    AnswerRequest,
    AnswerScore,
    Chat,
    Failure,
    Identity,
    Outcome,
    Raw,
    Reply,
    Request,
    Sampling,
    ScoreOutcome,
    Turn,
    no,
)
from whybox.version import __version__

OWN_FIELDS = frozenset({"model", "messages", "prompt", "stream", "n"})  # what bookkeeping relies on
USUAL = Patience()
OK = 200
REPEAT_HEADER = "x-whybox-repeat"
_HEADERS = {
    "User-Agent": f"whybox/{__version__}",
    "Accept": "application/json, text/event-stream",
    "Accept-Encoding": "identity",
    "Content-Type": "application/json",
}
_CREDENTIAL = re.compile("auth|key|token|cookie|secret|credential|password|signature", re.IGNORECASE)
WAITING = 4  # calls that wait to be made again hold no place, so others are started: up to so many times as many

F = TypeVar("F", Reply | Failure, AnswerScore | Failure)


@dataclass(frozen=True)
class Endpoint:
    """Where a model is served and how it is asked. The key comes from the environment, never from a file or an option.

    timeout: seconds for one attempt as a whole. concurrency: calls under way at once, at most. extra_body: fields that
    are added to every body. extra_headers: their values are treated as secrets. ca_file: certificates to trust.
    limit_name: how this endpoint calls the limit of tokens of a chat. stream: read answers piece by piece.
    """

    model: str
    base_url: str = "https://api.openai.com/v1"
    key: Key | None = None
    stream: bool = False
    timeout: float = 60.0
    patience: Patience = USUAL
    concurrency: int = 8
    extra_body: Mapping[str, Any] = field(default_factory=dict)
    extra_headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    ca_file: Path | None = None
    limit_name: wire.LimitName = "max_tokens"

    def __post_init__(self) -> None:
        require_address(self.base_url)
        if self.timeout <= 0 or self.concurrency < 1 or self.patience.max_retries < 0:
            raise UsageError(
                f"expected timeout > 0, concurrency ≥ 1 and max_retries ≥ 0, found {self.timeout}, "
                f"{self.concurrency} and {self.patience.max_retries}"
            )
        if taken := OWN_FIELDS & set(self.extra_body):
            raise UsageError(f"extra_body cannot set {', '.join(sorted(taken))}", "these are set by the request itself")
        if self.ca_file is not None and not self.ca_file.is_file():
            raise UsageError(f"ca_file {self.ca_file}: there is no such file")

    @property
    def identity(self) -> Identity:
        """Model, address and what is added to every call; no key, and of a header its name and a digest alone."""
        details = {
            "base_url": self.base_url.rstrip("/"),
            "stream": str(self.stream),
            "limit_name": self.limit_name,
        }
        if self.extra_headers:
            details["extra_headers"] = " ".join(sorted(starmap(_header_name, self.extra_headers.items())))
        if self.extra_body:
            details["extra_body"] = json.dumps(dict(self.extra_body), sort_keys=True)
        return Identity("endpoint", self.model, tuple(sorted(details.items())))


def _header_name(name: str, value: str) -> str:
    """A header in an identity: a digest beside its name, unless it says who asks and nothing of what is asked."""
    if _CREDENTIAL.search(name):
        return name.lower()
    return f"{name.lower()}={blake2b(value.encode('utf-8', 'surrogatepass'), digest_size=8).hexdigest()}"


def require_address(url: str) -> None:
    """UsageError for what is no plain http address: keys and passwords have no place in one."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError("base_url is no address", "for instance http://127.0.0.1:8000/v1") from None
    if parts.scheme not in ("http", "https") or not parts.hostname or port == 0:
        raise UsageError(
            f"base_url: expected http://… or https://…, found scheme {parts.scheme!r}", "set OPENAI_BASE_URL"
        )
    if parts.username or parts.password or parts.query or parts.fragment:
        raise UsageError(
            "base_url holds a user name, a password or a query", "keys come from the environment (OPENAI_API_KEY)"
        )


@dataclass(eq=False)
class OpenAITarget:
    """An endpoint as a target. Connections are opened when the first call is made, and kept until `close`.

    draw: of the jitter. clock: seconds, for durations.
    """

    endpoint: Endpoint
    draw: random.Random = field(default_factory=random.Random, repr=False)
    clock: Callable[[], float] = field(default=time.perf_counter, repr=False)
    _lanes: Lanes | None = field(default=None, init=False, repr=False)
    _gate: Gate | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        self._secrets = Secrets(self.endpoint.key, self.endpoint.extra_headers)
        self._base = self.endpoint.base_url.rstrip("/")

    @property
    def identity(self) -> Identity:
        return self.endpoint.identity

    @property
    def abilities(self) -> Abilities:
        return Abilities(chat=YES, shared_prefixes=no("the endpoint's own affair"))

    async def ask(self, request: Request) -> Outcome:
        """One answer, with the retries that the endpoint's patience allows."""
        if request.choices:
            return choosing.by_first_token(request, await self.ask(choosing.first_token(request)))
        end = self.endpoint
        body = wire.body_of(request, end.model, end.limit_name, end.stream) | dict(end.extra_body)
        path, wanted = wire.path_of(request.prompt), request.logprobs is not None
        read = self._streamed if end.stream else self._whole
        if isinstance(content := _encoded(body), Failure):
            return content

        async def attempt() -> Outcome:
            return self._hidden(await read(path, content, request.repeat, wanted))

        return await self._persistently(attempt)

    def ask_all(self, requests: Iterable[Request]) -> AsyncIterator[tuple[int, Outcome]]:
        """Outcomes as they come, `concurrency` calls under way."""
        return concurrently(self.ask, requests, WAITING * self.endpoint.concurrency)

    async def score(self, request: AnswerRequest) -> ScoreOutcome:
        """log P of a given answer, from an echo of raw text. A Failure where the endpoint gives no numbers for it."""
        if isinstance(request.prompt, Chat):
            return Failure("malformed", wire.ONLY_RAW)
        content = _encoded(wire.answer_body(request, self.endpoint.model) | dict(self.endpoint.extra_body))
        if isinstance(content, Failure):
            return content

        async def attempt() -> ScoreOutcome:
            found = await self._json("POST", "/completions", content, request.repeat)
            if isinstance(found, Failure):
                return found
            try:
                return wire.answer_score(found, request)
            except wire.Unreadable as odd:
                return Failure("malformed", f"the answer does not follow the protocol: {odd}")

        return await self._persistently(attempt)

    def score_all(self, requests: Iterable[AnswerRequest]) -> AsyncIterator[tuple[int, ScoreOutcome]]:
        """Scores as they come."""
        return concurrently(self.score, requests, WAITING * self.endpoint.concurrency)

    async def ids(self, prompt: Chat | Raw) -> tuple[int, ...] | None:
        """From `/tokenize`, as vLLM and llama.cpp serve it beside or below the base address; else None."""
        body: dict[str, Any] = {"model": self.endpoint.model}
        if isinstance(prompt, Raw):
            body |= {"prompt": prompt.text, "content": prompt.text}
        else:
            body |= {"messages": wire.body_of(Request(prompt), "", "max_tokens", False)["messages"]}
            body |= {"add_generation_prompt": True}
        content = _encoded(body)
        if isinstance(content, Failure):
            return None
        for path in (f"{self._root}/tokenize", "/tokenize"):
            found = await self._json("POST", path, content)
            if isinstance(found, Mapping) and isinstance(tokens := found.get("tokens"), list):
                return tuple(tokens) if tokens and all(isinstance(token, int) for token in tokens) else None
        return None

    async def models(self) -> tuple[tuple[str, ...], int | None] | Failure:
        """The names that the endpoint lists, and the context that it states for ours."""
        found = await self._json("GET", "/models")
        if isinstance(found, Failure):
            return found
        return wire.model_names(found), wire.stated_context(found, self.endpoint.model)

    async def require_ready(self) -> Reply:
        """One call of one token. EndpointError says in one message what keeps every call from working."""
        outcome = await self.ask(Request(Chat((Turn("user", "Hello"),)), Sampling(max_tokens=1)))
        if isinstance(outcome, Reply):
            return outcome
        if outcome.kind in ("no-content", "truncated", "refused"):  # it answers, if not with text
            return Reply("", outcome.kind)
        raise EndpointError(outcome.cause, outcome.remedy)

    async def close(self) -> None:
        """Closes the connections."""
        if self._lanes is not None:
            self._lanes.close()
        self._lanes, self._gate = None, None

    @property
    def _root(self) -> str:
        """The address without its `/v1`, as an absolute one."""
        return self._base.removesuffix("/v1")

    def _exchange(
        self, method: str, path: str, content: bytes, repeat: int
    ) -> AbstractAsyncContextManager[tuple[Answer, Connection]]:
        """One request and its answer. A path that begins with http is an address of its own."""
        if self._lanes is None:
            tls = _trust(self.endpoint.ca_file) if self._base.startswith("https") else None
            self._lanes = Lanes(Route.to(self._base, tls), _HEADERS | self._secrets.headers())
        url = path if path.startswith("http") else self._base + path
        return self._lanes.exchange(method, url, content, b"%b: %d\r\n" % (REPEAT_HEADER.encode(), repeat))

    async def _persistently(self, attempt: Callable[[], Awaitable[F]]) -> F:
        if self._gate is None:
            self._gate = Gate(self.endpoint.concurrency)
        return await persistently(attempt, self.endpoint.patience, self._gate, self.draw, self.clock)

    async def _whole(self, path: str, content: bytes, repeat: int, wanted: bool) -> Outcome:
        found = await self._json("POST", path, content, repeat)
        if isinstance(found, Failure):
            return found
        gathered = wire.Gathered()
        try:
            gathered.take(found)
        except wire.Unreadable as odd:
            return malformed(f"the answer does not follow the protocol: {odd}")
        return gathered.outcome(wanted)

    async def _streamed(self, path: str, content: bytes, repeat: int, wanted: bool) -> Outcome:
        gathered, events, first, begun = wire.Gathered(), EventStream(), None, self.clock()
        try:
            async with (
                asyncio.timeout(self.endpoint.timeout),
                self._exchange("POST", path, content, repeat) as (answer, connection),
            ):
                if answer.status != OK:
                    return self._refused(answer, await connection.whole())
                if "html" in answer.headers.get("content-type", ""):
                    return page(self._base)
                async for piece in connection.pieces():
                    for event in events.feed(piece):
                        if first is None:
                            first = self.clock() - begun
                        if (failed := _taken(gathered, event)) is not None:
                            return failed
        except TimeoutError:
            return self._too_late()
        except (Unreached, Broken) as problem:
            return self._unreached(problem)
        for event in events.end():
            if (failed := _taken(gathered, event)) is not None:
                return failed
        if gathered.finish is None:
            return Failure("transport", "the stream ended before the answer was finished", again=True)
        outcome = gathered.outcome(wanted)
        return replace(outcome, first_token_s=first) if isinstance(outcome, Reply) else outcome

    async def _json(self, method: str, path: str, content: bytes = b"", repeat: int = 0) -> Mapping[str, Any] | Failure:
        """The JSON object that an address answers with."""
        try:
            async with (
                asyncio.timeout(self.endpoint.timeout),
                self._exchange(method, path, content, repeat) as (answer, connection),
            ):
                body = await connection.whole()
        except TimeoutError:
            return self._too_late()
        except (Unreached, Broken) as problem:
            return self._unreached(problem)
        if answer.status != OK:
            return self._refused(answer, body)
        found = parsed(body, self._base)
        return replace(found, cause=self._secrets.hide(found.cause)) if isinstance(found, Failure) else found

    def _refused(self, answer: Answer, body: bytes) -> Failure:
        said = self._secrets.hide(body.decode("utf-8", "replace"))
        found = refusal(self.endpoint.model, self._base, self.endpoint.key, answer, said)
        return replace(found, cause=self._secrets.hide(found.cause))  # JSON may spell it otherwise: `\/`, `\u002d`

    def _unreached(self, problem: Unreached | Broken) -> Failure:
        return unreached(self._base, problem, self._secrets.hide(str(problem)))

    def _too_late(self) -> Failure:
        return Failure("timeout", f"no answer within {self.endpoint.timeout:g} s", "raise the timeout", again=True)

    def _hidden(self, outcome: Outcome) -> Outcome:
        """The outcome with nothing in it that an endpoint repeats of our secrets."""
        hide = self._secrets.hide
        if isinstance(outcome, Failure):
            return replace(outcome, cause=hide(outcome.cause))
        text = hide(outcome.text)
        if text != outcome.text:  # its tokens spell the secret out piece by piece
            outcome = replace(outcome, text=text, tokens=None, tokens_reason="the text repeats a secret")
        return replace(outcome, reasoning=hide(outcome.reasoning))


def _taken(gathered: wire.Gathered, event: str) -> Failure | None:
    """One event of a stream; a Failure where it is none, or tells of one."""
    if event.strip() == "[DONE]":
        return None
    try:
        data = json.loads(event)
    except ValueError:
        return malformed("an event of the stream is no JSON")
    if isinstance(data, Mapping) and data.get("error"):
        return Failure("http", f"the stream broke off: {wire.error_text(event)}", again=True)
    try:
        gathered.take(data if isinstance(data, Mapping) else {})
    except wire.Unreadable as odd:
        return malformed(f"an event does not follow the protocol: {odd}")
    return None


def _encoded(body: Mapping[str, Any]) -> bytes | Failure:
    """The bytes of a body. Half a surrogate pair has none, and is not replaced by something that nobody wrote."""
    try:
        return json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        return Failure("prompt", f"character {error.start} of the request is half a surrogate pair and has no bytes")


def _trust(ca_file: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca_file is None else str(ca_file))
    except (ssl.SSLError, OSError) as problem:
        raise UsageError(f"ca_file {ca_file} holds no certificates: {problem}") from problem
