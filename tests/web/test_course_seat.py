"""Where the course's model runs: beside a served one that is another, on that one's thread where it is the same."""

import asyncio
import threading
from collections.abc import Awaitable, Callable

import pytest

pytest.importorskip("fastapi", reason="fastapi is not installed")

from tests.web.serving import no_model
from whybox.model import Model
from whybox.testing import ROWS
from whybox.web.course_seat import CourseWorker
from whybox.web.seat import Seat


def planted() -> Model:
    return ROWS["not_looking"](seed=0).model


def run(test: Callable[[Seat, CourseWorker], Awaitable[None]], opening: Callable[[], Model], same: bool) -> None:
    async def whole() -> None:
        seat = Seat(opening)
        course = CourseWorker(seat, lambda _model: same, planted)
        seat.worker.begin(seat.open)
        try:
            await asyncio.wait_for(test(seat, course), 20)
        finally:
            seat.worker.close()
            course.close()

    asyncio.run(whole())


async def threads(seat: Seat, course: CourseWorker) -> tuple[int, int, int]:
    short = await course.short(threading.get_ident)
    long = await course.long(lambda tell: threading.get_ident(), lambda done, of: None)
    return await seat.worker.short(threading.get_ident), short, long


def test_the_served_model_is_the_courses() -> None:
    async def test(seat: Seat, course: CourseWorker) -> None:
        assert len(set(await threads(seat, course))) == 1

    run(test, planted, same=True)


@pytest.mark.parametrize("opening", [planted, no_model])
def test_another_one_is_opened_beside_it_and_holds_nobody(opening: Callable[[], Model]) -> None:
    async def test(seat: Seat, course: CourseWorker) -> None:
        first, short, long = await threads(seat, course)
        assert short == long != first
        gate = threading.Event()
        held = asyncio.ensure_future(course.short(gate.wait))
        await asyncio.sleep(0.05)
        assert await seat.worker.short(lambda: "free") == "free"
        gate.set()
        assert await held

    run(test, opening, same=False)


def test_its_runs_let_others_pass_on_its_own_thread() -> None:
    async def test(_seat: Seat, course: CourseWorker) -> None:
        order: list[str] = []
        small: list[asyncio.Future] = []
        loop = asyncio.get_running_loop()

        def work() -> None:
            model = course.open()
            loop.call_soon_threadsafe(
                lambda: small.append(asyncio.ensure_future(course.short(lambda: order.append("small"))))
            )
            while not order:
                model.run(list(range(2, 12)))
            order.append("large")

        await course.short(work, 1000)
        await small[0]
        assert order == ["small", "large"]

    run(test, planted, same=False)
