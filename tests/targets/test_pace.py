"""How fast, and when again: waits within their bounds, an allowance that follows the refusals, no call lost."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from email.utils import formatdate

import pytest

from whybox.targets.pace import Gate, Patience, concurrently, persistently, seconds_asked
from whybox.targets.target import Failure, Reply


def test_waits_double_and_jitter_in_the_upper_half() -> None:
    patience, draw = Patience(max_retries=8, base=0.5, longest=4.0), random.Random(1)
    for retry, most in enumerate([0.5, 1.0, 2.0, 4.0, 4.0]):
        waits = [patience.pause(retry, None, draw) for _ in range(200)]
        assert all(wait is not None and most / 2 <= wait <= most for wait in waits)
        assert len(set(waits)) == 200
    assert patience.pause(8, None, draw) is None


def test_no_retries_means_none() -> None:
    assert Patience(max_retries=0).pause(0, 1.0, random.Random(0)) is None


def test_an_asked_wait_is_kept_and_one_too_long_ends_the_call() -> None:
    patience, draw = Patience(base=0.5, longest_asked=60), random.Random(2)
    assert all(7 <= (patience.pause(0, 7.0, draw) or 0) <= 7.5 for _ in range(50))
    assert patience.pause(0, 61.0, draw) is None


@pytest.mark.parametrize(
    ("after", "after_ms", "seconds"),
    [
        ("3", None, 3.0),
        ("0.25", None, 0.25),
        ("3", "1500", 1.5),
        (None, None, None),
        ("soon", None, None),
        ("-2", None, None),
        ("inf", None, None),
        ("nan", None, None),
        (formatdate(1030, usegmt=True), None, 30.0),
        (formatdate(990, usegmt=True), None, 0.0),
    ],
)
def test_retry_after(after: str | None, after_ms: str | None, seconds: float | None) -> None:
    assert seconds_asked(after, after_ms, 1000.0) == seconds


def told(gate: Gate, refused: int, good: int) -> None:
    for _ in range(refused):
        gate.told(True)
    for _ in range(good):
        gate.told(False)


def test_few_refusals_change_nothing_and_many_halve() -> None:
    gate = Gate(64)
    for _ in range(100):
        told(gate, 1, 9)  # one in ten
    assert gate.allowed > 60
    gate = Gate(64)
    told(gate, 64, 0)
    assert gate.allowed <= 16
    told(gate, 0, 4000)
    assert gate.allowed == 64


def test_never_more_at_once_than_allowed_and_in_order_of_arrival() -> None:
    async def run() -> tuple[int, list[int]]:
        gate, inside, most, order = Gate(3), 0, 0, []

        async def one(number: int) -> None:
            nonlocal inside, most
            async with gate.passing():
                inside += 1
                most = max(most, inside)
                order.append(number)
                await asyncio.sleep(0)
                inside -= 1

        await asyncio.gather(*map(one, range(20)))
        assert gate.under_way == 0
        return most, order

    assert asyncio.run(run()) == (3, list(range(20)))


def test_a_call_that_is_given_up_while_waiting_leaves_its_place() -> None:
    async def run() -> int:
        gate = Gate(1)
        async with gate.passing():
            waiting = [asyncio.create_task(enter(gate)) for _ in range(3)]
            await asyncio.sleep(0)
            waiting[0].cancel()
        await asyncio.gather(*waiting, return_exceptions=True)
        return gate.under_way

    async def enter(gate: Gate) -> None:
        async with gate.passing():
            await asyncio.sleep(0)

    assert asyncio.run(run()) == 0


def collect(ask: Callable[[int], Awaitable[int]], count: int, width: int) -> list[tuple[int, int]]:
    async def run() -> list[tuple[int, int]]:
        return [found async for found in concurrently(ask, range(count), width)]

    return asyncio.run(run())


def test_each_request_once_whatever_the_order() -> None:
    async def ask(number: int) -> int:
        await asyncio.sleep((7 * number % 5) / 1000)
        return number * number

    found = collect(ask, 53, 8)
    assert sorted(found) == [(i, i * i) for i in range(53)]
    assert found != sorted(found)


def test_what_is_not_taken_holds_the_rest_back() -> None:
    asked = 0

    async def ask(number: int) -> int:
        nonlocal asked
        asked += 1
        return number

    async def run() -> None:
        async for _ in concurrently(ask, range(10_000), 4):
            await asyncio.sleep(0.01)
            break

    asyncio.run(run())
    assert asked <= 4 + 4 + 1


def test_a_fault_of_ours_is_not_swallowed() -> None:
    async def ask(number: int) -> int:
        if number == 5:
            raise ZeroDivisionError
        return number

    with pytest.raises(ZeroDivisionError):
        collect(ask, 20, 3)


def test_a_call_lists_its_attempts_and_ends_with_the_last() -> None:
    outcomes = [Failure("http", "busy", status=429, again=True, after=0.0), Failure("timeout", "late", again=True)]

    async def run(ends: Reply | Failure, retries: int) -> tuple[Reply | Failure, int]:
        script = [*outcomes, ends]
        calls = 0

        async def attempt() -> Reply | Failure:
            nonlocal calls
            calls += 1
            return script[calls - 1]

        found = await persistently(attempt, Patience(retries, base=1e-4), Gate(1), random.Random(0))
        return found, calls

    found, calls = asyncio.run(run(Reply("yes"), 5))
    assert (found, calls) == (Reply("yes"), 3)
    assert [attempt.ended for attempt in found.attempts] == ["http", "timeout", "ok"]
    found, calls = asyncio.run(run(Reply("yes"), 1))
    assert (found, calls) == (outcomes[1], 2)
    assert asyncio.run(run(Reply("yes"), 0))[1] == 1
    found, calls = asyncio.run(run(Failure("http", "no", status=400), 5))
    assert (found, calls) == (Failure("http", "no", status=400), 3)
