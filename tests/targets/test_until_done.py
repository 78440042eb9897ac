"""Coroutines that are run to their end, in a thread without an event loop and in one that runs one."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from pathlib import Path
from threading import Thread, current_thread, main_thread
from typing import Any, TypeVar

import pytest

from whybox.jobs.doctor import DoctorOptions, doctor
from whybox.jobs.doctor.repeats import Repeats
from whybox.jobs.run import RunOptions, prepare, run_suite, target_from
from whybox.targets.bots.kinds import Honest
from whybox.targets.bots.process import BotTarget
from whybox.targets.until_done import until_done

T = TypeVar("T")


def plainly(work: Callable[[], T]) -> T:
    return work()


def beside_a_loop(work: Callable[[], T]) -> T:
    """As a notebook's cell, or a script of a browser driver: called by what a loop runs."""

    async def cell() -> T:
        return work()

    return asyncio.run(cell())


def by_a_callback(work: Callable[[], T]) -> T:
    """A loop runs, but no task: Ctrl-C comes as it always does."""
    loop, found = asyncio.new_event_loop(), list[T]()
    try:
        loop.call_soon(lambda: found.append(work()))
        loop.call_soon(loop.stop)
        loop.run_forever()
    finally:
        loop.close()
    return found[0]


everywhere = pytest.mark.parametrize("called", [plainly, beside_a_loop, by_a_callback])


@pytest.mark.parametrize("called", [plainly, beside_a_loop])
def test_what_comes_of_it_is_given_and_what_goes_wrong_is_raised(called: Callable[[Callable[[], Any]], Any]) -> None:
    async def sum_of(*numbers: int) -> int:
        await asyncio.sleep(0)
        return sum(numbers)

    async def wrong() -> None:
        raise ValueError("on purpose")

    assert called(lambda: until_done(sum_of(2, 3, 5))) == 10
    with pytest.raises(ValueError, match="on purpose"):
        called(lambda: until_done(wrong()))


def test_context_goes_with_it_and_threads_do_not_stay() -> None:
    number: ContextVar[int] = ContextVar("number")
    number.set(7)

    async def seen() -> tuple[int, bool]:
        return number.get(), current_thread() is main_thread()

    assert until_done(seen()) == (7, True)
    assert beside_a_loop(lambda: until_done(seen())) == (7, False)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process alone")
@everywhere
def test_ctrl_c_ends_it_and_what_it_holds_is_given_back(called: Callable[[Callable[[], Any]], Any]) -> None:
    did: list[str] = []

    async def long() -> None:
        try:
            os.kill(os.getpid(), signal.SIGINT)
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            did.append("closed")

    with pytest.raises(KeyboardInterrupt):
        called(lambda: until_done(long()))
    assert did == ["closed"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process alone")
def test_ctrl_c_counts_also_while_the_thread_starts(monkeypatch: pytest.MonkeyPatch) -> None:
    did: list[str] = []

    class SlowToStart(Thread):
        def start(self) -> None:
            super().start()
            time.sleep(0.3)

    async def long() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        try:
            await asyncio.sleep(20)
            did.append("whole")
        finally:
            did.append("closed")

    monkeypatch.setattr("whybox.targets.until_done.Thread", SlowToStart)
    with pytest.raises(KeyboardInterrupt):
        beside_a_loop(lambda: until_done(long()))
    assert did == ["closed"]


@everywhere
def test_the_doctor_examines_there(called: Callable[[Callable[[], Any]], Any]) -> None:
    document = called(lambda: doctor(BotTarget(Honest()), DoctorOptions(design=Repeats(2, 2), topics=2)))
    assert {row.differing for row in document.floor} == {0}
    assert document.failed == 0


SUITE = """
suite: check
targets: ["bot:always_first"]
probes: {order: {items: 3}}
run: {floor: {items: 2, times: 2}}
"""


@everywhere
def test_a_suite_runs_there(called: Callable[[Callable[[], Any]], Any], tmp_path: Path) -> None:
    path, options = tmp_path / "whybox.yaml", RunOptions()
    path.write_text(SUITE)
    prepared = prepare(path, options, lambda text: target_from(text, pytest.fail, 0, None))
    document = called(lambda: run_suite(prepared, options, tmp_path / "out"))
    assert document.calls.finished == document.calls.planned == 3 * 8 + 12
