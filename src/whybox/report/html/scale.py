"""From values to places: axes with round ticks. Places are percent of the width, so a figure fits any screen."""

import math
from dataclasses import dataclass

from whybox.report.numbers import number


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Scale:
    """A linear axis: `low` at `start` percent, `high` at `end` percent (start > end turns it round)."""

    low: float
    high: float
    start: float = 3.0
    end: float = 97.0

    def at(self, value: float) -> float:
        """Place in percent, kept within the axis."""
        inside = min(max(value, self.low), self.high)
        return round(self.start + (inside - self.low) / (self.high - self.low) * (self.end - self.start), 3)

    def ticks(self, about: int = 5) -> list[Tick]:
        """Round values on the axis, at most about + 2 of them."""
        step = _round_step((self.high - self.low) / about)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        return [Tick(self.at(i * step), _tick_label(i * step, step)) for i in range(first, last + 1)]


def scale_over(values: list[float], start: float = 3.0, end: float = 97.0, room: float = 0.0) -> Scale:
    """The axis that holds zero and every value; never of length zero. `room`: least part on either side of zero."""
    low, high = min([0.0, *values]), max([0.0, *values])
    if high - low < 1e-12:
        low, high = -1.0, 1.0
    least = room * (high - low)
    low, high = min(low, -least), max(high, least)
    return Scale(low, high, start, end)


def _round_step(step: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(step))
    return next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= step * 0.999)


def _tick_label(value: float, step: float) -> str:
    decimals = max(0, -math.floor(math.log10(step) + 1e-9))
    return number(0.0) if value == 0 else f"{value:.{decimals}f}".replace("-", "−")
