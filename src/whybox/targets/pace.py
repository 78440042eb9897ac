"""How fast an endpoint is asked: so many calls at once, fewer when they are too many for it, and when again."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from email.utils import parsedate_to_datetime
from typing import TypeVar

from whybox.targets.target import AnswerScore, Attempt, Failure, Reply

R = TypeVar("R")
O = TypeVar("O")  # noqa: E741
F = TypeVar("F", Reply | Failure, AnswerScore | Failure)

TOO_MANY = frozenset({429, 503, 529})

THROTTLED_SHARE = 1 / 4  # a server that refuses now and then is asked on; one that refuses this much is asked less
LEAST_JUDGED = 32


@dataclass(frozen=True)
class Patience:
    """When a call that failed is made again.

    Wait n is drawn evenly from the upper half of base · 2ⁿ seconds, at most `longest`: calls that failed together do
    not come back together. A wait that the endpoint asks for is kept, with a draw of up to `base` on top; one beyond
    `longest_asked` ends the call.
    """

    max_retries: int = 3
    base: float = 0.5
    longest: float = 20.0
    longest_asked: float = 120.0

    def pause(self, retry: int, asked: float | None, draw: random.Random) -> float | None:
        """Seconds before retry number `retry` (from 0); None: not again."""
        if retry >= self.max_retries:
            return None
        if asked is not None:
            return asked + draw.uniform(0, self.base) if asked <= self.longest_asked else None
        most = min(self.longest, self.base * 2.0**retry)
        return draw.uniform(most / 2, most)


def seconds_asked(after: str | None, after_ms: str | None, now: float) -> float | None:
    """Retry-After (seconds or a date) or retry-after-ms, as seconds from `now` (Unix time); None for neither."""
    for text, unit in ((after_ms, 1e-3), (after, 1.0)):
        try:
            seconds = float(text) * unit if text else -1.0
        except ValueError:
            seconds = -1.0
        if 0 <= seconds < float("inf"):
            return seconds
    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - now) if after else None
    except ValueError:
        return None


@dataclass
class Gate:
    """Lets at most `most` calls through at once. The allowance halves when more than one in four of the last calls
    was refused as too many, and grows by one for as many good calls as it allows.
    """

    most: int
    allowed: float = field(init=False)
    under_way: int = field(default=0, init=False)
    _judged: deque[bool] = field(default_factory=deque, init=False)
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque, init=False)

    def __post_init__(self) -> None:
        self.allowed = float(self.most)

    @asynccontextmanager
    async def passing(self) -> AsyncIterator[None]:
        """One call: waits its turn, in the order of arrival."""
        if self._waiting or self.under_way >= int(self.allowed):
            await self._turn()
        else:
            self.under_way += 1
        try:
            yield
        finally:
            self.under_way -= 1
            self._admit()

    def told(self, too_many: bool) -> None:
        """How a call ended: whether the endpoint refused it as one too many."""
        self._judged.append(too_many)
        while len(self._judged) > max(LEAST_JUDGED, int(self.allowed)):
            self._judged.popleft()
        if too_many and len(self._judged) >= LEAST_JUDGED and sum(self._judged) > THROTTLED_SHARE * len(self._judged):
            self.allowed = max(1.0, self.allowed / 2)
            self._judged.clear()
        elif not too_many:
            self.allowed = min(float(self.most), self.allowed + 1 / self.allowed)
            self._admit()

    async def _turn(self) -> None:
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():  # admitted and given up in the same moment
                self.under_way -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        while self._waiting and self.under_way < int(self.allowed):
            first = self._waiting.popleft()
            if not first.done():
                self.under_way += 1
                first.set_result(None)


async def concurrently(
    ask: Callable[[R], Awaitable[O]], requests: Iterable[R], width: int
) -> AsyncIterator[tuple[int, O]]:
    """(index, outcome) as they come, `width` under way at a time.

    What is not taken holds the rest back, so memory does not grow with the number of requests. Leaving early ends all.
    """
    ahead = iter(enumerate(requests))
    ready: asyncio.Queue[tuple[int, O] | BaseException | None] = asyncio.Queue(width)

    async def work() -> None:
        try:
            for index, request in ahead:
                await ready.put((index, await ask(request)))
            await ready.put(None)
        except Exception as fault:
            await ready.put(fault)

    workers = [asyncio.create_task(work()) for _ in range(width)]
    try:
        running = width
        while running:
            found = await ready.get()
            if isinstance(found, BaseException):
                raise found
            if found is None:
                running -= 1
            else:
                yield found
    finally:
        for worker in workers:
            worker.cancel()
        await asyncio.gather(*workers, return_exceptions=True)


async def persistently(
    attempt: Callable[[], Awaitable[F]],
    patience: Patience,
    gate: Gate,
    draw: random.Random,
    clock: Callable[[], float] = time.perf_counter,
) -> F:
    """Attempts until one ends the call; between two, its place is another call's. The outcome lists them all."""
    attempts: list[Attempt] = []
    started = clock()
    while True:
        async with gate.passing():
            begun = clock()
            outcome = await attempt()
            seconds = clock() - begun
        failed = outcome if isinstance(outcome, Failure) else None
        gate.told(failed is not None and failed.status in TOO_MANY)
        pause = patience.pause(len(attempts), failed.after, draw) if failed and failed.again else None
        attempts.append(Attempt(failed.kind if failed else "ok", seconds, pause or 0.0))
        if pause is None:
            return replace(outcome, seconds=clock() - started, attempts=tuple(attempts))
        await asyncio.sleep(pause)
