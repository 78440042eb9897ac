"""The A/A floor: the same request again and again, before the first probe. What changes when nothing was changed?

cold: other prompts in between. warm: in a row. concurrent: all at once. They differ on real servers, so they are kept
apart. No answer of another run will do.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from whybox.probes.design import Call, Record, said
from whybox.statistics.intervals import Interval, Rate, clopper_pearson, flip_bound
from whybox.suite.schedule import share_of
from whybox.targets.target import Failure, Reply

FLOOR = "floor"
Condition = Literal["cold", "warm", "concurrent"]
CONDITIONS: tuple[Condition, ...] = get_args(Condition)


@dataclass(frozen=True)
class FloorFound:
    """Of one condition: calls whose text differs from the first of their item, with the bound that none would give."""

    condition: Condition
    items: int
    differing: Rate
    lost: int

    @property
    def interval(self) -> Interval | None:
        return clopper_pearson(self.differing)

    @property
    def bound(self) -> float | None:
        """What the flips of this condition are below, with 95 % confidence, when none was seen."""
        return flip_bound(self.differing.n) if self.differing.hits == 0 and self.differing.n else None


def floor_calls(calls: Sequence[Call], items: int, times: int) -> list[Call]:
    """The calls of the floor, in the order of their conditions; made from `items` calls of the suite itself."""
    chosen = share_of([call for call in calls if call.probe != FLOOR], items)
    return [
        _again(call, condition, place * times + time, time)
        for place, condition in enumerate(CONDITIONS)
        for call, time in _in_order(chosen, times, condition)
    ]


def found(records: Sequence[Record]) -> list[FloorFound]:
    """What changed under each condition; a call that failed is lost, and compared with nothing."""
    return [_found(condition, [r for r in records if r.call.arm == condition]) for condition in CONDITIONS]


def fingerprint(records: Sequence[Record]) -> str:
    """Who answered, as the answers say it themselves: part of the name under which answers are kept."""
    shown = {(r.outcome.served_by, r.outcome.fingerprint or "") for r in records if isinstance(r.outcome, Reply)}
    return ";".join("/".join(each) for each in sorted(shown))


def _in_order(chosen: Sequence[Call], times: int, condition: Condition) -> list[tuple[Call, int]]:
    if condition == "warm":
        return [(call, time) for call in chosen for time in range(times)]
    return [(call, time) for time in range(times) for call in chosen]


def _again(call: Call, condition: Condition, repeat: int, time: int) -> Call:
    item = f"{call.probe}/{call.item}/{call.arm}"
    return Call(call.target, FLOOR, item, condition, time, replace(call.request, repeat=repeat), fresh=True)


def _found(condition: Condition, records: Sequence[Record]) -> FloorFound:
    by_item: dict[str, list[str]] = {}
    came = [record for record in records if not isinstance(record.outcome, Failure)]
    for record in sorted(came, key=lambda record: record.call.run):
        by_item.setdefault(record.call.item, []).append(said(record.outcome))
    pairs = [(texts[0], text) for texts in by_item.values() for text in texts[1:]]
    differing = Rate(sum(one != other for one, other in pairs), len(pairs))
    return FloorFound(condition, len(by_item), differing, len(records) - len(came))
