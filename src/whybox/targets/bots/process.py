"""A bot as a target in this process: no network, the same records as through its server."""

import asyncio
import random
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field

from whybox.targets import choosing, wire
from whybox.targets.bots import bodies
from whybox.targets.bots.kinds import Bot, DropsLogprobs, described
from whybox.targets.bots.play import Player, Said, Trouble
from whybox.targets.bots.reading import NO_BANK, Bank
from whybox.targets.pace import Gate, Patience, concurrently, persistently
from whybox.targets.target import (
    YES,
    Abilities,
    AnswerRequest,
    Chat,
    Failure,
    Identity,
    Outcome,
    Raw,
    Request,
    ScoreOutcome,
    no,
)

SOON = Patience(base=0.001)


@dataclass(eq=False)
class BotTarget:
    """A bot that can be asked. seed: of all its draws. latency: seconds for each answer."""

    bot: Bot
    bank: Bank = NO_BANK
    seed: int = 0
    latency: float = 0.0
    patience: Patience = SOON
    concurrency: int = 8
    draw: random.Random = field(default_factory=lambda: random.Random(0), repr=False)

    def __post_init__(self) -> None:
        self._player = Player(self.bot, self.bank, self.seed, self.latency)
        self._gate = Gate(self.concurrency)

    @property
    def identity(self) -> Identity:
        return Identity("bot", described(self.bot), (("seed", str(self.seed)),))

    @property
    def abilities(self) -> Abilities:
        logprobs = no("not usable: this bot drops them") if isinstance(self.bot, DropsLogprobs) else YES
        return Abilities(YES, YES, logprobs, logprobs, YES, YES, YES, no("a bot computes nothing"))

    async def ask(self, request: Request) -> Outcome:
        """The answer, read from the same body that its server would send."""
        if request.choices:
            return choosing.by_first_token(request, await self.ask(choosing.first_token(request)))

        async def attempt() -> Outcome:
            played = await self._player.ask(request, request.repeat)
            return _outcome(played, request, described(self.bot))

        return await persistently(attempt, self.patience, self._gate, self.draw)

    def ask_all(self, requests: Iterable[Request]) -> AsyncIterator[tuple[int, Outcome]]:
        """Outcomes as they come."""
        return concurrently(self.ask, requests, self.concurrency)

    async def score(self, request: AnswerRequest) -> ScoreOutcome:
        """log P of an answer behind raw text."""
        if isinstance(request.prompt, Chat):
            return Failure("malformed", wire.ONLY_RAW)
        await asyncio.sleep(0)
        return wire.answer_score(
            bodies.echo_of(self._player.echo(request.prompt.text + request.answer), described(self.bot), 0), request
        )

    def score_all(self, requests: Iterable[AnswerRequest]) -> AsyncIterator[tuple[int, ScoreOutcome]]:
        """Scores as they come."""
        return concurrently(self.score, requests, self.concurrency)

    async def ids(self, prompt: Chat | Raw) -> tuple[int, ...] | None:
        return self._player.ids(prompt)

    async def close(self) -> None:
        """Nothing is held."""


def _outcome(played: Said | Trouble, request: Request, model: str) -> Outcome:
    if isinstance(played, Said):
        gathered = wire.Gathered()
        gathered.take(bodies.body_of(played, request, model, 0))
        return gathered.outcome(request.logprobs is not None)
    match played.kind:
        case "status":
            return Failure("http", "the bot refused", status=played.status, again=True, after=played.after)
        case "hang":
            return Failure("timeout", "the bot does not answer", again=True)
        case "malformed":
            return Failure("malformed", "the answer is no JSON", again=True)
        case _:
            return Failure("transport", "the bot closed the connection", again=True)
