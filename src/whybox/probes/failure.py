"""`failure`: which step undoes a wrong answer? Every case that fails is asked again in every way there is, five times.

Arms: `plain`; `retry`; `greedy` where answers are drawn; `prefix`, the contract's; `pinned`, the system text in the
user's message; `alone`, the evidence alone; `order:…`, the evidence at other places; `removed`, `changed`, `closed`:
the evidence left out, with another value, no passage at all; `renamed`, an invented entity in place of the known one;
`fact`, the answer stated where nothing does; `elsewhere:…`, another target asked the same; `sham:1` … `sham:5`, neutral
sentences elsewhere.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar

from pydantic import Field

from whybox.errors import UsageError
from whybox.items.generate import Item, generate
from whybox.items.schema import Name
from whybox.probes.design import Call, Design, Finding, Ground, Measure, Plan, Record
from whybox.probes.failure_reading import CAUSES, ELSEWHERE, GREEDY, PLAIN, PREFIX, RETRY, failing, read
from whybox.probes.failure_steps import steps
from whybox.statistics.unknown import Unknown
from whybox.targets.target import Chat, Request, Turn, request_of

AGAIN = 5  # runs of every step, as the rule "at least 4 of 5" reads them
ABOUT_THE_CASES = Unknown("shares of failures: they depend on how many there are")


class FailureProbe(Design):
    """passages: of a generated item. parts: the passages of the user's own cases, if not those around the evidence.

    against: other targets of the suite, which are asked the failing cases as they are.

    A case may name its entity by a slot `{entity}`: then it can be renamed.
    """

    NAME: ClassVar[str] = "failure"
    ABOUT: ClassVar[str] = "Wrong answers, asked again one change at a time: which change undoes them?"
    GATES: ClassVar[tuple[str, ...]] = ("statistic: unexplained, at_most: 0.2",)
    MEASURES: ClassVar[dict[str, Measure]] = {
        "unexplained": Measure(
            "rate",
            ("At most {limit} of the failures stay unexplained.", "无法解释的失败不超过 {limit}。"),
        ),
        **{
            code: Measure(
                "rate",
                (
                    f"At most {{limit}} of all items fail through {code}.",
                    f"因 {code} 而失败的样本不超过全部的 {{limit}}。",
                ),
            )
            for code in CAUSES
        },
    }

    items: Annotated[int, Field(ge=1, le=10_000)] = 100
    runs: Annotated[int, Field(ge=AGAIN, le=100)] = AGAIN
    passages: Annotated[int, Field(ge=2, le=24)] = 5
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 64
    parts: Annotated[list[Name], Field(min_length=1, max_length=24)] | None = None
    against: Annotated[list[str], Field(max_length=8)] = Field(default_factory=list)

    def plan(self, name: str, ground: Ground) -> Plan:
        """Every case once, as it is; the steps follow for those that fail."""
        if missing := [each for each in self.against if each not in ground.others and each != ground.target]:
            known = ", ".join(ground.others) or "no other"
            raise UsageError(f"failure: against {missing[0]!r}: the suite has {known}", "name it under `targets`")
        items = self._items(ground)
        asked = {(item.id, arm): each for item in items for arm, each in self._steps(item, ground)}
        calls = [call for item in items for call in self._calls(name, item.id, PLAIN, item, ground)]
        return Plan(tuple(calls), items, ABOUT_THE_CASES, asked)

    def more(self, name: str, plan: Plan, records: Sequence[Record], ground: Ground) -> Sequence[Call]:
        """All steps for all cases that fail: no early stop."""
        return [
            call
            for item in failing(plan, records)
            for arm, each in self._steps(item, ground)
            for call in self._calls(name, item.id, arm, each, ground)
        ] + [
            replace(call, target=other, arm=f"{ELSEWHERE}{other}", run=run, request=call.request.again(run))
            for item in failing(plan, records)
            for call in self._calls(name, item.id, PLAIN, item, ground)
            for other in self.against
            if other != ground.target
            for run in range(self.runs)
        ]

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """A cause for every failure, and the share of each."""
        return read(plan, records)

    def _items(self, ground: Ground) -> tuple[Item, ...]:
        if self.data is not None:
            return ground.data[self.data][: self.items]
        return generate("fact", self.language, self.items, ground.seed, ground.count, size=self.passages)

    def _steps(self, item: Item, ground: Ground) -> Iterator[tuple[str, Item]]:
        """By arm, what the case becomes. Greedy answers exist only beside drawn ones."""
        yield RETRY, item
        if ground.sampling.temperature:
            yield GREEDY, item
        yield from steps(item, self.parts, ground)

    def _calls(self, name: str, item: str, arm: str, each: Item, ground: Ground) -> Iterator[Call]:
        sampling = replace(ground.sampling, max_tokens=self.max_tokens)
        if arm == GREEDY:
            sampling = replace(sampling, temperature=0.0)
        is_choice = each.instance.kind == "choice" and bool(ground.abilities.logprobs)
        request = request_of(each.instance, sampling, 20 if is_choice else None)
        if arm == PREFIX:
            request = _begun(request, each.instance.contract_prefix or "")
        counted = () if ground.encode is None else (("ids", str(len(ground.encode(each.instance).ids))),)
        first = 1 if arm == RETRY else 0  # the plain call was the first of them
        for run in range(1 if arm == PLAIN else self.runs):
            again = request.again(run + first)
            yield Call(ground.target, name, item, arm, run, again, fresh=arm == RETRY, facts=counted)


def _begun(request: Request, prefix: str) -> Request:
    """The answer already begun: behind a raw text, or as the open turn of the assistant."""
    if isinstance(request.prompt, Chat):
        turns = (*request.prompt.turns, Turn("assistant", prefix))
        return replace(request, prompt=Chat(turns))
    return replace(request, prompt=replace(request.prompt, text=request.prompt.text + prefix))
