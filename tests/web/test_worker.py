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


def held(worker: Worker, size: float, pauses: int, order: list[str], name: str) -> asyncio.Future:
    """Work of a size that pauses so many times, as an engine does between layers, and says when it is done."""

    def work() -> None:
        for _ in range(pauses):
            time.sleep(0.002)
            worker.pause()
        order.append(name)

    return asyncio.ensure_future(worker.short(work, size))


def test_small_work_passes_large_work_between_two_layers_and_what_is_as_large_does_not() -> None:
    async def test(worker: Worker) -> None:
        order: list[str] = []
        large = held(worker, 1000, 50, order, "large")
        await asyncio.sleep(0.02)
        await asyncio.gather(large, held(worker, 900, 1, order, "as large"), held(worker, 100, 1, order, "small"))
        assert order == ["small", "large", "as large"]

    run(test)


def test_the_smallest_comes_first_and_what_was_overtaken_often_enough_before_it() -> None:
    async def test(worker: Worker) -> None:
        order: list[str] = []
        gate = threading.Event()
        first = asyncio.ensure_future(worker.short(gate.wait))
        await asyncio.sleep(0.02)
        waiting = [held(worker, 1000, 0, order, "large")]
        waiting += [held(worker, 10, 0, order, "small") for _ in range(workers.PATIENCE + 4)]
        await asyncio.sleep(0.02)
        gate.set()
        await asyncio.gather(first, *waiting)
        assert order.index("large") == workers.PATIENCE

    run(test)


def test_large_work_goes_on_while_small_work_never_ends() -> None:
    async def test(worker: Worker) -> None:
        order: list[str] = []
        large = held(worker, 1000, 50, order, "large")

        async def asks() -> None:
            while not large.done():
                await held(worker, 1, 1, order, "small")

        began = time.monotonic()
        await asyncio.gather(large, *(asks() for _ in range(8)))
        alone = 50 * 0.002
        assert order.count("small") > 20
        assert time.monotonic() - began < 20 * alone  # LENT times as long for the others, on a machine that is busy

    run(test)


def test_work_of_one_size_never_lies_within_work_of_that_size() -> None:
    async def test(worker: Worker) -> None:
        under_way, most = 0, 0

        def work() -> None:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            time.sleep(0.001)
            worker.pause()
            under_way -= 1

        sizes = [0, 0, 0, 3, 3, 20, 20, 100, 500, 3000]
        await asyncio.gather(*(worker.short(work, size) for size in sizes * 3))
        assert 1 <= most <= 6  # 0 < 3 < 20 < 100 < 500 < 3000, each more than four times the one before

    run(test)


def test_a_question_that_nobody_waits_for_ends_at_its_next_layer() -> None:
    async def test(worker: Worker) -> None:
        order: list[str] = []
        large = held(worker, 1000, 2000, order, "large")
        await asyncio.sleep(0.02)
        large.cancel()
        began = time.monotonic()
        assert await worker.short(lambda: "free", 1000) == "free"
        assert time.monotonic() - began < 2
        assert order == []

    run(test)


def test_a_pause_on_another_thread_lends_nothing() -> None:
    async def test(worker: Worker) -> None:
        order: list[str] = []
        large = held(worker, 1000, 50, order, "large")
        await asyncio.sleep(0.02)
        small = held(worker, 1, 1, order, "small")
        await asyncio.to_thread(worker.pause)
        await asyncio.gather(large, small)
        assert order == ["small", "large"]

    run(test)


def test_a_closed_worker_ends_what_is_under_way_and_says_so() -> None:
    async def test(worker: Worker) -> None:
        order: list[str] = []
        large = held(worker, 1000, 2000, order, "large")
        await asyncio.sleep(0.02)
        worker.close()
        with pytest.raises(CapacityError, match="stopped"):
            await large

    run(test)
