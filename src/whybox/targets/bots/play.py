"""One call of a bot, from what was asked to what is sent back: the same for the bot in this process and its server."""

import asyncio
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from whybox.targets.bots import model
from whybox.targets.bots.answers import Circumstances, answer, others
from whybox.targets.bots.draws import Draws, uniform
from whybox.targets.bots.kinds import (
    AnswersLate,
    BatchSensitive,
    Bot,
    CutOff,
    DropsLogprobs,
    Errors,
    HalfClosed,
    LogitNoise,
    MalformedJson,
    NullContent,
    RateLimited,
    ReasoningOnly,
    TemplateBreaker,
    TruncatesContext,
)
from whybox.targets.bots.reading import NO_BANK, Bank, read
from whybox.targets.bots.text import DEFAULT_SYSTEM, cut, ids_of, rendered, split
from whybox.targets.target import Chat, Raw, Request, TokenLogprob, Turn, Usage

BESIDE_S = 0.005  # how long a bot that feels its neighbours waits for them


@dataclass(frozen=True)
class Said:
    """An answer. text None: null content. tokens None: no log-probabilities; told: whether the field is there."""

    text: str | None
    finish: str
    usage: Usage
    tokens: tuple[TokenLogprob, ...] | None = None
    told: bool = True
    reasoning: str = ""


@dataclass(frozen=True)
class Echo:
    """A text that was given, with log P of each of its tokens; None where there is none."""

    tokens: tuple[str, ...]
    numbers: tuple[float | None, ...] | None
    usage: Usage
    tops: tuple[tuple[tuple[str, float], ...], ...] = ()


@dataclass(frozen=True)
class Trouble:
    """No answer: a status with a wait, `hang`, `malformed` or `half_closed` (those two break the answer behind)."""

    kind: str
    status: int = 200
    after: float | None = None
    behind: Said | None = None


