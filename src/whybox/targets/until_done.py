"""A coroutine, run to its end by code that is not asynchronous: the one place where an event loop begins.

Also where the thread runs a loop already, as in notebooks and beside browser drivers: `asyncio.run` refuses there.
"""

import asyncio
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Future, wait
from contextlib import suppress
from contextvars import copy_context
from functools import partial
from threading import Thread
from typing import Any, TypeVar

from whybox.targets.target import Target

T = TypeVar("T")
BEGINS_WITHIN_S = 5.0
WAKES_EVERY_S = 0.05  # a signal that another thread received is seen no sooner


def until_done(coroutine: Coroutine[Any, Any, T]) -> T:
    """Its result, or what it raised. KeyboardInterrupt on Ctrl-C, once its own `finally` blocks have run."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return _elsewhere(coroutine)


def until_closed(coroutine: Coroutine[Any, Any, T], targets: Iterable[Target]) -> T:
    """As `until_done`; the targets that it asks are closed in the end, in the loop in which they were asked."""

    async def closing() -> T:
        try:
            return await coroutine
        finally:
            for target in targets:
                await target.close()

    return until_done(closing())


def _elsewhere(coroutine: Coroutine[Any, Any, T]) -> T:
    """In a thread with a loop of its own. This thread waits, so the two never work at once."""
    cancel: Future[Callable[[], object]] = Future()
    ended: Future[T] = Future()

    async def cancellable() -> T:
        task = asyncio.current_task()
        assert task is not None
        cancel.set_result(partial(asyncio.get_running_loop().call_soon_threadsafe, task.cancel))
        return await coroutine

    def run() -> None:
        try:
            ended.set_result(asyncio.run(cancellable()))
        except BaseException as fault:
            ended.set_exception(fault)

    thread = Thread(target=copy_context().run, args=(run,), daemon=True)
    before = _cancellations()
    try:
        thread.start()  # Ctrl-C may come before it returns, with the coroutine on its way
        _watch(ended, before)
    except KeyboardInterrupt:
        _end(cancel, ended)
        raise
    return ended.result()


def _end(cancel: Future[Callable[[], object]], ended: "Future[Any]") -> None:
    """Asks the coroutine to end, and waits for it; nothing where the thread has not come so far as to begin it."""
    with suppress(TimeoutError):
        stop = cancel.result(BEGINS_WITHIN_S)
        with suppress(RuntimeError):  # its loop has just ended by itself
            stop()
        wait([ended])


def _watch(ended: "Future[Any]", before: int) -> None:
    """Returns at the end. `asyncio.run` makes Ctrl-C a wish to cancel the task that waits here: that is one, too."""
    while not ended.done():
        wait([ended], WAKES_EVERY_S)
        if _cancellations() > before:
            raise KeyboardInterrupt


def _cancellations() -> int:
    """How often the task that runs in this thread was asked to end."""
    task = asyncio.current_task()
    return 0 if task is None else task.cancelling()
