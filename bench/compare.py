"""From what the sides took to the figures of a row."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import assert_never

from bench.contest import Absent, Cost, NearTruth, Peak, Row, SameTop, Shown, Speed, Start, Taken, WithinFloor

GIGA = 1e9


@dataclass(frozen=True)
class Figures:
    """ours, theirs: in `unit`; None where a side has no such figure. ratio None: `reason` says why."""

    unit: str
    ours: float | None
    theirs: float | None
    ratio: float | None
    reason: str = ""


class NotComparable(Exception):
    """A row that cannot be computed from what was measured."""


def figures(row: Row, shown: Mapping[str, Shown]) -> Figures:
    """The figures of a row; a side that is absent leaves the others standing, and gives the reason."""
    ours, theirs = _fastest_of_ours(row, shown), _fastest_of_peers(row, shown)
    unit, mine, others = _unit(row), _figure(row, ours, shown), _figure(row, theirs, shown)
    lacking = [side.reason for side in (ours, theirs) if isinstance(side, Absent)]
    if lacking:
        return Figures(unit, mine, others, None, "; ".join(lacking))
    try:
        return Figures(unit, mine, others, _ratio(row, ours, theirs, shown))
    except NotComparable as problem:
        return Figures(unit, mine, others, None, str(problem))


def reaches(row: Row, ratio: float | None) -> bool | None:
    """Whether the goal is met; None where there is no goal or no ratio."""
    if ratio is None or row.goal is None:
        return None
    return ratio >= row.goal if at_least(row) else ratio <= row.goal


def at_least(row: Row) -> bool:
    """Whether more is better."""
    return isinstance(row.compare, Speed | SameTop)


def _fastest_of_ours(row: Row, shown: Mapping[str, Shown]) -> Shown:
    present = [side for side in (shown[name] for name in row.ours) if isinstance(side, Taken)]
    return min(present, key=lambda side: side.seconds) if present else _absent(row.ours, shown)


def _fastest_of_peers(row: Row, shown: Mapping[str, Shown]) -> Shown | None:
    if not row.peers:
        return None
    if any(isinstance(shown[name], Absent) for name in row.peers):
        return _absent(row.peers, shown)
    return min((side for side in (shown[name] for name in row.peers) if isinstance(side, Taken)), key=_seconds)


def _seconds(side: Taken) -> float:
    return side.seconds


def _absent(names: Sequence[str], shown: Mapping[str, Shown]) -> Absent:
    reasons = [f"{name}: {side.reason}" for name in names if isinstance(side := shown[name], Absent)]
    return Absent("; ".join(reasons))


def _unit(row: Row) -> str:
    match row.compare:
        case Speed(unit):
            return unit
        case Cost() | Start():
            return "s"
        case Peak():
            return "GB"
        case SameTop(count):
            return f"of {count} heads"
        case WithinFloor() | NearTruth():
            return "nats"
    assert_never(row.compare)


def _figure(row: Row, side: Shown | None, shown: Mapping[str, Shown]) -> float | None:
    if not isinstance(side, Taken):
        return row.compare.limit / GIGA if side is None and isinstance(row.compare, Peak) else None
    match row.compare:
        case Speed():
            return 1 / side.seconds
        case Cost() | Start():
            return side.seconds
        case Peak():
            return side.peak_bytes / GIGA
        case SameTop() | WithinFloor():
            return None
        case NearTruth(truth, every):
            known = shown[truth]
            return None if isinstance(known, Absent) else _farthest(effects(side)[::every], effects(known))
    assert_never(row.compare)


def _ratio(row: Row, ours: Shown, theirs: Shown | None, shown: Mapping[str, Shown]) -> float:
    assert isinstance(ours, Taken)
    if isinstance(row.compare, Peak):
        return ours.peak_bytes / row.compare.limit
    assert isinstance(theirs, Taken)
    match row.compare:
        case Speed():
            return theirs.seconds / ours.seconds
        case Cost():
            return ours.seconds / theirs.seconds
        case Start(without):
            return _started(ours, theirs, shown[without])
        case SameTop(count):
            top, other = (set(strongest(effects(side), count)) for side in (ours, theirs))
            return len(top & other) / count
        case WithinFloor():
            return _farthest(effects(ours), effects(theirs)) / _floor(ours)
        case NearTruth(truth):
            distance = _figure(row, ours, shown)
            if distance is None:
                raise NotComparable(f"{truth} is not there to compare with")
            return distance / _floor(ours)
    assert_never(row.compare)


def _started(ours: Taken, theirs: Taken, without: Shown) -> float:
    if isinstance(without, Absent):
        raise NotComparable(without.reason)
    return (ours.seconds - without.seconds) / theirs.seconds


def _farthest(some: Sequence[float], others: Sequence[float]) -> float:
    return max(abs(a - b) for a, b in zip(some, others, strict=True))


def _floor(side: Taken) -> float:
    floor = side.extra.get("floor")
    if not isinstance(floor, int | float) or floor <= 0:
        raise NotComparable("our side printed no noise floor")
    return floor


def effects(side: Taken) -> list[float]:
    """The effects that a side reported, in nats, one per head in the order of layers and heads."""
    found = side.extra.get("effects")
    if not isinstance(found, list):
        raise NotComparable("a side reported no effects")
    return [float(value) for value in found]


def strongest(values: Sequence[float], count: int) -> list[int]:
    """Indices of the values that are largest in size."""
    return sorted(range(len(values)), key=lambda i: -abs(values[i]))[:count]
