"""Many calls to a server that fails now and then: none lost, none doubled, memory flat, and how near to its ceiling.

    python -m bench.calls [--calls N] [--concurrency N] [--ways 429+500+hang+malformed+half_closed] [--json]

The server is the bot `errors` in a process of its own: 20 ms an answer, one attempt in ten is a 429, a 500, a hang,
half a JSON or a connection that breaks. The calls are those of a run: each is in its file before the next. Two
ceilings: what the places of the server (the concurrency) allow over the time that the attempts of these calls held one
(waits between attempts hold none); and what a bare client reaches at the same server, which sends bytes made
beforehand and keeps nothing. The lower one is the server's. Exit code 1 when a call is lost or doubled, memory grows,
or less than 85 % of it is reached.
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
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from bench import bare
from whybox.probes.design import Call
from whybox.suite.cache import AnswerCache
from whybox.suite.executor import LocalExecutor
from whybox.suite.progress import Progress
from whybox.suite.runner import Sitting
from whybox.suite.store import Store
from whybox.targets.bots.kinds import FAULT_WAYS
from whybox.targets.openai import Endpoint, OpenAITarget
from whybox.targets.pace import Patience
from whybox.targets.target import Failure, Reply, Request, Sampling, chat

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
    ceiling: what the places of the server allow for the attempts that were made. bare: what a client reaches that does
    nothing else; None where it was not asked. grown: bytes of the process behind the first fifth of the calls.
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
    bare: float | None = None

    @property
    def share(self) -> float:
        """Of the ceiling of the server."""
        return self.reached / min(self.ceiling, self.bare or self.ceiling)

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
    """`calls` different calls of a run, all to their end: each is kept before the next, as `whybox run` does."""
    endpoint = Endpoint(model, url, timeout=timeout, patience=Patience(12, base=0.05), concurrency=concurrency)
    target = OpenAITarget(endpoint, random.Random(0))
    planned = [Call("bot", "calls", str(number), "as-is", 0, request) for number, request in enumerate(asked(calls))]
    with TemporaryDirectory() as folder, Store(Path(folder) / "run.sqlite") as store:
        with AnswerCache(Path(folder) / "answers.sqlite", store.begin(planned)) as cache:
            watch = _Watch(calls)
            before, begun = _answers(endpoint), time.perf_counter()
            asyncio.run(_made(Sitting(store, cache, watch.saw), planned, target))
            late = _resident()
        outcomes = [finished.outcome for finished in store.finished()]
    seconds = watch.most - begun
    attempts = [attempt for outcome in outcomes for attempt in outcome.attempts]
    return Measured(
        calls=calls,
        replies=sum(isinstance(outcome, Reply) for outcome in outcomes),
        failures=sum(isinstance(outcome, Failure) for outcome in outcomes),
        lost=calls - len(outcomes),
        doubled=watch.seen - len(outcomes),
        attempts=len(attempts),
        answered=_answers(endpoint) - before,
        seconds=seconds,
        reached=MOST * calls / seconds,
        ceiling=concurrency * calls / sum(_held(attempt.ended, timeout) for attempt in attempts),
        grown=max(0, late - watch.early),
    )


def asked(calls: int) -> list[Request]:
    """So many different requests."""
    return [Request(chat(f"Call {number}, please."), Sampling(max_tokens=16)) for number in range(calls)]


async def _made(sitting: Sitting, calls: list[Call], target: OpenAITarget) -> None:
    try:
        await sitting.make(calls, LocalExecutor(target), "bot")
    finally:
        await target.close()


@dataclass
class _Watch:
    """Looks at the clock when most of the calls have come, and at the memory after a fifth."""

    calls: int
    seen: int = 0
    early: int = 0
    most: float = 0.0

    def saw(self, progress: Progress) -> None:
        self.seen = progress.done
        if progress.done == self.calls // 5:
            self.early = _resident()
        if progress.done == round(MOST * self.calls):
            self.most = time.perf_counter()


def _held(ended: str, timeout: float) -> float:
    """How long an attempt holds a place of the server."""
    return timeout if ended == "timeout" else ANSWER_S


def _answers(endpoint: Endpoint) -> int:
    with urlopen(endpoint.base_url.removesuffix("/v1") + "/health") as answer:
        return int(json.load(answer)["answered"])


def _resident() -> int:
    """The most memory that this process ever held, bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def main() -> None:
    reading = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reading.add_argument("--calls", type=int, default=10_000)
    reading.add_argument("--concurrency", type=int, default=64)
    reading.add_argument("--json", action="store_true")
    reading.add_argument("--ways", default="+".join(FAULT_WAYS))
    options = reading.parse_args()
    with serving(ways=options.ways) as (url, model):
        found = measured(url, model, options.calls, options.concurrency)
    with serving(ways=options.ways) as (url, model):
        least = bare.reached(url, model, asked(options.calls), options.concurrency, TIMEOUT_S, MOST)
    found = replace(found, bare=least)
    if options.json:
        print(json.dumps(asdict(found) | {"share": found.share, "held": found.held}, indent=1))
    else:
        print(f"{found.calls} calls, {MOST:.0%} of them in {found.seconds:.1f} s")
        print(f"{found.replies} replies, {found.failures} failures")
        print(f"lost {found.lost}, doubled {found.doubled}; {found.attempts} attempts, {found.answered} answered")
        print(f"{found.reached:.0f} calls/s; places allow {found.ceiling:.0f}, a bare client reaches {found.bare:.0f}")
        print(f"{found.share:.0%} of the ceiling")
        print(f"grown by {found.grown / 1e6:.1f} MB")
    sys.exit(0 if found.held else 1)


if __name__ == "__main__":
    main()
