"""A process that is ended again and again while it runs a suite: `python -m tests.suite.killed FOLDER TIMES SIGNAL`.

Prints how many calls were finished at each death. It forks, so that only the first sitting pays for the imports.
"""

import asyncio
import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.suite.fake import FakeTarget, calls_of
from whybox.suite.executor import LocalExecutor
from whybox.suite.runner import Sitting
from whybox.suite.schedule import scheduled
from whybox.suite.store import Store

LATENCY, WIDTH = 0.004, 4
CALLS = calls_of(100)
MOST_CALLS = 36  # of one sitting


def sit(folder: Path, latency: float = LATENCY) -> None:
    """One sitting, to its end."""
    target = FakeTarget(latency, WIDTH, log=folder / "asked.log")
    with Store(folder / "run.sqlite") as store:
        store.begin(CALLS)
        sitting = Sitting(store)
        left = store.unfinished(scheduled(CALLS, seed=7))
        sitting.plan(len(left))
        asyncio.run(sitting.make(left, LocalExecutor(target), "fake"))


def begun(folder: Path) -> int:
    """How many calls were begun so far, in all sittings."""
    log = folder / "asked.log"
    return log.read_bytes().count(b"\n") if log.exists() else 0


def _wait(child: int, calls: int, folder: Path) -> None:
    """Until so many calls were begun, or the child has nothing left to do."""
    while begun(folder) < calls and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        time.sleep(LATENCY / 8)


def main(folder: Path, times: int, ending: signal.Signals) -> None:
    draw = random.Random(11)
    for _ in range(times):
        child = os.fork()
        if child == 0:
            try:
                sit(folder)
            finally:
                os._exit(0)
        _wait(child, begun(folder) + draw.randrange(MOST_CALLS), folder)
        time.sleep(draw.uniform(0.0, LATENCY))
        os.kill(child, ending)
        os.waitpid(child, 0)
        with Store(folder / "run.sqlite") as store:
            print(store.counts().finished)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), signal.Signals[sys.argv[3]])
