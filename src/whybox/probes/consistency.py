"""`consistency`: the same model, served twice. Is it the same, from the rendered prompt to the answers?

Compared are the target in its own way and in another one (`ways`), or another target of the suite (`against`). Arms:
`print:system`, `print:plain`, `print:raw`, what both read; `forced`, log-probabilities of a given text; `answer`, a
question with its text; `forced:again` and `answer:again`, the same asked twice of the target itself: the floor.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, zip_longest
from typing import Annotated, ClassVar

from pydantic import Field

from whybox.errors import UsageError, meant
from whybox.items.generate import Item, generate
from whybox.items.generate.fillers import draw_fillers, joiner
from whybox.items.seeds import item_generator
from whybox.probes.consistency_reading import AGAIN, ANSWER, FORCED, PRINTS, read
from whybox.probes.design import AnyRequest, Call, Design, Finding, Ground, Measure, Plan, Record
from whybox.probes.ways import ALL_WAYS, ENGINES, USUAL, name_of
from whybox.statistics.power import smallest_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import AnswerRequest, Chat, Raw, Request, Turn, request_of

PLANNED_DISCORDANCE = 0.02  # share of answers that differ between two ways of running one model
FLOOR_PROMPTS, FLOOR_ANSWERS = 12, 60
TOP = 20
LONGEST = 24  # sentences of a given text


class ConsistencyProbe(Design):
    """items: questions. prompts: given texts, read for `positions` tokens each. ways: None for those that ought to
    change nothing. against: other targets of the suite.
    """

    NAME: ClassVar[str] = "consistency"
    ABOUT: ClassVar[str] = "The same model run another way, or served by another: do tokens and answers stay the same?"
    GATES: ClassVar[tuple[str, ...]] = ("statistic: drifting, at_most: 0.02", "statistic: accuracy, within: 0.02")
    MEASURES: ClassVar[dict[str, Measure]] = {
        "drifting": Measure(
            "rate",
            (
                "Beyond ties, the next token drifts in at most {limit} of the texts.",
                "除并列外，下一个词元发生漂移的文本不超过 {limit}。",
            ),
        ),
        "accuracy": Measure("pairs", ("Accuracy is the same within {limit}.", "正确率相差在 ±{limit} 以内。")),
    }

    items: Annotated[int, Field(ge=1, le=10_000)] = 600
    runs: Annotated[int, Field(ge=1, le=100)] = 1
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 48
    prompts: Annotated[int, Field(ge=1, le=10_000)] = 200
    positions: Annotated[int, Field(ge=1, le=512)] = 64
    ways: Annotated[list[str], Field(min_length=1, max_length=12)] | None = None
    against: Annotated[list[str], Field(max_length=8)] = Field(default_factory=list)

    def plan(self, name: str, ground: Ground) -> Plan:
        """The same calls to every side; what repeats of the first show is the floor."""
        sides = self._sides(ground)
        items = self._items(ground)
        texts = (
            [_given(i, self, ground) for i in range(self.prompts)] if ground.abilities.scores.has is not False else []
        )
        drawn = generate("fact", self.language, self.prompts, ground.seed + 1, ground.count, size=2)
        given = [replace(item, id=f"text-{item.id}") for item in drawn] if texts else []
        calls = list(self._prints(name, items[0], ground, [ground.target, *sides]))
        for side in (ground.target, *sides):
            answers = self._answers(name, items, side, ANSWER, ground)
            calls += _in_turns(self._forced(name, given, texts, side, FORCED), answers)
        calls += self._forced(name, given[:FLOOR_PROMPTS], texts, ground.target, FORCED + AGAIN, repeat=1)
        calls += self._answers(name, items[:FLOOR_ANSWERS], ground.target, ANSWER + AGAIN, ground, repeat=1)
        other = next((engine for engine in ENGINES if engine in ground.ways), None)
        if other is not None:
            engine = name_of(ground.target, other)
            calls += self._forced(name, given[:FLOOR_PROMPTS], texts, engine, f"{FORCED}:engine")
        found = smallest_difference(len(items), PLANNED_DISCORDANCE)
        return Plan(tuple(calls), (*items, *given), Unknown("too few items") if found is None else found)

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """The ladder, rung by rung, for every side against the first."""
        return read(plan, records)

    def _sides(self, ground: Ground) -> list[str]:
        """The names of what is compared with the target itself."""
        if unknown := [way for way in self.ways or () if way not in ALL_WAYS]:
            near = meant(unknown[0], ALL_WAYS)
            raise UsageError(f"consistency: no way {unknown[0]!r}{near}", f"ways: {', '.join(ALL_WAYS)}")
        if missing := [each for each in self.against if each not in (*ground.others, ground.target)]:
            known = ", ".join(ground.others) or "no other"
            raise UsageError(f"consistency: against {missing[0]!r}: the suite has {known}", "name it under `targets`")
        ways = [way for way in (self.ways if self.ways is not None else USUAL) if way in ground.ways]
        sides = [name_of(ground.target, way) for way in ways]
        sides += [each for each in self.against if each != ground.target]
        if self.ways and not sides:
            able = ", ".join(ground.ways) or "none"
            raise UsageError(f"consistency: {ground.target} cannot be run {self.ways[0]!r}", f"its ways: {able}")
        return sides

    def _items(self, ground: Ground) -> tuple[Item, ...]:
        if self.data is not None:
            return ground.data[self.data][: self.items]
        return generate("fact", self.language, self.items, ground.seed, ground.count, size=2)

    def _prints(self, name: str, item: Item, ground: Ground, sides: Sequence[str]) -> Iterator[Call]:
        """The same words with a system message, without one, and without a template."""
        sampling = replace(ground.sampling, max_tokens=8)
        words = "\n".join(part.text for part in item.instance.parts)
        asks: tuple[Chat | Raw, ...] = (
            Chat((Turn("system", words), Turn("user", words))),
            Chat((Turn("user", words),)),
            Raw(words),
        )
        for side in sides:
            for arm, prompt in zip(PRINTS, asks, strict=True):
                yield Call(side, name, item.id, arm, 0, Request(prompt, sampling))

    def _forced(
        self, name: str, given: Sequence[Item], texts: Sequence[str], side: str, arm: str, repeat: int = 0
    ) -> Iterator[Call]:
        """Log-probabilities of the same text behind the same words."""
        for item, text in zip(given, texts, strict=False):
            start = item.instance.part("doc1").text
            request: AnyRequest = AnswerRequest(Raw(start), text, TOP, repeat)
            facts = (("positions", str(self.positions)),)
            yield Call(side, name, item.id, arm, 0, request, fresh=repeat > 0, facts=facts)

    def _answers(
        self, name: str, items: Sequence[Item], side: str, arm: str, ground: Ground, repeat: int = 0
    ) -> Iterator[Call]:
        """Questions, answered freely."""
        sampling = replace(ground.sampling, max_tokens=self.max_tokens)
        for item in items:
            request = request_of(item.instance, sampling)
            for run in range(1 if repeat else self.runs):
                again = request.again(run + repeat)
                yield Call(side, name, item.id, arm, run, again, fresh=repeat > 0)


def _in_turns(*groups: Iterable[Call]) -> Iterator[Call]:
    """One of each in turn: so the first few items of a plan hold some of both."""
    return (call for turn in zip_longest(*groups) for call in turn if call is not None)


def _given(index: int, probe: ConsistencyProbe, ground: Ground) -> str:
    """Neutral sentences, as many as hold the positions."""
    generator = item_generator(ground.seed, "consistency", f"text/{index}")
    sentences: list[str] = []
    for sentence in islice(draw_fillers(generator, probe.language), LONGEST * (1 + probe.positions // 64)):
        sentences.append(sentence)
        if ground.counted and ground.count(" ".join(sentences)) > probe.positions + 1:
            break
        if not ground.counted and len(" ".join(sentences)) > 6 * probe.positions:
            break
    space = joiner(probe.language)
    return space + space.join(sentences)
