"""What is compared: sides that do the same work in turns, and rows that read a ratio off what they took."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Side:
    """One worker process: a module run with the Python of `environment`, its task, and the task's arguments.

    The argument `cold` leaves out the work that warms it: for work that lasts long, or warms itself with less.
    """

    environment: str
    module: str
    task: str
    arguments: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Contest:
    """Sides that take turns in one run. rounds: at most so many, for work that lasts long. giant: needs the 8B file.

    limit_s: a side that has not answered a single measurement by then is stopped.
    """

    name: str
    sides: Mapping[str, Side]
    rounds: int = 5
    giant: bool = False
    limit_s: float = 1800.0


@dataclass(frozen=True)
class Measurement:
    """One piece of work. seconds for `units` of it; the process's peak so far; whatever else the side reports."""

    seconds: float
    units: float
    peak_bytes: int
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Taken:
    """A side over all its rounds.

    seconds: median, for one unit; whole_s: median, for the work as asked; peak_bytes: the largest; extra: the last's.
    """

    seconds: float
    whole_s: float
    peak_bytes: int
    extra: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Absent:
    """A side that could not be measured, and why."""

    reason: str


Shown = Taken | Absent


@dataclass(frozen=True)
class Speed:
    """ratio = our units per second ÷ theirs, at least the goal."""

    unit: str


@dataclass(frozen=True)
class Cost:
    """ratio = our seconds ÷ theirs, at most the goal."""


@dataclass(frozen=True)
class Start:
    """ratio = (our seconds − those of the side `without`) ÷ theirs, at most the goal."""

    without: str


@dataclass(frozen=True)
class Peak:
    """ratio = our peak memory ÷ a limit in bytes, at most the goal; no peer."""

    limit: int


@dataclass(frozen=True)
class SameTop:
    """ratio = share of their `count` strongest effects that are among our strongest, at least the goal."""

    count: int


@dataclass(frozen=True)
class WithinFloor:
    """ratio = largest difference between our effects and theirs ÷ the noise floor that we print, at most the goal."""


@dataclass(frozen=True)
class NearTruth:
    """ratio = our largest distance from the effects of the side `truth` ÷ the noise floor that we print.

    At most the goal. The truth has every `every`-th effect. Beside ours stands the peer's distance from the same truth.
    """

    truth: str
    every: int


Compare = Speed | Cost | Start | Peak | SameTop | WithinFloor | NearTruth


@dataclass(frozen=True)
class Row:
    """One line of the table. ours, peers: sides of the contest; the fastest of each counts.

    Of ours at least one must have run; of the peers every one. goal None: told, not judged.
    """

    name: str
    work: str
    peer: str
    contest: str
    ours: tuple[str, ...]
    peers: tuple[str, ...]
    compare: Compare
    goal: float | None
