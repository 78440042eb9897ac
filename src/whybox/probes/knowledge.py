"""`knowledge`: what a target knows, and what it does where text and knowledge disagree or both are silent.

Arms: `closed`, a common question five times without any text; then, of those whose answer is steady, `near`, `far` and
`absurd`: a text that states another answer, told to go by it, and `near:untold` … without being told; `corrected`, the
right answer in the text where the steady one was wrong; `ceiling`, invented entities, of which nobody knows anything;
`answerable`, `unanswerable`, `false-premise`; `dated` and `control` where dated facts are given.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import Field

from whybox.errors import UsageError
from whybox.items.generate import RELEASES, Item, dated_item, generate, releases
from whybox.items.schema import Name
from whybox.probes.design import Call, Design, Finding, Ground, Measure, Plan, Record
from whybox.probes.knowledge_conflict import contradicted, corrected, with_doses
from whybox.probes.knowledge_dated import dated_arms
from whybox.probes.knowledge_reading import BOUNDARY, CEILING, CLOSED, CORRECTED, priors, read
from whybox.statistics.power import smallest_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import request_of

PLANNED_DISCORDANCE = 0.2  # share of items that differ, as the table of designed sizes assumes
CLOSED_RUNS = 5
COMMON = 300
Part = Literal["conflict", "boundary", "cut-off"]
PARTS: tuple[Part, ...] = get_args(Part)


class KnowledgeProbe(Design):
    """items: whose prior is to be known and contradicted; half as many again are asked for it. ceiling: invented ones.

    answerable, unanswerable: of the boundary, the latter of each kind. tiers: documents in a prompt, from easy to hard.
    dated: the name of a set of dated facts under `data`, or `releases` for the software releases that come with whybox.
    released: the month in which the target came out.
    """

    NAME: ClassVar[str] = "knowledge"
    ABOUT: ClassVar[str] = (
        "Text against knowledge, and questions that nothing answers: is the text followed, is declined?"
    )
    GATES: ClassVar[tuple[str, ...]] = (
        "statistic: follows, at_least: 0.9",
        "statistic: declines, at_least: 0.8",
        "statistic: refuses, at_most: 0.05",
    )
    MEASURES: ClassVar[dict[str, Measure]] = {
        "follows": Measure(
            "rate",
            (
                "When told to use the documents, answers follow them in at least {limit} of conflicts at every dose.",
                "要求依据文档时，每一档冲突中至少 {limit} 采用文档。",
            ),
        ),
        "declines": Measure(
            "rate",
            (
                "Questions that nothing answers are declined in at least {limit}.",
                "无答案的问题至少 {limit} 拒答。",
            ),
        ),
        "refuses": Measure(
            "rate",
            (
                "Questions that the text answers are declined in at most {limit}.",
                "有答案的问题误拒不超过 {limit}。",
            ),
        ),
    }

    items: Annotated[int, Field(ge=1, le=300)] = 180
    runs: Annotated[int, Field(ge=1, le=100)] = 1
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 64
    ask: Annotated[list[Part], Field(min_length=1, max_length=3)] = Field(default_factory=lambda: list(PARTS))
    ceiling: Annotated[int, Field(ge=1, le=10_000)] = 60
    answerable: Annotated[int, Field(ge=3, le=10_000)] = 240
    unanswerable: Annotated[int, Field(ge=3, le=10_000)] = 82
    tiers: Annotated[list[Annotated[int, Field(ge=2, le=24)]], Field(min_length=1, max_length=6)] = Field(
        default_factory=lambda: [2, 4, 8]
    )
    dated: Name | None = None
    released: Annotated[str, Field(pattern=r"^\d{4}-(?:0[1-9]|1[0-2])$")] | None = None

    @property
    def sets(self) -> tuple[tuple[str, str], ...]:
        """Dated facts stand in a set of their own, unless they are those that are shipped."""
        return () if self.dated in (None, RELEASES) else (("dated", str(self.dated)),)

    def plan(self, name: str, ground: Ground) -> Plan:
        """Closed questions, the ceiling, the boundary and dated facts; conflicts follow when priors are known."""
        if self.data is not None:
            raise UsageError("knowledge: makes its own items", "leave `data` out; dated facts are named by `dated`")
        if sorted(set(self.tiers)) != self.tiers:
            raise UsageError(f"knowledge: tiers must rise, found {self.tiers}", "write each once, in rising order")
        arms = list(self._arms(ground))
        asked = {(item.id, arm): item for arm, item, _ in arms}
        asked |= {(each.id, arm): each for arm, item, _ in arms if arm == CLOSED for arm, each in _with_text(item)}
        calls = [call for arm, item, runs in arms for call in self._calls(name, arm, item, runs, ground)]
        found = smallest_difference(self.items, PLANNED_DISCORDANCE)
        items = tuple({item.id: item for _, item, _ in arms}.values())
        return Plan(tuple(calls), items, Unknown("too few items") if found is None else found, asked)

    def more(self, name: str, plan: Plan, records: Sequence[Record], ground: Ground) -> Sequence[Call]:
        """The conflicts, once every closed run is back: as many as were wanted, of the items that hold a prior."""
        held = priors(plan, records)
        if held is None:
            return ()
        by_id = {item.id: item for item in plan.items}
        known = [by_id[item] for item, answer in held.items() if answer == by_id[item].instance.right][: self.items]
        wrong = [by_id[item] for item, answer in held.items() if answer != by_id[item].instance.right]
        arms = [(arm, each) for item in known for arm, each in contradicted(item).items()]
        arms += [(CORRECTED, corrected(item)) for item in wrong]
        return [call for arm, item in arms for call in self._calls(name, arm, item, self.runs, ground)]

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """CB and PB by dose, the boundary, and where knowledge fades."""
        return read(plan, records, seed)

    def _arms(self, ground: Ground) -> Iterator[tuple[str, Item, int]]:
        """Arm, item, runs."""
        if "conflict" in self.ask:
            count = min(COMMON, self.items + self.items // 2)
            for item in generate("common", self.language, count, ground.seed, ground.count):
                yield CLOSED, with_doses(item), CLOSED_RUNS
            for item in generate("fact", self.language, self.ceiling, ground.seed, ground.count, size=1):
                yield CEILING, item, self.runs
        if "boundary" in self.ask:
            for item in self._boundary(ground):
                yield item.variant, item, self.runs
        if "cut-off" in self.ask and self.dated is not None:
            for arm, item in dated_arms(self._facts(ground), self.released, ground.seed, self.language):
                yield arm, item, self.runs

    def _facts(self, ground: Ground) -> Sequence[Item]:
        """A set of the user's own comes before the shipped one of the same name."""
        if (own := ground.data.get(self.dated or "")) is not None:
            return own
        return [dated_item(fact, i, self.language) for i, fact in enumerate(releases(self.language))]

    def _boundary(self, ground: Ground) -> Iterator[Item]:
        """As many of every kind in every tier."""
        wanted = dict(zip(BOUNDARY, (self.answerable, self.unanswerable, self.unanswerable), strict=True))
        for place, tier in enumerate(self.tiers):
            count = {kind: _share(n, len(self.tiers), place) for kind, n in wanted.items()}
            drawn = generate("boundary", self.language, 3 * max(count.values()), ground.seed, ground.count, size=tier)
            for kind, most in count.items():
                for item in [each for each in drawn if each.variant == kind][:most]:
                    named = f"{item.id}-of-{tier}"
                    yield replace(item, id=named, instance=replace(item.instance, id=named, case_id=named))

    def _calls(self, name: str, arm: str, item: Item, runs: int, ground: Ground) -> Iterator[Call]:
        confident = 0 if arm == BOUNDARY[0] and ground.abilities.logprobs else None
        request = request_of(item.instance, replace(ground.sampling, max_tokens=self.max_tokens), confident)
        for run in range(runs):
            facts = (("tier", str(len(item.facts))), ("attribute", item.facts[0].attribute)) if item.facts else ()
            yield Call(ground.target, name, item.id, arm, run, request.again(run), facts=facts)


def _with_text(item: Item) -> Iterator[tuple[str, Item]]:
    """The common item in every arm that comes when its prior is known."""
    yield from contradicted(item).items()
    yield CORRECTED, corrected(item)


def _share(count: int, parts: int, place: int) -> int:
    """Of `count` in so many parts, those of one: as equal as can be."""
    return count // parts + (place < count % parts)
