"""One thread runs the model. Small work passes large work, every piece goes on, and what nobody waits for ends.

An engine uses every core, so two runs at once would only slow each other down. Between two layers of a run (the engine
calls `pause` there) and between two steps of long work (it calls `tell`), much smaller work that waits is done, for up
to `LENT` times as long as the piece under way has had for itself: a what-if answers while 5,000 tokens are compared.
Of what waits the smallest comes first; what was overtaken `PATIENCE` times comes before all.
"""

import asyncio
import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from whybox.errors import CapacityError

T = TypeVar("T")
Tell = Callable[[int, int], None]
MOST_SHORT = 64
MOST_LONG = 8
SMALLER = 4  # times, to pass a piece that is under way
LENT = 3
PATIENCE = 16


class Cancelled(Exception):
    """Nobody waits for this piece of work any more."""


@dataclass(eq=False)
class Piece:
    """Work to be done once. size: about how much there is to compute, in characters of prompt; long work is endless.

    begun, lent: seconds; when it was begun, and what others had of it since.
    """

    work: Callable[[], Any]
    size: float = math.inf
    result: "Future[Any]" = field(default_factory=Future)
    cancelled: bool = False
    overtaken: int = 0
    begun: float = 0.0
    lent: float = 0.0

    @property
    def is_long(self) -> bool:
        return self.size == math.inf

    @property
    def may_lend(self) -> bool:
        """Whether others have had less than their share."""
        return self.lent <= LENT * (time.monotonic() - self.begun - self.lent)

    def may_pass(self, other: "Piece") -> bool:
        """Strictly smaller each time: pieces lie within each other a few deep at most."""
        return not self.is_long and self.size * SMALLER < other.size

    def cancel(self) -> None:
        """It is not begun any more; where it has begun, it ends at its next layer or step."""
        self.cancelled = True
        self.result.cancel()


class Worker:
    """What waits, and the thread that does it. `close` ends it."""

    def __init__(self) -> None:
        self._waiting: list[Piece] = []
        self._doing: list[Piece] = []
        self._ready = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="model", daemon=True)
        self._thread.start()

    def begin(self, work: Callable[[], None]) -> None:
        """Put before everything else; nobody waits for it."""
        self._put(Piece(work, size=-math.inf), MOST_SHORT)

    async def short(self, work: Callable[[], T], size: float = 0) -> T:
        """A question. CapacityError where too much waits; what `work` raises. Cancelling it ends the work."""
        return await self._done(Piece(work, size), MOST_SHORT)

    async def long(self, work: Callable[[Tell], T], told: Tell) -> T:
        """What takes many runs. told: called on this loop with steps done, of all. Cancelling it ends the work."""
        loop = asyncio.get_running_loop()

        def tell(done: int, of: int) -> None:
            loop.call_soon_threadsafe(told, done, of)
            self.pause()

        return await self._done(Piece(lambda: work(tell)), MOST_LONG)

    def pause(self) -> None:
        """Called between two layers and two steps. Elsewhere than on this thread nobody waits for it."""
        if self._doing and threading.current_thread() is self._thread:
            self._lend(self._doing[-1])

    def close(self) -> None:
        """Nothing new is begun; what runs ends at its next layer or step."""
        with self._ready:
            self._closing = True
            waiting = list(self._waiting)
            self._waiting.clear()
            self._ready.notify()
        for piece in waiting:
            piece.cancel()

    async def _done(self, piece: Piece, most: int) -> Any:
        self._put(piece, most)
        try:
            return await asyncio.wrap_future(piece.result)
        except Cancelled:
            raise CapacityError("the server was stopped before this was done", "start it again") from None
        except asyncio.CancelledError:
            piece.cancel()
            raise

    def _put(self, piece: Piece, most: int) -> None:
        with self._ready:
            alike = sum(each.is_long == piece.is_long for each in self._waiting)
            if alike >= most or self._closing:
                raise CapacityError(f"the model is busy: {alike} requests wait already", "try again in a moment")
            self._waiting.append(piece)
            self._ready.notify()

    def _work(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._waiting or self._closing)
                if self._closing:
                    return
                piece = self._next()
            assert piece is not None
            self._do(piece)

    def _next(self, beside: Piece | None = None) -> Piece | None:
        """The smallest piece that waits, first whoever waits too long; beside another, of those that may pass it."""
        allowed = [piece for piece in self._waiting if beside is None or piece.may_pass(beside)]
        if not allowed:
            return None
        chosen = min(allowed, key=lambda piece: (piece.overtaken < PATIENCE, piece.size))
        for earlier in self._waiting[: self._waiting.index(chosen)]:
            earlier.overtaken += 1
        self._waiting.remove(chosen)
        return chosen

    def _do(self, piece: Piece) -> None:
        if not piece.result.set_running_or_notify_cancel():
            return
        self._doing.append(piece)
        piece.begun = time.monotonic()
        try:
            piece.result.set_result(piece.work())
        except BaseException as error:  # whatever ended it is told to the one who asked
            piece.result.set_exception(error)
        finally:
            self._doing.pop()

    def _lend(self, piece: Piece) -> None:
        """Much smaller work that waits is done now, within its share of the time."""
        while True:
            if piece.cancelled or self._closing:
                raise Cancelled
            with self._ready:
                waiting = self._next(piece) if self._waiting and piece.may_lend else None
            if waiting is None:
                return
            began = time.monotonic()
            self._do(waiting)
            piece.lent += time.monotonic() - began
