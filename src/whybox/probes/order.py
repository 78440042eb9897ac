"""`order`: the same independent parts in other orders. How many answers change, beyond those that change anyway?

D = F − F₀: the share of pairs of calls with different answers in different orders, minus the same in one order.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

import numpy as np
from jaxtyping import Integer
from pydantic import Field

from whybox.errors import UsageError
from whybox.items.generate import Item, generate
from whybox.items.schema import Name
from whybox.items.seeds import item_generator
from whybox.probes.design import (
    AnyOutcome,
    Call,
    Curve,
    Deciding,
    Design,
    Estimate,
    Finding,
    Ground,
    Measure,
    Plan,
    Record,
    Seen2,
    answer_code,
    said,
    scored,
)
from whybox.probes.estimates import ranked
from whybox.statistics.behaviour.order import most_distinct, place_counts, slope, tau_to_first
from whybox.statistics.calls import LOST, Calls, complete, first, lost, mark, rate, worst
from whybox.statistics.changes import Changes, changes, item_effects, worst_effects
from whybox.statistics.designs import orders, unbalanced
from whybox.statistics.intervals import Rate, wilson
from whybox.statistics.permutation import Permuted, spread, within_items
from whybox.statistics.power import smallest_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import request_of

PLANNED_DISCORDANCE = 0.2  # share of items that differ, as the table of designed sizes assumes
BOUND = re.compile(r"\b(?:above|below|former|latter|previous|following)\b|前者|后者|上述|下述|第一|第二", re.IGNORECASE)


class OrderProbe(Design):
    """units: parts of a generated item. parts: of the user's own items, those that commute."""

    NAME: ClassVar[str] = "order"
    ABOUT: ClassVar[str] = "Independent parts change places: do more answers change than when the same is asked again?"
    GATES: ClassVar[tuple[str, ...]] = ("statistic: changed, at_most: 0.05",)
    MEASURES: ClassVar[dict[str, Measure]] = {
        "changed": Measure(
            "effects",
            (
                "Reordering independent parts changes at most {limit} more answers than asking again does.",
                "调换互不依赖的段落，改变的答案比原样重问最多多 {limit}。",
            ),
        ),
        "right": Measure(
            "rate",
            ("At every order at least {limit} of the answers are right.", "每一种顺序下正确率都不低于 {limit}。"),
        ),
    }

    items: Annotated[int, Field(ge=1, le=10_000)] = 100
    runs: Annotated[int, Field(ge=2, le=100)] = 2
    units: Annotated[int, Field(ge=2, le=8)] = 4
    parts: Annotated[list[Name], Field(min_length=2, max_length=8)] | None = None

    def plan(self, name: str, ground: Ground) -> Plan:
        """Every item in every order of a Williams square, so many times."""
        items = self._items(ground)
        calls = [call for item in items for call in self._calls(name, item, ground)]
        found = smallest_difference(len(items), PLANNED_DISCORDANCE)
        return Plan(tuple(calls), items, Unknown("too few items") if found is None else found)

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """D with its interval, floor and null; right answers at every order."""
        cells = ((r.call.item, int(dict(r.call.facts)["place"]), str(r.call.run)) for r in records)
        items = _of(plan, records)
        if (broken := unbalanced(cells)) is not None or not items:
            return Finding((), {}, Rate(0, len(records)), broken=broken or "no item was asked")
        table = _Table(items, records)
        found = changes(table.codes, item_generator(seed, self.NAME, "null"))
        marks = first(table.marks)
        by_order = list(zip(table.arms, marks.T, strict=True))
        effects = Seen2(item_effects(table.codes), worst_effects(table.codes))
        rights = tuple((arm, Seen2(rate(column), rate(worst(column)))) for arm, column in by_order)
        curves = (
            Curve("right", "order", tuple((arm, rate(column)) for arm, column in by_order)),
            Curve("place of a wrong answer", "place", table.wrong_places(self._named)),
        )
        return Finding(
            (_estimate(found, len(items)), _right(marks), _spread(marks, seed), _slope(marks, table.orders)),
            {"changed": (("all orders", effects),), "right": rights},
            lost(table.codes),
            curves,
            table.deciding(self._named),
        )

    def _items(self, ground: Ground) -> tuple[Item, ...]:
        if self.data is None:
            return generate("fact", self.language, self.items, ground.seed, ground.count, size=self.units)
        items = ground.data[self.data][: self.items]
        if self.parts is None:
            raise UsageError("order: data of your own needs `parts`", "name the parts that may stand in any order")
        for item in items:
            for part in self.parts:
                if (word := BOUND.search(item.instance.part(part).text)) is not None:
                    raise UsageError(
                        f"order: {item.id}: part {part} says {word[0]!r}, so it does not commute", "leave the part out"
                    )
        return items

    def _named(self, item: Item) -> list[str]:
        return self.parts or [f"doc{i + 1}" for i in range(len(item.facts))]

    def _calls(self, name: str, item: Item, ground: Ground) -> list[Call]:
        named = self._named(item)
        sampling = replace(ground.sampling, max_tokens=self.max_tokens)
        asked = item.instance.evidence[0] if item.instance.evidence else named[0]
        calls = []
        for order in orders(len(named)):
            arranged = [named[unit] for unit in order]
            request = request_of(item.instance.reordered(arranged), sampling)
            place = arranged.index(asked) if asked in arranged else 0
            arm = "-".join(str(unit + 1) for unit in order)
            calls += [
                Call(
                    ground.target, name, item.id, arm, run, replace(request, repeat=run), facts=(("place", str(place)),)
                )
                for run in range(self.runs)
            ]
        return calls


