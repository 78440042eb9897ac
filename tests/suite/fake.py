"""A target without a model: answers that follow from what is asked; one call in ten fails, always the same."""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from whybox.probes.design import Call
from whybox.targets.pace import concurrently
from whybox.targets.target import (
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
    chat,
)

IDENTITY, ABILITIES = Identity("bot", "fake"), Abilities()


@dataclass(eq=False)
class FakeTarget:
    """faults: share of calls that fail. log: a file with a line for every call that was begun."""

    latency: float = 0.0
    width: int = 8
    faults: float = 0.1
    log: Path | None = None
    fatal_after: int | None = None
    asked: list[str] = field(default_factory=list)
    identity: Identity = IDENTITY
    abilities: Abilities = ABILITIES

    async def ask(self, request: Request) -> Outcome:
        self._note(request.digest)
        await asyncio.sleep(self.latency)
        if self.fatal_after is not None and len(self.asked) > self.fatal_after:
            return Failure("http", "the key is refused", "set another", 401, fatal=True)
        if int(request.digest[:8], 16) < self.faults * 2**32:
            return Failure("http", "the server failed", status=500)
        return Reply(f"answer {request.digest[:6]}", fingerprint="one")

    def ask_all(self, requests: Iterable[Request]) -> AsyncIterator[tuple[int, Outcome]]:
        return concurrently(self.ask, requests, self.width)

    async def score(self, request: AnswerRequest) -> ScoreOutcome:
        self._note(request.digest)
        await asyncio.sleep(self.latency)
        return AnswerScore(-1.5, ())

    def score_all(self, requests: Iterable[AnswerRequest]) -> AsyncIterator[tuple[int, ScoreOutcome]]:
        return concurrently(self.score, requests, self.width)

    async def ids(self, prompt: Chat | Raw) -> tuple[int, ...] | None:
        return None

    async def close(self) -> None:
        """Nothing is held."""

    def _note(self, name: str) -> None:
        self.asked.append(name)
        if self.log is not None:
            handle = os.open(self.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(handle, f"{name}\n".encode())
            os.close(handle)


def calls_of(items: int, arms: tuple[str, ...] = ("a", "b"), runs: int = 2, fresh: bool = False) -> list[Call]:
    """A small design: every item in every arm, so many times."""
    return [
        Call("fake", "order", f"item-{i}", arm, run, _request(i, arm, run), fresh, (("place", arm),))
        for i in range(items)
        for arm in arms
        for run in range(runs)
    ]


def _request(item: int, arm: str, run: int) -> Request:
    return Request(chat(f"Question {item}, put as {arm}?"), Sampling(max_tokens=8 + run), repeat=run)
