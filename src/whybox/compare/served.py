"""A side of which only text and log-probabilities can be had: an endpoint, asked the same several times.

What it offers is found by asking: raw completions or chat alone, twenty or five of the most probable tokens, an echo of
the prompt with its numbers or none. Whatever it does not give is said, never guessed.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from whybox.compare.prompts import Text
from whybox.errors import EndpointError
from whybox.targets.target import (
    AnswerRequest,
    AnswerScore,
    Chat,
    Failure,
    Raw,
    Reply,
    Request,
    Sampling,
    Target,
    TokenLogprob,
    Turn,
)
from whybox.targets.until_done import until_closed

NOT_TOLD = "not told"
REPEATS = 3
"""How often every text is asked: what differs between equal calls is the side's own noise."""
TOPS = (20, 5, 0)
"""How many of the most probable tokens are asked for, until the endpoint accepts it."""
GREETING = Chat((Turn("user", "How long does a refund take?"),))
NO_ADDRESS = (404, 405, 501)


@dataclass(frozen=True)
class Served:
    """An endpoint as a side. precision: of its arithmetic, where the user knows it."""

    name: str
    target: Target
    precision: str = NOT_TOLD


@dataclass(frozen=True)
class Heard:
    """What a side said behind one text. replies: of equal calls, the first one first; empty where none came.

    echo: numbers of the prompt's own tokens, twice; head: how many characters of the text come before them.
    """

    text: Text
    replies: tuple[Reply, ...]
    ids: tuple[int, ...] | None = None
    echo: tuple[AnswerScore, ...] = ()
    head: int = 0
    chat: bool = False

    @property
    def prompt_tokens(self) -> int | None:
        usage = self.replies[0].usage if self.replies else None
        return len(self.ids) if self.ids is not None else None if usage is None else usage.prompt

    @property
    def written(self) -> str:
        return self.replies[0].text

    @property
    def tokens(self) -> tuple[TokenLogprob, ...]:
        return self.replies[0].tokens or () if self.replies else ()

    @property
    def unsteady(self) -> int:
        """How many of the equal calls were answered by another text than the first."""
        return sum(reply.text != self.written for reply in self.replies[1:])

    @property
    def noise(self) -> float:
        """The largest change of a log-probability between equal calls, nats, up to where their texts part."""
        streams = [reply.tokens or () for reply in self.replies]
        echoes = [score.tokens for score in self.echo]
        return max((_moved(each[0], other) for each in (streams, echoes) for other in each[1:]), default=0.0)


@dataclass(frozen=True)
class Told:
    """Everything that a side said. greeting: prompt tokens of one chat message. reasons: what it does not offer."""

    heard: tuple[Heard, ...]
    greeting: int | None
    reasons: tuple[tuple[str, str], ...]

    @property
    def noise(self) -> float:
        return max((each.noise for each in self.heard), default=0.0)


def ask(side: Served, texts: Sequence[Text], tokens: int) -> Told:
    """EndpointError where it cannot be asked at all."""
    return until_closed(_Asking(side, max(1, tokens)).all(texts), [side.target])


@dataclass
class _Asking:
    """One interview: what was found to work for the first text is kept for the others."""

    side: Served
    tokens: int
    tops: list[int | None] = field(default_factory=lambda: [*TOPS, None])
    by_chat: bool = False
    reasons: dict[str, str] = field(default_factory=dict)

    async def all(self, texts: Sequence[Text]) -> Told:
        heard = [await self.one(text) for text in texts]
        greeting = await self.side.target.ask(Request(GREETING, Sampling(max_tokens=1)))
        usage = greeting.usage if isinstance(greeting, Reply) else None
        return Told(tuple(heard), None if usage is None else usage.prompt, tuple(self.reasons.items()))

    async def one(self, text: Text) -> Heard:
        first, prompt = await self.first(text)
        if isinstance(first, Failure):
            self.reasons[f"text {text.name}"] = first.cause
            return Heard(text, ())
        again = [await self.reply(prompt, number) for number in range(1, REPEATS)]
        replies = (first, *(each for each in again if isinstance(each, Reply)))
        if first.tokens is None:
            self.reasons["log-probabilities"] = first.tokens_reason
        echo, head = await self.echo(prompt, text)
        ids = await self.side.target.ids(prompt)
        return Heard(text, replies, ids, echo, head, isinstance(prompt, Chat))

    async def first(self, text: Text) -> tuple[Reply | Failure, Raw | Chat]:
        """The first answer, with what the endpoint accepts; what it refuses is not asked for again."""
        while True:
            prompt = self.prompt(text)
            outcome = await self.reply(prompt, 0)
            if isinstance(outcome, Reply):
                return outcome, prompt
            if isinstance(prompt, Raw) and outcome.status in NO_ADDRESS and not self.by_chat:
                self.by_chat = True
                self.reasons["raw text"] = f"asked as chat messages: {outcome.cause}"
            elif outcome.status == 400 and len(self.tops) > 1:
                self.tops.pop(0)
            elif outcome.fatal or outcome.kind in ("unreachable", "transport", "timeout", "malformed"):
                raise EndpointError(outcome.cause, outcome.remedy)
            else:
                return outcome, prompt

    def prompt(self, text: Text) -> Raw | Chat:
        if text.chat is not None:
            return text.chat
        return Chat((Turn("user", text.text or ""),)) if self.by_chat else Raw(text.text or "")

    async def reply(self, prompt: Raw | Chat, repeat: int) -> Reply | Failure:
        sampling = Sampling(0.0, max_tokens=self.tokens)
        return await self.side.target.ask(Request(prompt, sampling, self.tops[0], repeat))

    async def echo(self, prompt: Raw | Chat, text: Text) -> tuple[tuple[AnswerScore, ...], int]:
        """Numbers of the prompt's own tokens behind its first word, twice."""
        if isinstance(prompt, Chat):
            return (), 0
        head = first_word(prompt.text)
        request = AnswerRequest(Raw(prompt.text[:head]), prompt.text[head:], self.tops[0] or 0)
        scores = [await self.side.target.score(request) for _ in range(2)]
        if failed := next((each for each in scores if isinstance(each, Failure)), None):
            self.reasons[f"prompt of {text.name}"] = failed.cause
            return (), 0
        return tuple(each for each in scores if isinstance(each, AnswerScore)), head


def first_word(text: str) -> int:
    """Characters up to the first blank; of a text without one, its first half."""
    found = re.match(r"\s*\S+(?=\s)", text)
    return found.end() if found else max(1, len(text) // 2)


def _moved(one: Sequence[TokenLogprob], other: Sequence[TokenLogprob]) -> float:
    most = 0.0
    for a, b in zip(one, other, strict=False):
        if a.text != b.text:
            break
        known = dict(b.top)
        pairs = [(a.logprob, b.logprob), *((value, known[text]) for text, value in a.top if text in known)]
        most = max(most, *(abs(x - y) for x, y in pairs))
    return most
