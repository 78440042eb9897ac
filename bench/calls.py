"""Many calls to a server that fails now and then: none lost, none doubled, memory flat, and how near to its ceiling.

    python -m bench.calls [--calls N] [--concurrency N] [--json]

The server is the bot `errors` in a process of its own: 20 ms an answer, one attempt in ten is a 429, a 500, a hang,
half a JSON or a connection that breaks. The ceiling is what the server could give: its places (the concurrency) over
the time that the attempts of these calls held one. Waits between attempts hold none. Exit code 1 when a call is lost or
doubled, memory grows, or less than 85 % of the ceiling is reached.
"""

import argparse
import asyncio
import json
import random
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace

import httpx

from whybox.targets.bots.kinds import FAULT_WAYS
from whybox.targets.openai import Endpoint, OpenAITarget
from whybox.targets.pace import Patience
from whybox.targets.target import Reply, Request, Sampling, chat

ANSWER_S = 0.02
FAULTS = 0.1
WITHIN = 0.85
MOST_GROWTH = 16 << 20
TIMEOUT_S = 2.0
MOST = 0.95


@dataclass(frozen=True)
class Measured:
    """calls: asked for. replies, failures: outcomes. lost, doubled: indices. answered: answers that the server sent.

    seconds: until most of the calls had come; the last ones wait for hangs. reached: calls a second by then.
    ceiling: what the places of the server allow for the attempts that were made. grown: bytes of the process behind the
    first fifth of the calls.
    """

    calls: int
    replies: int
    failures: int
    lost: int
    doubled: int
    attempts: int
    answered: int
    seconds: float
    reached: float
    ceiling: float
    grown: int

    @property
    def share(self) -> float:
        return self.reached / self.ceiling

    @property
    def held(self) -> bool:
        """Whether every bound holds."""
        counted = self.lost == self.doubled == 0 and self.answered == self.replies == self.calls
        return counted and self.grown <= MOST_GROWTH and self.share >= WITHIN


@contextmanager
def serving(faults: float = FAULTS, ways: str = "+".join(FAULT_WAYS)) -> Iterator[tuple[str, str]]:
    """The bot in a process of its own: address and model."""
    command = [sys.executable, "-m", "whybox", "bots", "serve", "--bot", "errors", "--r", str(faults), "--ways", ways]
    process = subprocess.Popen([*command, "--latency", str(1e3 * ANSWER_S)], stdout=subprocess.PIPE, encoding="utf-8")
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), process.stdout.readline().strip().removeprefix("openai:")
    finally:
        process.terminate()
        process.wait()
        process.stdout.close()


def measured(url: str, model: str, calls: int, concurrency: int, timeout: float = TIMEOUT_S) -> Measured:
    """`calls` different calls, all to their end."""
    endpoint = Endpoint(model, url, timeout=timeout, patience=Patience(12, base=0.05), concurrency=concurrency)
    return asyncio.run(_measured(OpenAITarget(endpoint, random.Random(0)), calls))


async def _measured(target: OpenAITarget, calls: int) -> Measured:
    base = Request(chat(""), Sampling(max_tokens=16))
    requests = (replace(base, prompt=chat(f"Call {number}, please.")) for number in range(calls))
    seen: dict[int, int] = {}
    replies = failures = attempts = early = 0
    seconds = 0.0
    held, before, begun = 0.0, _answers(target.endpoint), time.perf_counter()
    async for index, outcome in target.ask_all(requests):
        seen[index] = seen.get(index, 0) + 1
        replies, failures = replies + isinstance(outcome, Reply), failures + (not isinstance(outcome, Reply))
        attempts += len(outcome.attempts)
        held += sum(_held(attempt.ended, target.endpoint.timeout) for attempt in outcome.attempts)
        if len(seen) == calls // 5:
            early = _resident()
        if len(seen) == round(MOST * calls):
            seconds = time.perf_counter() - begun
    endpoint = target.endpoint
    await target.close()
    return Measured(
        calls=calls,
        replies=replies,
        failures=failures,
        lost=calls - len(seen),
        doubled=sum(count > 1 for count in seen.values()),
        attempts=attempts,
        answered=_answers(endpoint) - before,
        seconds=seconds,
        reached=MOST * calls / seconds,
        ceiling=endpoint.concurrency * calls / held,
        grown=max(0, _resident() - early),
    )


def _held(ended: str, timeout: float) -> float:
    """How long an attempt holds a place of the server."""
    return timeout if ended == "timeout" else ANSWER_S


def _answers(endpoint: Endpoint) -> int:
    found: int = httpx.get(endpoint.base_url.removesuffix("/v1") + "/health").json()["answered"]
    return found


def _resident() -> int:
    """The most memory that this process ever held, bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reading.add_argument("--calls", type=int, default=10_000)
    reading.add_argument("--concurrency", type=int, default=64)
    reading.add_argument("--json", action="store_true")
    options = reading.parse_args()
    with serving() as (url, model):
        found = measured(url, model, options.calls, options.concurrency)
    if options.json:
        print(json.dumps(asdict(found) | {"share": found.share, "held": found.held}, indent=1))
    else:
        print(f"{found.calls} calls, {MOST:.0%} of them in {found.seconds:.1f} s")
        print(f"{found.replies} replies, {found.failures} failures")
        print(f"lost {found.lost}, doubled {found.doubled}; {found.attempts} attempts, {found.answered} answered")
        print(f"{found.reached:.0f} calls/s of {found.ceiling:.0f} ({found.share:.0%})")
        print(f"grown by {found.grown / 1e6:.1f} MB")
    sys.exit(0 if found.held else 1)


if __name__ == "__main__":
    main()
