"""`order`: the same independent parts in other orders. How many answers change, beyond those that change anyway?

D = F − F₀: the share of pairs of calls with different answers in different orders, minus the same in one order.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from whybox.errors import UsageError
from whybox.items.generate import Item, ItemKind, generate
from whybox.items.schema import Name
from whybox.probes import order_units
from whybox.probes.design import Call, Design, Finding, Ground, Measure, Plan, Record
from whybox.probes.order_reading import read
from whybox.probes.order_units import Arranged, Labels, Numbering
from whybox.statistics.designs import orders
from whybox.statistics.power import smallest_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import request_of

PLANNED_DISCORDANCE = 0.2  # share of items that differ, as the table of designed sizes assumes
CHOICES = 20  # most probable first tokens, among which the labels are looked for
BOUND = re.compile(r"\b(?:above|below|former|latter|previous|following)\b|前者|后者|上述|下述|第一|第二", re.IGNORECASE)


class OrderProbe(Design):
    """units: parts of a generated item. parts: of the user's own items, those that commute.

    numbering: a number in front of each part, which goes with it (kept) or belongs to its place (renewed).
    labels: the options of a generated choice change places instead, and their labels move with them or stay.
    """

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

    numbering: Annotated[list[Numbering], Field(max_length=2)] = Field(default_factory=list)
    labels: Annotated[list[Labels], Field(max_length=2)] = Field(default_factory=list)

    def plan(self, name: str, ground: Ground) -> Plan:
        """Every item in every order of a Williams square, so many times."""
        items = self._items(ground)
        arranged = [(item.id, each) for item in items for each in self._arranged(item)]
        calls = tuple(call for item, each in arranged for call in self._calls(name, item, each, ground))
        found = smallest_difference(len(items), PLANNED_DISCORDANCE)
        asked = {(item, each.arm): each.item for item, each in arranged}
        return Plan(calls, items, Unknown("too few items") if found is None else found, asked)

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """D with its interval, floor and null; right answers at every order."""
        return read(plan, records, seed)

    def _items(self, ground: Ground) -> tuple[Item, ...]:
        if self.labels and (self.data is not None or self.numbering):
            raise UsageError("order: `labels` are of generated options", "leave out `data` and `numbering`")
        if self.data is None:
            kind: ItemKind = "choice" if self.labels else "fact"
            return generate(kind, self.language, self.items, ground.seed, ground.count, size=self.units)
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

    def _arranged(self, item: Item) -> Iterator[Arranged]:
        """An item in every order, under each variant."""
        named = self.parts or [f"doc{i + 1}" for i in range(len(item.facts))]
        for order in orders(len(named)).tolist():
            if self.labels:
                yield from order_units.options(item, order, self.labels)
            else:
                yield from order_units.parts(item, named, order, self.numbering)

    def _calls(self, name: str, item: str, arranged: Arranged, ground: Ground) -> Iterator[Call]:
        sampling = replace(ground.sampling, max_tokens=self.max_tokens)
        choices = CHOICES if self.labels and ground.abilities.logprobs else None
        request = request_of(arranged.item.instance, sampling, choices)
        facts = (("place", str(arranged.order.index(arranged.asked))),)
        for run in range(self.runs):
            yield Call(ground.target, name, item, arranged.arm, run, request.again(run), facts=facts)
