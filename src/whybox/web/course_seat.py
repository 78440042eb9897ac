"""Where the course's model runs: on the explorer's own thread where it is that model, else on a thread of its own."""

from collections.abc import Callable
from typing import TypeVar

from whybox.model import Model
from whybox.web.seat import Seat, sharing
from whybox.web.worker import Tell, Worker

T = TypeVar("T")


class CourseWorker(Worker):
    """A thread that opens and runs the course's model where the explorer serves another one.

    first: the explorer's model. is_course: whether a model is the course's. opening: gives the course's.
    """

    def __init__(self, first: Seat, is_course: Callable[[Model], bool], opening: Callable[[], Model]) -> None:
        super().__init__()
        self._first, self._is_course, self._opening = first, is_course, opening

    def open(self) -> Model:
        """The course's model, for this thread."""
        return sharing(self._opening(), self)

    async def short(self, work: Callable[[], T], size: float = 0) -> T:
        return await (self._first.worker.short(work, size) if await self._there() else super().short(work, size))

    async def long(self, work: Callable[[Tell], T], told: Tell) -> T:
        return await (self._first.worker.long(work, told) if await self._there() else super().long(work, told))

    async def _there(self) -> bool:
        """Whether the first model is the course's; asked on its thread, once that has opened it or has given up."""
        if self._first.status == "opening":
            await self._first.worker.short(lambda: None)
        return self._first.model is not None and self._is_course(self._first.model)
