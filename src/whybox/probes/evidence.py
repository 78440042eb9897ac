"""`evidence`: the one right passage at every place among others. Is it used, wherever it stands?

Arms: `1` … `k`, the place of the right passage; `closed`, no passage; `oracle`, it alone; `no-gold`, it alone missing;
`changed`, another value in it. Longer contexts: `n:d`, n passages and the right one at depth d per cent.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

import numpy as np
from pydantic import Field

from whybox.errors import UsageError
from whybox.items.generate import CHARACTERS_ONLY, Encoded, Item, generate
from whybox.items.generate.placement import occurs_once
from whybox.items.instance import CaseInstance
from whybox.items.schema import Name
from whybox.items.scoring import AbstainScorer, CandidateScorer
from whybox.items.seeds import item_generator
from whybox.probes import leave_one_out
from whybox.probes.changed import with_new_value
from whybox.probes.design import Call, Design, Finding, Ground, Measure, Plan, Record
from whybox.probes.evidence_reading import CHANGED, CLOSED, NO_GOLD, ORACLE, read
from whybox.statistics.designs import cyclic
from whybox.statistics.power import smallest_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import request_of
from whybox.text.prompt import Part

PLANNED_DISCORDANCE = 0.2  # share of items that differ between two places
EVERY_PLACE = 8  # up to so many passages every place is tried, beyond five depths
DEPTHS = (0.0, 0.25, 0.5, 0.75, 1.0)
CITE = {"en": "Name the number of the document in square brackets.", "zh": "请在方括号中注明文档编号。"}


class EvidenceProbe(Design):
    """passages: in the shortest context. lengths: of longer ones. labels: numbers to be cited, in the order of the
    passages or shuffled. question: behind the passages or before them. parts: the passages of the user's own items.
    leave_one_out: items of which every passage (of up to eight) is left out: what does log P of the right answer lose?
    """

    NAME: ClassVar[str] = "evidence"
    ABOUT: ClassVar[str] = "The right passage at every place among others: is it used, wherever it stands?"
    GATES: ClassVar[tuple[str, ...]] = ("statistic: right, at_least: 0.8", "statistic: shortfall, at_most: 0.1")
    MEASURES: ClassVar[dict[str, Measure]] = {
        "right": Measure(
            "rate",
            (
                "With the right passage among others, at least {limit} of the answers are right at every place.",
                "正确段落在任一位置时，正确率都不低于 {limit}。",
            ),
        ),
        "shortfall": Measure(
            "effects",
            (
                "No place is more than {limit} worse than the mean of all places.",
                "任一位置不比平均低{limit}以上。",
            ),
        ),
        "follows": Measure(
            "rate",
            (
                "Where the passage states another value, at least {limit} of the answers follow it.",
                "段落中的数值改变时，至少 {limit} 的答案随之改变。",
            ),
        ),
        "declines": Measure(
            "rate",
            (
                "Without the right passage at least {limit} of the questions are declined.",
                "缺少正确段落时，至少 {limit} 的问题得到拒答。",
            ),
        ),
        "cited": Measure(
            "rate",
            ("At least {limit} of the answers cite the right passage.", "至少 {limit} 的答案引用了正确段落。"),
        ),
    }

    items: Annotated[int, Field(ge=1, le=10_000)] = 180
    runs: Annotated[int, Field(ge=1, le=100)] = 1
    passages: Annotated[int, Field(ge=3, le=24)] = 5
    lengths: Annotated[list[Annotated[int, Field(ge=4, le=24)]], Field(max_length=4)] = Field(default_factory=list)
    labels: Literal["none", "fixed", "shuffled"] = "none"
    question: Literal["after", "before"] = "after"
    parts: Annotated[list[Name], Field(min_length=3, max_length=24)] | None = None
    leave_one_out: Annotated[int, Field(ge=0, le=10_000)] = 0

    def plan(self, name: str, ground: Ground) -> Plan:
        """Every item with its right passage at every place, and the four arms that tell reading from knowing."""
        items = self._items(ground)
        asked: dict[tuple[str, str], Item] = {}
        calls: list[Call] = []
        for index, item in enumerate(items):
            for arm in self._arms(index, item, ground):
                if arm.item is not item:
                    asked[item.id, arm.name] = arm.item
                calls += self._calls(name, item.id, arm, ground)
                if arm.name.isdecimal() and arm.place == index % arm.length and index < self.leave_one_out:
                    calls += leave_one_out.calls(name, replace(arm.case, id=item.id), arm.order, ground)
        found = smallest_difference(len(items), PLANNED_DISCORDANCE)
        return Plan(tuple(calls), items, Unknown("too few items") if found is None else found, asked)

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """Accuracy by place, its shape, and what the four arms say."""
        return read(plan, records, seed, self.leave_one_out > 0)

    def _items(self, ground: Ground) -> tuple[Item, ...]:
        if shorter := [length for length in self.lengths if length <= self.passages]:
            raise UsageError(f"evidence: lengths {shorter} are not above {self.passages} passages", "name longer ones")
        if self.data is None:
            size = max([self.passages, *self.lengths])
            return generate("fact", self.language, self.items, ground.seed, ground.count, size=size)
        items = ground.data[self.data][: self.items]
        if self.parts is None or self.lengths:
            raise UsageError("evidence: data of your own needs `parts`, and no `lengths`", "name the passages")
        for item in items:
            if len(item.instance.evidence) != 1 or item.instance.evidence[0] not in self.parts:
                raise UsageError(f"evidence: {item.id}: `evidence` must name one of {', '.join(self.parts)}")
        return items

    def _arms(self, index: int, item: Item, ground: Ground) -> Iterator["Arm"]:
        passages = self.parts or [f"doc{i + 1}" for i in range(len(item.facts))]
        gold = item.instance.evidence[0]
        rest = [part for part in passages if part != gold]
        first = passages[: self.passages] if self.parts is None else passages
        shortest = _around(gold, rest, len(first))
        labelled = _Labelled(self.labels, self.question, self.language, item_generator(ground.seed, "labels", item.id))
        tried = range(len(shortest)) if len(shortest) <= EVERY_PLACE else _five(len(shortest))
        for place in tried:
            order = shortest[place]
            yield Arm(str(place + 1), item, *labelled.case(item.instance, order, passages), place, len(order), gold)
        for length in self.lengths:
            orders = _around(gold, rest, length)
            for depth, place in zip(DEPTHS, _five(length), strict=True):
                case = labelled.case(item.instance, orders[place], passages)
                yield Arm(f"{length}:{100 * depth:.0f}", item, *case, place, length, gold)
        place = tried[index % len(tried)]
        yield from self._without(place, item, shortest[place], labelled, passages, ground)

    def _without(
        self,
        place: int,
        item: Item,
        order: Sequence[str],
        labelled: "_Labelled",
        passages: Sequence[str],
        ground: Ground,
    ) -> Iterator["Arm"]:
        """The four arms. Where a place matters in them, items take every place in turn."""
        gold = item.instance.evidence[0]
        for name, kept in ((CLOSED, []), (ORACLE, [gold])):
            case = labelled.case(item.instance, kept, passages)
            yield Arm(name, item, *case, 0, len(kept), gold)
        kept = [part for part in order if part != gold]
        known = item.scorer if isinstance(item.scorer, CandidateScorer) else None
        declined = replace(item, scorer=AbstainScorer(known))
        yield Arm(NO_GOLD, declined, *labelled.case(item.instance, kept, passages), place, len(kept), gold)
        if item.facts:
            generator = item_generator(ground.seed, "changed", item.id)
            other = with_new_value(item, generator, ground.length)
            case = labelled.case(other.item.instance, order, passages)
            yield Arm(CHANGED, other.item, *case, place, len(order), gold, other.flags)

    def _calls(self, name: str, item: str, arm: "Arm", ground: Ground) -> list[Call]:
        request = request_of(arm.case, replace(ground.sampling, max_tokens=self.max_tokens))
        facts = (*arm.facts(), *_placed(arm, ground))
        return [
            Call(ground.target, name, item, arm.name, run, request.again(run), facts=facts) for run in range(self.runs)
        ]


@dataclass(frozen=True)
class Arm:
    """One prompt of an item. item: what it asks. labels: of its passages, in their order. length: its passages."""

    name: str
    item: Item
    case: CaseInstance
    labels: tuple[int, ...]
    order: tuple[str, ...]
    place: int
    length: int
    gold: str
    flags: tuple[str, ...] = ()

    def facts(self) -> tuple[tuple[str, str], ...]:
        """What stands where, for the report."""
        found = [("place", str(self.place)), ("length", str(self.length)), ("order", " ".join(self.order))]
        if self.labels:
            found.append(("labels", " ".join(map(str, self.labels))))
        return (*found, *(("flag", flag) for flag in self.flags))


@dataclass(frozen=True)
class _Labelled:
    """How passages are numbered and where the question stands."""

    labels: Literal["none", "fixed", "shuffled"]
    question: Literal["after", "before"]
    language: Literal["en", "zh"]
    generator: np.random.Generator

    def case(
        self, instance: CaseInstance, order: Sequence[str], passages: Sequence[str]
    ) -> tuple[CaseInstance, tuple[int, ...], tuple[str, ...]]:
        """The prompt with these passages in this order, their labels, and the order."""
        kept = [part.name for part in instance.parts if part.name not in passages or part.name in order]
        found = instance.keeping(kept).reordered(list(order))
        labels: tuple[int, ...] = ()
        if self.labels != "none" and order:
            count = len(order)
            shuffled = self.generator.permutation(count) if self.labels == "shuffled" else range(count)
            labels = tuple(int(label) + 1 for label in shuffled)
            texts = {n: f"[{label}] {found.part(n).text}" for n, label in zip(order, labels, strict=True)}
            texts["question"] = f"{found.part('question').text} {CITE[self.language]}"
            found = found.replacing(texts)
        return (_question_first(found) if self.question == "before" else found), labels, tuple(order)


def _question_first(case: CaseInstance) -> CaseInstance:
    def moved(parts: tuple[Part, ...]) -> tuple[Part, ...]:
        return tuple(sorted(parts, key=lambda part: part.name != "question"))

    messages = tuple(replace(message, parts=moved(message.parts)) for message in case.messages)
    return replace(case, messages=messages, raw_parts=moved(case.raw_parts))


def _around(gold: str, rest: Sequence[str], length: int) -> list[list[str]]:
    """The right passage at every place; the others keep their cyclic order."""
    units = [gold, *rest[: length - 1]]
    return [[units[unit] for unit in row] for row in cyclic(length)]


def _five(length: int) -> list[int]:
    return [round(depth * (length - 1)) for depth in DEPTHS]


def _placed(arm: Arm, ground: Ground) -> Iterator[tuple[str, str]]:
    """Requested and realised depth of the right passage, and whether it stands there once, in the ids really sent."""
    if arm.length < 2 or arm.gold not in arm.order:
        return
    yield "requested", f"{arm.place / (arm.length - 1):.4f}"
    if ground.encode is None:
        texts = {name: arm.case.part(name).text for name in arm.order}
        yield "realised", f"{_depth({n: len(t) for n, t in texts.items()}, arm):.4f}"
        yield "counted", CHARACTERS_ONLY
        return
    encoded = ground.encode(arm.case)
    yield "realised", f"{_depth({n: _width(encoded, n) for n in arm.order}, arm):.4f}"
    yield "ids", str(len(encoded.ids))
    if not occurs_once(replace(encoded, spans={"passage": encoded.spans[arm.gold]})):
        yield "flag", "the ids of the passage occur more than once"


def _width(encoded: Encoded, name: str) -> int:
    start, end = encoded.spans[name]
    return end - start


def _depth(widths: Mapping[str, int], arm: Arm) -> float:
    before = sum(widths[name] for name in arm.order[: arm.place])
    others = sum(widths.values()) - widths[arm.gold]
    return before / others if others else 0.0
