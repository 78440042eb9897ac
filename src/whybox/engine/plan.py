"""Which counterfactuals run together: batches of changes that begin at about the same position.

The law of costs, in rows × layers. A change felt at layer L and position P of a text of n tokens has n − P rows to
compute in D − L layers (D counts the head as one). All members of a batch compute the same rows, from the earliest
start to the latest end; each joins at its own layer, where its rows come from the base run. So a batch costs

    launch · (D − lowest layer)  +  (latest end − earliest start) · Σ over members (D − layer)

where `launch` is the price of starting a layer at all, in rows: its weights travel from memory once, however few rows
they meet. Joining a change with a later start (or an earlier end) wastes rows, small batches waste launches; the plan
weighs one against the other. `room` bounds the rows in flight: members × rows, as memory allows.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

from whybox.engine.felt import Base, first_felt
from whybox.engine.trace import Change
from whybox.errors import UsageError

LAUNCH = 32  # rows; about 10 in float32 and 20 in bfloat16 by memory traffic alone, more with eager calls


@dataclass(frozen=True)
class Task:
    """Rows start … end − 1 to compute, from a layer on."""

    layer: int
    start: int
    end: int


@dataclass(frozen=True)
class Group:
    """One batch: rows start … end − 1 of each member, which is an index of the changes.

    layers: where each member joins; they rise. end: of the longest member's text, beyond that of a shorter one. Members
    without a row to compute (start = end) are as the base run says.
    """

    start: int
    end: int
    members: tuple[int, ...]
    layers: tuple[int, ...]

    @property
    def layer(self) -> int:
        """Where the batch begins."""
        return self.layers[0]

    @property
    def rows(self) -> int:
        """Rows in flight once all members have joined."""
        return len(self.members) * (self.end - self.start)


def groups(changes: Sequence[Change], base: Base, room: int, launch: int = LAUNCH) -> list[Group]:
    """Batches that hold every change once; a change that alone exceeds the room is a batch of its own.

    room: rows in flight at most. launch: price of starting one layer, in rows. The same changes give the same plan.
    """
    felt = [first_felt(change, base) for change in changes]
    ends = [len(change.text(base.ids)) for change in changes]
    tasks = [Task(at.layer, at.position, end) for at, end in zip(felt, ends, strict=True)]
    return [_group(tasks, members) for members in batches(tasks, len(base.spec.layers) + 1, room, launch)]


def batches(tasks: Sequence[Task], depth: int, room: int, launch: int = LAUNCH) -> list[tuple[int, ...]]:
    """Indices of tasks that run together, by layer within a batch. UsageError for a room below one row.

    Tasks with the same rows fill whole batches first, from the lowest layer up; what is left over is joined to its
    neighbours by (start, end) where that is cheapest.
    """
    if room < 1:
        raise UsageError(f"expected room for at least 1 row, found {room}")
    whole: list[_Lot] = []
    rest: list[_Lot] = []
    for members in _alike(tasks):
        for lot in _filled(tasks, members, depth, room):
            (rest if lot.width and lot.rows + lot.width <= room else whole).append(lot)
    lots = whole + _joined(rest, depth, room, launch)
    return [_by_layer(tasks, lot.members) for lot in sorted(lots, key=lambda lot: (lot.start, lot.end, lot.layer))]


@dataclass(frozen=True)
class _Lot:
    """Tasks that run together. levels: Σ (depth − layer) of its members."""

    start: int
    end: int
    layer: int
    levels: int
    members: tuple[int, ...]

    def __or__(self, other: "_Lot") -> "_Lot":
        start, end = min(self.start, other.start), max(self.end, other.end)
        layer, members = min(self.layer, other.layer), self.members + other.members
        return _Lot(start, end, layer, self.levels + other.levels, members)

    @property
    def width(self) -> int:
        return self.end - self.start

    @property
    def rows(self) -> int:
        return len(self.members) * self.width

    def cost(self, depth: int, launch: int) -> int:
        return launch * (depth - self.layer) + self.width * self.levels


def _alike(tasks: Sequence[Task]) -> Iterator[tuple[int, ...]]:
    """Tasks with the same rows, by layer."""
    alike: dict[tuple[int, int], list[int]] = {}
    for index, task in enumerate(tasks):
        alike.setdefault((task.start, task.end), []).append(index)
    for place in sorted(alike):
        yield _by_layer(tasks, alike[place])


def _by_layer(tasks: Sequence[Task], members: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(members, key=lambda member: (tasks[member].layer, member)))


def _filled(tasks: Sequence[Task], members: tuple[int, ...], depth: int, room: int) -> Iterator[_Lot]:
    """Tasks with the same rows in batches as full as the room allows."""
    start, end = tasks[members[0]].start, tasks[members[0]].end
    most = max(room // (end - start), 1) if end > start else len(members)
    for first in range(0, len(members), most):
        batch = members[first : first + most]
        levels = [depth - tasks[member].layer for member in batch]
        yield _Lot(start, end, depth - max(levels), sum(levels), batch)


def _joined(lots: Sequence[_Lot], depth: int, room: int, launch: int) -> list[_Lot]:
    """The cheapest way to cut a row of lots: best(end) = min over start of best(start) + cost of the lots between."""
    best, cuts = [0], [0]
    for end in range(1, len(lots) + 1):
        cheapest, cut = min((best[start] + price, start) for start, price in _endings(lots, end, depth, room, launch))
        best.append(cheapest)
        cuts.append(cut)
    chosen: list[_Lot] = []
    end = len(lots)
    while end > 0:
        chosen.append(reduce(_Lot.__or__, lots[cuts[end] : end]))
        end = cuts[end]
    return chosen


def _endings(lots: Sequence[_Lot], end: int, depth: int, room: int, launch: int) -> Iterator[tuple[int, int]]:
    """Batches that end before `end`: where each begins, and its cost."""
    last = joined = lots[end - 1]
    yield end - 1, last.cost(depth, launch)
    for start in range(end - 2, -1, -1):
        joined = lots[start] | joined
        wasted = (joined.width - last.width) * last.levels
        # Once the last lot wastes more than a launch of its own would cost, so it does in every longer batch.
        if joined.rows > room or wasted > launch * depth:
            return
        yield start, joined.cost(depth, launch)


def _group(tasks: Sequence[Task], members: tuple[int, ...]) -> Group:
    chosen = [tasks[member] for member in members]
    start, end = min(task.start for task in chosen), max(task.end for task in chosen)
    return Group(start, end, members, tuple(task.layer for task in chosen))
