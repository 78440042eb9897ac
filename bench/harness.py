"""Sides run in separate processes, in turns: each does the work once per round while the others wait.

A worker says `ready` when it is set up and warm; then each line that it reads asks for one measurement, which it
answers with one line of JSON. The end of its input ends it.
"""

import json
import statistics
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from bench.contest import Absent, Contest, Measurement, Shown, Side, Taken

Tell = Callable[[str], None]


class Unavailable(Exception):
    """A side that cannot be measured here: the message is the reason that the table shows."""


class Worker(Protocol):
    """A side that is set up and warm."""

    def measure(self) -> Measurement: ...

    def close(self) -> None: ...


Starter = Callable[[Side], Worker]


def hold(contest: Contest, rounds: int, start: Starter, tell: Tell) -> dict[str, Shown]:
    """All sides of a contest, measured in turns. A side that fails is absent, with its reason; the others go on."""
    absent: dict[str, Shown] = {}
    workers = _started(contest, start, tell, absent)
    found: dict[str, list[Measurement]] = {name: [] for name in workers}
    try:
        for number in range(min(rounds, contest.rounds)):
            for name, worker in workers.items():
                if name not in absent:
                    tell(f"{contest.name}: round {number + 1}, {name}")
                    _measure(name, worker, found, absent)
    finally:
        for worker in workers.values():
            worker.close()
    return absent | {name: summary(taken) for name, taken in found.items() if name not in absent}


def _started(contest: Contest, start: Starter, tell: Tell, absent: dict[str, Shown]) -> dict[str, Worker]:
    workers: dict[str, Worker] = {}
    for name, side in contest.sides.items():
        tell(f"{contest.name}: setting up {name}")
        try:
            workers[name] = start(side)
        except Unavailable as problem:
            absent[name] = Absent(str(problem))
    return workers


def _measure(name: str, worker: Worker, found: dict[str, list[Measurement]], absent: dict[str, Shown]) -> None:
    try:
        found[name].append(worker.measure())
    except Unavailable as problem:
        absent[name] = Absent(str(problem))


def summary(taken: Sequence[Measurement]) -> Taken:
    """The median of seconds per unit, and the largest peak."""
    return Taken(
        statistics.median(each.seconds / each.units for each in taken),
        statistics.median(each.seconds for each in taken),
        max(each.peak_bytes for each in taken),
        taken[-1].extra,
    )


class ProcessWorker:
    """A worker process that speaks the protocol above."""

    def __init__(self, command: Sequence[str], environment: Mapping[str, str], limit_s: float) -> None:
        self._limit_s = limit_s
        self._process = subprocess.Popen(
            command,
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._last_words = _Tail(self._process)
        try:
            self._answer()
        except Unavailable:
            self.close()
            raise

    def measure(self) -> Measurement:
        """One piece of work. Unavailable when the process ends, says why it cannot, or takes too long."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write("go\n")
            self._process.stdin.flush()
        except OSError:
            raise Unavailable(self._last_words.line()) from None
        answer = self._answer()
        seconds, units, peak = (answer.pop(key) for key in ("seconds", "units", "peak_bytes"))
        return Measurement(float(seconds), float(units), int(peak), answer)

    def close(self) -> None:
        """Ends the process."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            self._process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()

    def _answer(self) -> dict[str, float]:
        assert self._process.stdout is not None
        alarm = threading.Timer(self._limit_s, self._process.kill)
        alarm.start()
        line = self._process.stdout.readline()
        in_time = alarm.is_alive()
        alarm.cancel()
        if not line:
            raise Unavailable(self._last_words.line() if in_time else f"no answer within {self._limit_s:.0f} s")
        answer: dict[str, float] = json.loads(line)
        if "not_run" in answer:
            raise Unavailable(str(answer["not_run"]))
        return answer


class _Tail:
    """The last line that a process wrote to stderr."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._last = ""
        self._process = process
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stderr is not None
        with self._process.stderr as lines:
            for line in lines:
                self._last = line.strip() or self._last

    def line(self) -> str:
        """What the process said last, once it has ended."""
        code = self._process.wait(timeout=10)
        self._reader.join(timeout=10)
        return f"exit {code}: {self._last}" if self._last else f"exit {code}"
