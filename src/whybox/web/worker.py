"""One thread runs the model. Long work lets short work pass, tells how far it is, and can be cancelled.

An engine uses every core, so two runs at once would only slow each other down. Between two steps of a long piece of
work (it calls `tell` there) whatever short work waits is done: a what-if answers while a report is being made.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, TypeVar

from whybox.errors import CapacityError

T = TypeVar("T")
Tell = Callable[[int, int], None]
MOST_SHORT = 64
MOST_LONG = 8


class Cancelled(Exception):
    """Nobody waits for this piece of work any more."""


@dataclass(eq=False)
class Piece:
    """Work to be done once. told: where a long one says how far it is; None for a short one."""

    work: Callable[[Tell], Any]
    told: Tell | None = None
    result: "Future[Any]" = field(default_factory=Future)
    cancelled: bool = False

    def cancel(self) -> None:
        """It is not begun any more; where it has begun, it ends at its next step."""
        self.cancelled = True
        self.result.cancel()


class Worker:
    """A queue of short work, a queue of long work, and the thread that does both. `close` ends it."""

    def __init__(self) -> None:
        self._short: deque[Piece] = deque()
        self._long: deque[Piece] = deque()
        self._ready = threading.Condition()
        self._closing = False
        self._thread = threading.Thread(target=self._work, name="model", daemon=True)
        self._thread.start()

    def begin(self, work: Callable[[], None]) -> None:
        """Put before everything else; nobody waits for it."""
        self._put(self._short, Piece(lambda _tell: work()), MOST_SHORT)

    async def short(self, work: Callable[[], T]) -> T:
        """Done before long work goes on. CapacityError where too much waits; what `work` raises."""
        piece = Piece(lambda _tell: work())
        self._put(self._short, piece, MOST_SHORT)
        return await _awaited(piece)

    async def long(self, work: Callable[[Tell], T], told: Tell) -> T:
        """Done when its turn comes. told: called on this loop with steps done, of all. Cancelling it ends the work."""
        loop = asyncio.get_running_loop()

        def tell(done: int, of: int) -> None:
            loop.call_soon_threadsafe(told, done, of)

        piece = Piece(work, tell)
        self._put(self._long, piece, MOST_LONG)
        return await _awaited(piece)

    def close(self) -> None:
        """Nothing new is begun; what runs ends at its next step."""
        with self._ready:
            self._closing = True
            waiting = [*self._short, *self._long]
            self._short.clear()
            self._long.clear()
            self._ready.notify()
        for piece in waiting:
            piece.cancel()

    def _put(self, queue: deque[Piece], piece: Piece, most: int) -> None:
        with self._ready:
            if len(queue) >= most or self._closing:
                raise CapacityError(f"the model is busy: {len(queue)} requests wait already", "try again in a moment")
            queue.append(piece)
            self._ready.notify()

    def _work(self) -> None:
        while True:
            with self._ready:
                self._ready.wait_for(lambda: self._short or self._long or self._closing)
                if self._closing:
                    return
                piece = (self._short or self._long).popleft()
            self._do(piece)

    def _do(self, piece: Piece) -> None:
        if not piece.result.set_running_or_notify_cancel():
            return
        try:
            piece.result.set_result(piece.work(lambda done, of: self._step(piece, done, of)))
        except Cancelled as gone:
            piece.result.set_exception(gone)
        except BaseException as error:  # whatever ended it is told to the one who asked
            piece.result.set_exception(error)

    def _step(self, piece: Piece, done: int, of: int) -> None:
        if piece.cancelled or self._closing:
            raise Cancelled
        if piece.told is not None:
            piece.told(done, of)
        while (waiting := self._next_short()) is not None:
            self._do(waiting)

    def _next_short(self) -> Piece | None:
        with self._ready:
            return self._short.popleft() if self._short else None


async def _awaited(piece: Piece) -> Any:
    try:
        return await asyncio.wrap_future(piece.result)
    except asyncio.CancelledError:
        piece.cancel()
        raise
