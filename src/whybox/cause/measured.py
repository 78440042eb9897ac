"""An effect with all that must stand beside it: floor, null, and how many runs it rests on."""

from dataclasses import dataclass

from whybox.cause.effects import Unknown
from whybox.cause.null import Null
from whybox.statistics.intervals import t_interval

STEPS = 5  # an effect of up to five times the floor counts as none


@dataclass(frozen=True)
class Measured:
    """value: m(edited) − m(base), in the unit of the read (logits or nats). floor: δ, what m moves by on its own.

    null: effects of matched draws, or why there are none. n: runs that the value is a mean of. sd: over those runs,
    None for a single one. changed: whether the edits changed anything; where they did not, the value is exactly 0.
    """

    value: float
    floor: float
    null: Null | Unknown
    n: int = 1
    sd: float | None = None
    changed: bool = True

    @property
    def is_none(self) -> bool:
        """Not above five times the floor."""
        return abs(self.value) <= STEPS * self.floor

    @property
    def interval(self) -> tuple[float, float] | None:
        """95 % t interval of the mean over its runs; None for a single one, or for runs all alike."""
        return None if self.sd is None else t_interval(self.value, self.sd, self.n)

    @property
    def is_clear(self) -> bool:
        """Above the floor, and its runs agree on the sign: their interval holds no 0."""
        bounds = self.interval
        return not self.is_none and (bounds is None or bounds[0] * bounds[1] > 0)

    @property
    def p(self) -> float | None:
        """Of the effect among its matched draws; None without draws."""
        return self.null.p(self.value) if isinstance(self.null, Null) else None

    @property
    def percentile(self) -> float | None:
        """Share of matched draws, in percent, that are smaller; None without draws."""
        return self.null.percentile(self.value) if isinstance(self.null, Null) else None

    @property
    def beyond_null(self) -> bool | None:
        """Whether it is larger than 95 % of the matched draws, and above the floor; None without draws."""
        return not self.is_none and self.null.beyond(self.value) if isinstance(self.null, Null) else None
