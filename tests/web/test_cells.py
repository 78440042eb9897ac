"""Learners' code beside the model's thread: a few at once, a few that wait, no more."""

import asyncio
import threading

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from whybox.errors import CapacityError, UsageError
from whybox.web.cells import AT_ONCE, MOST_WAITING, Cells


def test_a_few_run_at_once_a_few_wait_and_more_are_refused() -> None:
    async def test() -> None:
        cells, gate, lock = Cells(), threading.Event(), threading.Lock()
        running = most = 0

        def work() -> int:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            gate.wait(10)
            with lock:
                running -= 1
            return 1

        waiting = [asyncio.ensure_future(cells.run(work)) for _ in range(AT_ONCE + MOST_WAITING)]
        await asyncio.sleep(0.05)
        with pytest.raises(CapacityError, match="graded already"):
            await cells.run(work)
        gate.set()
        assert await asyncio.gather(*waiting) == [1] * len(waiting)
        assert most == AT_ONCE
        assert await cells.run(lambda: "free") == "free"
        cells.close()

    asyncio.run(test())


def test_what_is_raised_goes_to_who_asked() -> None:
    def bad() -> None:
        raise UsageError("no", "yes")

    async def test() -> None:
        cells = Cells()
        with pytest.raises(UsageError, match="no"):
            await cells.run(bad)
        assert await cells.run(lambda: 2) == 2
        cells.close()

    asyncio.run(test())
