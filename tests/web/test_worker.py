"""One thread for all: short work passes long work, long work can be cancelled, nothing is lost or mixed up."""

import asyncio
import threading
import time

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from whybox.errors import CapacityError, PromptError
from whybox.web import worker as workers
from whybox.web.worker import Worker


def run(test) -> None:  # type: ignore[no-untyped-def]
    """A test that is a coroutine, with a worker that is closed behind it."""

    async def whole() -> None:
        worker = Worker()
        try:
            await asyncio.wait_for(test(worker), 10)
        finally:
            worker.close()

    asyncio.run(whole())


def test_results_and_errors_go_to_who_asked() -> None:
    async def test(worker: Worker) -> None:
        async def one(i: int) -> int:
            return await worker.short(lambda: i * i)

        def bad() -> None:
            raise PromptError("no")

        asked = [one(i) for i in range(50)]
        found = await asyncio.gather(*asked)
        assert found == [i * i for i in range(50)]
        with pytest.raises(PromptError, match="no"):
            await worker.short(bad)
        assert await worker.short(threading.get_ident) != threading.get_ident()

    run(test)


def test_short_work_is_done_between_two_steps_of_long_work() -> None:
    async def test(worker: Worker) -> None:
        order: list[str] = []
        begun = asyncio.Event()

        def long(tell) -> str:  # type: ignore[no-untyped-def]
            for step in range(40):
                tell(step, 40)
                time.sleep(0.01)
            order.append("long")
            return "done"

        making = asyncio.ensure_future(worker.long(long, lambda done, of: begun.set()))
        await begun.wait()
        await worker.short(lambda: order.append("short"))
        assert await making == "done"
        assert order == ["short", "long"]

    run(test)


def test_long_work_that_nobody_waits_for_ends_at_its_next_step() -> None:
    async def test(worker: Worker) -> None:
        steps: list[int] = []
        begun = asyncio.Event()

        def long(tell) -> None:  # type: ignore[no-untyped-def]
            for step in range(1000):
                steps.append(step)
                tell(step, 1000)
                time.sleep(0.005)

        making = asyncio.ensure_future(worker.long(long, lambda done, of: begun.set()))
        await begun.wait()
        making.cancel()
        with pytest.raises(asyncio.CancelledError):
            await making
        assert await worker.short(lambda: "free") == "free"
        assert len(steps) < 100

    run(test)


def test_what_waits_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "MOST_SHORT", 3)

    async def test(worker: Worker) -> None:
        gate = threading.Event()
        first = asyncio.ensure_future(worker.short(gate.wait))
        await asyncio.sleep(0.05)
        waiting = [asyncio.ensure_future(worker.short(lambda: 1)) for _ in range(3)]
        await asyncio.sleep(0.05)
        with pytest.raises(CapacityError, match="busy"):
            await worker.short(lambda: 2)
        gate.set()
        assert await asyncio.gather(first, *waiting) == [True, 1, 1, 1]

    run(test)


def test_a_closed_worker_takes_nothing_more() -> None:
    async def test(worker: Worker) -> None:
        worker.close()
        with pytest.raises(CapacityError):
            await worker.short(lambda: 1)

    run(test)
