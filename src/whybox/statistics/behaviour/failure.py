"""Attribution of wrong answers: which step undoes a failure, and how many failures each cause explains."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from whybox.statistics.intervals import Interval, Rate, wilson

OPEN = "not-determined"
UNDOES, RETRIES = 4, 1  # of five runs: at least so many right after the step, at most so many after plain retries
FEWEST = 30  # failures, for shares


@dataclass(frozen=True)
class Step:
    """Five runs after a step, five plain retries, and each sham's five runs: how many were right."""

    right: Rate
    retries: Rate
    shams: tuple[Rate, ...]

    @property
    def undoes(self) -> bool:
        """Right in at least 4 of 5, while plain retries are in at most 1 of 5 and no sham undoes it as well."""
        return _undone(self.right) and not self.noise and not any(_undone(sham) for sham in self.shams)

    @property
    def noise(self) -> bool:
        """Plain retries already turn it right more than once: no step can claim that it did."""
        return self.retries.hits > RETRIES


def _undone(rate: Rate) -> bool:
    return 5 * rate.hits >= UNDOES * rate.n > 0


@dataclass(frozen=True)
class Share:
    """Failures that a cause explains, of all failures."""

    code: str
    rate: Rate
    interval: Interval | None


def shares(codes: Sequence[str]) -> list[Share]:
    """One share per code, largest first, `not-determined` always among them and last."""
    counted = Counter(codes)
    named = sorted((code for code in counted if code != OPEN), key=lambda code: (-counted[code], code))
    rates = [(code, Rate(counted[code], len(codes))) for code in (*named, OPEN)]
    return [Share(code, rate, wilson(rate)) for code, rate in rates]


def unexplained(codes: Sequence[str]) -> Rate:
    """Failures whose cause was not determined."""
    return Rate(sum(code == OPEN for code in codes), len(codes))
