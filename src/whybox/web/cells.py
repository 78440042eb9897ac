"""Learners' code, graded beside the model's thread: a few pieces at once, and a few that wait."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from whybox.errors import CapacityError

T = TypeVar("T")
AT_ONCE = 2
MOST_WAITING = 8


class Cells:
    """Each piece of work waits for its child process in a thread; the child has limits of its own."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="cell")
        self._here = 0

    def begin(self, work: Callable[[], object]) -> None:
        """Nobody waits for it."""
        self._threads.submit(work)

    async def run(self, work: Callable[[], T]) -> T:
        """What `work` gives, in its turn. CapacityError where too many wait."""
        if self._here >= AT_ONCE + MOST_WAITING:
            raise CapacityError(f"{self._here} pieces of code are being graded already", "try again in a moment")
        self._here += 1
        try:
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)
        finally:
            self._here -= 1

    def close(self) -> None:
        """Nothing new is begun; what runs ends at its limit."""
        self._threads.shutdown(wait=False, cancel_futures=True)
