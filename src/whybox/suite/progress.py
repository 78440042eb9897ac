"""How far a run is: what is done, how fast, what failed, how long it will take."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Progress:
    """done and failed: of the calls of this sitting, those from the cache among them. seconds: since it began."""

    planned: int
    done: int = 0
    failed: int = 0
    cached: int = 0
    seconds: float = 0.0

    @property
    def rate(self) -> float | None:
        """Calls a second, those from the cache aside; None before there is one."""
        made = self.done - self.cached
        return made / self.seconds if made and self.seconds > 0 else None

    @property
    def left_s(self) -> float | None:
        """Seconds until the last call at this rate."""
        return None if self.rate is None else (self.planned - self.done) / self.rate


Tell = Callable[[Progress], None]


def unseen(progress: Progress) -> None:
    """Nobody is told."""