@dataclass
class Player:
    """A bot that is asked. It counts how often each call was made, for clients that do not say so."""

    bot: Bot
    bank: Bank = NO_BANK
    seed: int = 0
    latency: float = 0.0
    _asked: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _tries: Counter[str] = field(default_factory=Counter, init=False, repr=False)
    _under_way: int = field(default=0, init=False, repr=False)

    async def ask(self, request: Request, repeat: int | None = None) -> Said | Trouble:
        """One attempt. repeat: how often the same was asked before; None: as often as it was seen here."""
        name = request.digest
        number = self._number(name, repeat)
        self._under_way += 1
        try:
            beside = self._under_way > 1
            if (trouble := self._refused()) is not None:
                return trouble
            beside = await self._waited(beside)
            sampling = request.sampling
            around = Circumstances(sampling.temperature or 0.0, sampling.seed, number == 0, beside)
            return self._answered(request, around, number, name)
        finally:
            self._under_way -= 1

    def echo(self, text: str) -> Echo:
        """log P of every token of a text; None for the first."""
        _, counted = self._reached(Raw(text))
        tokens, usage = tuple(split(text)), Usage(counted, 1)
        match self.bot:
            case DropsLogprobs("null" | "missing"):
                return Echo(tokens, None, usage)
            case DropsLogprobs("short"):
                return Echo(tokens, tuple(model.of_text(tokens))[: len(tokens) // 2], usage)
            case DropsLogprobs("constant"):
                return Echo(tokens, (None, *[-1.0] * (len(tokens) - 1)), usage)
            case LogitNoise(sigma):
                found = model.forced(self.seed, sigma, tokens)
                return Echo(tokens, (None, *(t.logprob for t in found[1:])), usage, tuple(t.top for t in found))
            case _:
                return Echo(tokens, tuple(model.of_text(tokens)), usage)

    def ids(self, prompt: Chat | Raw) -> tuple[int, ...]:
        """The ids that reach the bot."""
        reached, _ = self._reached(prompt)
        return ids_of(rendered(reached), self._bos)

    @property
    def _bos(self) -> int:
        return 2 if isinstance(self.bot, TemplateBreaker) and self.bot.kind == "doubles_bos" else 1

    def _number(self, name: str, repeat: int | None) -> int:
        if repeat is not None:
            return repeat
        self._asked[name] += 1
        return self._asked[name] - 1

    def _refused(self) -> Trouble | None:
        if isinstance(self.bot, RateLimited) and self._under_way > self.bot.n:
            return Trouble("status", 429, self.bot.retry_after)
        return None

    async def _waited(self, beside: bool) -> bool:
        """Whether another call was under way at some moment of this one."""
        wait = self.latency + (self.bot.ms / 1e3 if isinstance(self.bot, AnswersLate) else 0.0)
        if isinstance(self.bot, BatchSensitive):
            wait = max(wait, BESIDE_S)
        if wait:
            await asyncio.sleep(wait)
        return beside or self._under_way > 1

    def _answered(self, request: Request, around: Circumstances, number: int, name: str) -> Said | Trouble:
        said = self._said(request, around, number)
        match self.bot:
            case NullContent():
                return replace(said, text=None, tokens=None)
            case ReasoningOnly():
                return replace(said, text=None, tokens=None, reasoning="Let me think about this step by step.")
            case CutOff():
                return replace(said, text="Let me think about", tokens=None, finish="length")
            case MalformedJson():
                return Trouble("malformed", behind=said)
            case HalfClosed():
                return Trouble("half_closed", behind=said)
            case Errors():
                return self._fault(self.bot, f"{name}/{number}", said) or said
            case _:
                return said

    def _fault(self, bot: Errors, name: str, said: Said) -> Trouble | None:
        """The fault of this attempt, if it has one: drawn by the call and the number of the attempt."""
        self._tries[name] += 1
        attempt = self._tries[name]
        if uniform(self.seed, "fault", name, attempt) >= bot.r:
            return None
        ways = bot.ways.split("+")
        way = ways[int(uniform(self.seed, "way", name, attempt) * len(ways))]
        if way in ("429", "500"):
            return Trouble("status", int(way), 0.0 if way == "429" else None)
        return Trouble(way, behind=said)

    def _said(self, request: Request, around: Circumstances, number: int) -> Said:
        """The answer, cut at stop texts and at the limit."""
        reached, counted = self._reached(request.prompt)
        seen = read(reached, self.bank)
        prompt = Request(reached).digest
        draws = Draws(self.seed, seen.question or prompt, prompt, number)
        if isinstance(self.bot, LogitNoise):
            return self._noisy(request, self.bot, counted)
        text = answer(self.bot, seen, draws, around)
        for stop in request.sampling.stop:
            text = text.split(stop, 1)[0]
        pieces = split(text)
        kept = pieces[: request.sampling.max_tokens]
        finish = "stop" if len(kept) == len(pieces) else "length"
        tokens = None
        if request.logprobs is not None:
            rivals = others(seen) if seen.understood and seen.codes is None else []
            tokens = model.of_answer("".join(kept), prompt, request.logprobs, rivals)
        said = Said("".join(kept), finish, Usage(counted, len(kept) + 1), tokens)
        return self._dropped(said)

    def _noisy(self, request: Request, bot: LogitNoise, counted: int) -> Said:
        prompt, settings = request.prompt, request.sampling
        text = prompt.text if isinstance(prompt, Raw) else "\n".join(turn.content for turn in prompt.turns)
        draw = (settings.temperature or 0.0, settings.seed or 0)
        found = model.written(self.seed, bot.sigma, text, settings.max_tokens, draw)
        top = request.logprobs
        tokens = None if top is None else tuple(replace(token, top=token.top[:top]) for token in found)
        return Said("".join(token.text for token in found), "length", Usage(counted, len(found)), tokens)

    def _dropped(self, said: Said) -> Said:
        """Log-probabilities as this bot (mis)reports them."""
        if not isinstance(self.bot, DropsLogprobs) or said.tokens is None:
            return said
        match self.bot.kind:
            case "null":
                return replace(said, tokens=None)
            case "missing":
                return replace(said, tokens=None, told=False)
            case "short":
                return replace(said, tokens=said.tokens[: len(said.tokens) // 2])
            case "constant":
                same = math.log(0.5)
                flat = (TokenLogprob(t.text, same, tuple((text, same) for text, _ in t.top)) for t in said.tokens)
                return replace(said, tokens=tuple(flat))

    def _reached(self, prompt: Chat | Raw) -> tuple[Chat | Raw, int]:
        """The prompt that reaches the bot, and how many tokens it says that it has."""
        counted = len(rendered(prompt)) + 1
        match self.bot:
            case TemplateBreaker("drops_system") if isinstance(prompt, Chat):
                reached: Chat | Raw = Chat(tuple(turn for turn in prompt.turns if turn.role != "system"))
            case TemplateBreaker("adds_system") if isinstance(prompt, Chat) and not _has_system(prompt.turns):
                reached = Chat((Turn("system", DEFAULT_SYSTEM), *prompt.turns))
            case TruncatesContext(n, side, usage):
                reached = cut(prompt, n, side)
                return reached, counted if usage == "before" else len(rendered(reached)) + 1
            case _:
                reached = prompt
        return reached, len(rendered(reached)) + self._bos


def _has_system(turns: Sequence[Turn]) -> bool:
    return any(turn.role == "system" for turn in turns)
