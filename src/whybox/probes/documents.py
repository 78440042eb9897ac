"""`documents`: sources that disagree, in every order. Is a claim credited to the document that makes it?

Arms: the orders, `1-2-3` … ; `any:1-2-3`, where no source is asked for: which claim is preferred, by its place?
Every issue has a mirror with the claims exchanged between the sources, so that plausibility cancels.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from whybox.errors import UsageError
from whybox.items.generate import Item, Language, generate
from whybox.items.instance import CaseInstance
from whybox.probes.design import Call, Design, Finding, Ground, Measure, Plan, Record
from whybox.probes.documents_reading import ANY, read
from whybox.statistics.designs import cyclic, orders
from whybox.statistics.power import smallest_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import request_of

PLANNED_DISCORDANCE = 0.2  # share of items that differ, as the table of designed sizes assumes
SOURCE: dict[Language, str] = {"en": "Source: {name}.", "zh": "来源：{name}。"}
_CLAUSE: dict[Language, str] = {"en": ", ", "zh": "，"}


class DocumentsProbe(Design):
    """sources: documents that disagree. source: named in the claim alone, or in a line of its own as well."""

    NAME: ClassVar[str] = "documents"
    ABOUT: ClassVar[str] = "Sources that disagree, in every order: are claims credited to the right one?"
    GATES: ClassVar[tuple[str, ...]] = ("statistic: right, at_least: 0.9", "statistic: changed, at_most: 0.05")
    MEASURES: ClassVar[dict[str, Measure]] = {
        "right": Measure(
            "rate",
            (
                "Claims are credited to the right document in at least {limit} at every order.",
                "无论文档顺序如何，归属正确率不低于 {limit}。",
            ),
        ),
        "changed": Measure(
            "effects",
            (
                "Reordering the documents changes at most {limit} more credits than asking again does.",
                "调换文档顺序所改变的归属，比原样重问最多多 {limit}。",
            ),
        ),
    }

    items: Annotated[int, Field(ge=2, le=10_000)] = 180
    runs: Annotated[int, Field(ge=2, le=100)] = 2
    sources: Annotated[int, Field(ge=2, le=5)] = 3
    source: Literal["inside", "line"] = "inside"

    def plan(self, name: str, ground: Ground) -> Plan:
        """Every issue and its mirror in every order, so many times; and once without a source, at every place."""
        if self.data is not None:
            raise UsageError("documents: makes its own items", "leave `data` out; `order` takes documents of your own")
        if self.items % 2:
            raise UsageError(f"documents: {self.items} items cannot be mirrors of each other", "give an even number")
        items = generate("claim", self.language, self.items, ground.seed, ground.count, size=self.sources)
        calls = [call for item in items for call in self._calls(name, item, ground)]
        found = smallest_difference(len(items), PLANNED_DISCORDANCE)
        return Plan(tuple(calls), items, Unknown("too few items") if found is None else found)

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """Credit at every order, what changes with the order, who is mistaken for whom."""
        return read(plan, records, seed)

    def _calls(self, name: str, item: Item, ground: Ground) -> Iterator[Call]:
        sampling = replace(ground.sampling, max_tokens=self.max_tokens)
        for arm, case, runs in self._arms(item):
            request = request_of(case, sampling)
            ids = () if ground.encode is None else (("ids", str(len(ground.encode(case).ids))),)
            for run in range(runs):
                yield Call(ground.target, name, item.id, arm, run, request.again(run), facts=ids)

    def _arms(self, item: Item) -> Iterator[tuple[str, CaseInstance, int]]:
        case = self._sourced(item)
        for order in orders(self.sources).tolist():
            yield _name(order), case.reordered([f"doc{unit + 1}" for unit in order]), self.runs
        if item.variant.startswith("what"):
            neutral = case.replacing({"question": _neutral(case.part("question").text, item.language)})
            for order in cyclic(self.sources).tolist():
                yield f"{ANY}{_name(order)}", neutral.reordered([f"doc{unit + 1}" for unit in order]), 1

    def _sourced(self, item: Item) -> CaseInstance:
        if self.source == "inside":
            return item.instance
        lines = {
            f"doc{i + 1}": f"{SOURCE[item.language].format(name=fact.name)}\n{fact.sentence}"
            for i, fact in enumerate(item.facts)
        }
        return item.instance.replacing(lines)


def _name(order: Sequence[int]) -> str:
    return "-".join(str(unit + 1) for unit in order)


def _neutral(question: str, language: Language) -> str:
    """The question without the clause that names a source."""
    asked = question.split(_CLAUSE[language], 1)[1]
    return asked[0].upper() + asked[1:]