class _Table:
    """The calls as whole numbers [item arm run], with the words that they stand for."""

    def __init__(self, items: Sequence[Item], records: Sequence[Record]) -> None:
        self.items = items
        self.arms = list(dict.fromkeys(record.call.arm for record in records))
        runs = 1 + max(record.call.run for record in records)
        self.codes: Calls = np.full((len(items), len(self.arms), runs), LOST)
        self.marks: Calls = np.full((len(items), len(self.arms), runs), LOST)
        self.outcomes: dict[tuple[int, int, int], AnyOutcome] = {}
        rows = {item.id: row for row, item in enumerate(items)}
        known: dict[str, int] = {}
        for record in records:
            call = record.call
            at = rows[call.item], self.arms.index(call.arm), call.run
            score = scored(items[at[0]], record.outcome)
            code = answer_code(score)
            self.codes[at] = LOST if code is None else known.setdefault(code, len(known))
            self.marks[at] = mark(score.outcome)
            self.outcomes[at] = record.outcome

    @property
    def orders(self) -> Integer[np.ndarray, "arm k"]:
        """The order of every arm: which unit stands at each place."""
        return np.array([[int(unit) - 1 for unit in arm.split("-")] for arm in self.arms])

    def deciding(self, named: Callable[[Item], list[str]]) -> tuple[Deciding, ...]:
        """The items with the most different answers; behind them those that are wrong at every order alike."""
        rows = {item.id: row for row, item in enumerate(self.items)}
        changed = [rows[item] for item, _ in most_distinct(self.codes, list(rows))]
        wrong = np.flatnonzero((self.marks[:, :, 0] == 0).any(axis=1)).tolist()
        shown = ranked([*changed, *(row for row in wrong if row not in changed)])
        return tuple(self._deciding(row, named(self.items[row])) for row in shown)

    def _deciding(self, row: int, named: Sequence[str]) -> Deciding:
        """An item with its different answers, a wrong one last, and the case of that order."""
        codes = self.codes[row, :, 0]
        firsts = [int(np.flatnonzero(codes == code)[0]) for code in dict.fromkeys(codes[codes != LOST].tolist())]
        firsts.sort(key=lambda arm: self.marks[row, arm, 0] == 0)
        answers = [self.outcomes[row, arm, 0] for arm in firsts]
        item, last = self.items[row], firsts[-1]
        case = item.instance.reordered([named[unit] for unit in self.orders[last]])
        given = scored(item, answers[-1])
        if given.outcome == "wrong" and given.candidate is not None:
            case = replace(case, wrong=given.candidate)
        return Deciding(item.id, tuple(self.arms[arm] for arm in firsts), tuple(map(said, answers)), case)

    def wrong_places(self, named: Callable[[Item], list[str]]) -> tuple[tuple[str, Rate], ...]:
        """At which place the value stood that was wrongly given, over all calls of generated items."""
        places = [place for at in self.outcomes if (place := self._place(at, named)) is not None]
        k = max((len(item.facts) for item in self.items), default=0)
        counts = place_counts(np.array(places, int), k) if places else []
        return tuple((str(place + 1), Rate(count, len(places))) for place, count in enumerate(counts))

    def _place(self, at: tuple[int, int, int], named: Callable[[Item], list[str]]) -> int | None:
        item = self.items[at[0]]
        score = scored(item, self.outcomes[at])
        if score.outcome != "wrong" or item.asked is None or score.candidate not in item.others:
            return None
        unit = item.others.index(score.candidate)
        unit += unit >= item.asked
        return self.arms[at[1]].split("-").index(str(unit + 1))


def _of(plan: Plan, records: Sequence[Record]) -> tuple[Item, ...]:
    """The items of which there are records, in the order of the plan."""
    asked = {record.call.item for record in records}
    return tuple(item for item in plan.items if item.id in asked)


def _estimate(found: Changes | Unknown, items: int) -> Estimate:
    if isinstance(found, Unknown):
        return Estimate("changed", found, None, items, found, found)
    null = found.null
    drawn, p = (null.null_95, null.p) if isinstance(null, Permuted) else (null, None)
    return Estimate("changed", found.effect, found.interval, found.items, found.floor, drawn, p)


def _right(marks: Integer[np.ndarray, "item arm"]) -> Estimate:
    """Right answers in the first order: the one that a gate on rates reads first."""
    seen = rate(marks[:, 0])
    share = seen.share
    return Estimate("right", Unknown("no call came back") if share is None else share, wilson(seen), seen.n)


def _spread(marks: Integer[np.ndarray, "item arm"], seed: int) -> Estimate:
    """Best order minus worst. Far above 0 without any effect, so it has no interval: its null is what it is read by."""
    whole = complete(marks)
    found = within_items(whole, spread, item_generator(seed, OrderProbe.NAME, "spread"))
    if isinstance(found, Unknown):
        return Estimate("spread", found, None, len(whole), null_95=found, primary=False)
    return Estimate("spread", found.observed, None, len(whole), null_95=found.null_95, p=found.p, primary=False)


def _slope(marks: Integer[np.ndarray, "item arm"], arranged: Integer[np.ndarray, "arm k"]) -> Estimate:
    """How right answers change from the first order (τ = 1) to its reverse (τ = −1), per unit of Kendall's τ."""
    found = slope(marks, tau_to_first(arranged))
    items = len(complete(marks))
    if found is None:
        return Estimate("slope over order", Unknown("no item is whole"), None, items, primary=False)
    return Estimate("slope over order", *found, items, primary=False)
