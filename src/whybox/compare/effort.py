"""How far a comparison is: steps that were made, of those that are planned. The plan grows where a cause is sought.

A step is a layer run on a text; where parts are given back, or faults imposed on a whole model, a run.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Standing:
    """stage: what is being compared. done, planned: steps. rate: of them a second; left_s: seconds left by it."""

    stage: str
    done: int = 0
    planned: int = 0
    rate: float | None = None
    left_s: float | None = None


def silent(_: Standing) -> None:
    """Nobody is told."""


class Effort:
    """Counts what is run, and tells after each run. within: of which comparison, where there are many; later: steps of
    those that follow.
    """

    def __init__(self, tell: Callable[[Standing], None] = silent) -> None:
        self.tell = tell
        self.within, self.stage = "", ""
        self.done, self.planned, self.later = 0, 0, 0
        self._begun = time.monotonic()

    def begin(self, stage: str) -> None:
        """Something else is compared now."""
        self.stage = f"{self.within} · {stage}" if self.within else stage
        self._told()

    def plan(self, steps: int) -> None:
        """So many more than was thought."""
        self.planned += steps

    def did(self, steps: int = 1) -> None:
        """So many are done."""
        self.done += steps
        self.planned = max(self.planned, self.done)
        self._told()

    def remains(self, steps: int) -> None:
        """So many are left, whatever was planned: some were not needed, or are known from before."""
        self.planned = self.done + steps + self.later

    def _told(self) -> None:
        took = time.monotonic() - self._begun
        rate = self.done / took if self.done and took > 0 else None
        left = None if rate is None else (self.planned - self.done) / rate
        self.tell(Standing(self.stage, self.done, self.planned, rate, left))
