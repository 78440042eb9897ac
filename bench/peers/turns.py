"""The worker's half of the bench's protocol; standard library only, so that it runs in every environment.

    python -m bench.peers.NAME TASK '{"argument": value}'

A task sets itself up and returns the work, a callable; `serve` runs it once to warm it, says ready, and then measures
it for each line of input.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Work = Callable[[], Mapping[str, Any]]
"""Does the work once. What it returns joins the measurement; `units` is how much was done."""

TURN_S = 0.5
"""Work that is quicker is repeated for so long in each turn, so that caches that the others filled weigh little."""


class NotOffered(Exception):
    """The library lacks this work; the message says what."""


def serve(tasks: Mapping[str, Callable[..., Work]]) -> None:
    """Answers on the real stdout; whatever else prints there lands on stderr."""
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    task, arguments = sys.argv[1], json.loads(sys.argv[2])
    try:
        cold = arguments.pop("cold", False)
        work = tasks[task](**arguments)
        if not cold:
            work()
        print(json.dumps({"ready": True}), file=answers)
        for _ in sys.stdin:
            print(json.dumps(measured(work)), file=answers)
    except NotOffered as reason:
        print(json.dumps({"not_run": str(reason)}), file=answers)
    except Exception as problem:  # the reason is part of the protocol; the traceback goes to stderr
        print(json.dumps({"not_run": f"{type(problem).__name__}: {problem}".splitlines()[0]}), file=answers)
        raise


def measured(work: Work, at_least_s: float = TURN_S) -> dict[str, Any]:
    """One turn: mean wall seconds of the work, units, peak memory, and what the work reports."""
    begun, times = time.perf_counter(), 0
    while times == 0 or time.perf_counter() - begun < at_least_s:
        reported = work()
        times += 1
    seconds = (time.perf_counter() - begun) / times
    return {"seconds": seconds, "units": 1, "peak_bytes": peak_bytes(), **reported}


def peak_bytes() -> int:
    """Peak resident memory of this process (on Linux its own; elsewhere as getrusage tells it)."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    import resource  # not there on Windows

    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale
