"""`memory`: an opening rule, so many turns of talk, then a question. Is the rule still obeyed?

One fixed dialogue an item; at every depth the question is asked on a branch, and the branch is thrown away: asked one
after another, earlier answers would refresh the memory. Turns of the assistant are scripted and obey the rule, or,
with `history: live`, are its own replies, asked for one after the other; the two are never mixed.
Arms: `t:ARM`, depth and how the rule is given. `system`, `user` (in turn 1), `no-rule`; `one-turn` (the same talk in
one turn), `restated` (the rule again in the last turn), `concat` (all in one message), `competing` (talk on the topic).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from whybox.errors import UsageError
from whybox.items.generate import Item, Language, canary_pair, generate
from whybox.items.generate.facts import draw_facts
from whybox.items.generate.fillers import draw_fillers
from whybox.items.generate.item import Draw
from whybox.items.generate.vocabulary import attribute
from whybox.items.instance import CaseInstance, Message
from whybox.items.seeds import item_generator
from whybox.probes.design import Call, Design, Finding, Ground, Measure, Plan, Record
from whybox.probes.memory_live import TURN, Live, replies_of
from whybox.probes.memory_reading import CANARY, NO_RULE, read
from whybox.statistics.power import smallest_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import request_of
from whybox.text.prompt import Part

Home = Literal["system", "user"]
Explaining = Literal["one-turn", "restated", "concat", "competing"]
EXPLAINING: tuple[Explaining, ...] = ("one-turn", "restated", "concat", "competing")
PLANNED_DISCORDANCE = 0.2  # share of items that differ, as the table of designed sizes assumes
NOTED: dict[Language, tuple[str, str]] = {"en": ("Noted.", '{"value": "noted"}'), "zh": ("好的。", '{"value": "好的"}')}


class MemoryProbe(Design):
    """depths: user turns from the rule to the question, which is the last of them. home: where the rule stands in the
    arm that gates read. explaining, no_rule: further arms, on the first `explained` items; a live history has the
    second alone.
    """

    NAME: ClassVar[str] = "memory"
    ABOUT: ClassVar[str] = "An opening rule and many turns of talk: is it still obeyed, and would it be without it?"
    GATES: ClassVar[tuple[str, ...]] = ("statistic: obeyed, at_least: 0.8", "statistic: drop, at_most: 0.1")
    MEASURES: ClassVar[dict[str, Measure]] = {
        "obeyed": Measure(
            "rate",
            (
                "At the last depth the opening rule is still obeyed in at least {limit}.",
                "到最后一轮仍遵守开头规则的比例不低于 {limit}。",
            ),
        ),
        "drop": Measure(
            "pairs",
            (
                "From the first depth to the last compliance falls by at most {limit}.",
                "从最初到最后一轮，遵守率下降不超过 {limit}。",
            ),
        ),
    }

    items: Annotated[int, Field(ge=1, le=10_000)] = 130
    runs: Annotated[int, Field(ge=1, le=100)] = 2
    depths: Annotated[list[Annotated[int, Field(ge=1, le=200)]], Field(min_length=2, max_length=8)] = Field(
        default_factory=lambda: [1, 5, 10, 20]
    )
    home: Home = "system"
    history: Literal["scripted", "live"] = "scripted"
    explaining: Annotated[list[Explaining], Field(max_length=4)] = Field(default_factory=lambda: list(EXPLAINING))
    explained: Annotated[int, Field(ge=1, le=10_000)] = 60
    max_tokens: Annotated[int, Field(ge=1, le=4096)] = 48

    def plan(self, name: str, ground: Ground) -> Plan:
        """Every item at every depth; the explaining arms at the last, without the rule at all of them."""
        if self.data is not None:
            raise UsageError("memory: makes its own items", "leave `data` out")
        if sorted(set(self.depths)) != self.depths:
            raise UsageError(f"memory: depths must rise, found {self.depths}", "write each once, in rising order")
        if self.history == "live" and self.home != "system":
            raise UsageError("memory: a live history holds the rule in the system message", "leave `home` out")
        items = generate("rule", self.language, self.items, ground.seed, ground.count, size=2)
        if self.history == "live":
            found = smallest_difference(len(items), PLANNED_DISCORDANCE)
            empty = Plan((), items, Unknown("too few items") if found is None else found)
            return replace(empty, calls=tuple(self.more(name, empty, (), ground)))
        arms = {(item.id, arm): each for i, item in enumerate(items) for arm, each in self._arms(i, item, ground)}
        calls = [call for (_, arm), each in arms.items() for call in self._calls(name, arm, each, ground)]
        if not ground.counted:
            calls += self._canaries(name, items[0], ground)
        found = smallest_difference(len(items), PLANNED_DISCORDANCE)
        return Plan(tuple(calls), items, Unknown("too few items") if found is None else found, arms)

    def more(self, name: str, plan: Plan, records: Sequence[Record], ground: Ground) -> Sequence[Call]:
        """The next turn of every live dialogue, and the question on a branch where a depth is reached."""
        if self.history == "scripted":
            return ()
        said = replies_of(records)
        calls: list[Call] = []
        for index, item in enumerate(plan.items):
            for arm in (self.home, NO_RULE)[: 1 + (index < self.explained)]:
                replies = said.get((item.id, arm), ())
                if replies is None:
                    continue
                for asks, case in self._live(item, arm, replies, ground).branches(arm, self.depths, item.instance):
                    calls += self._calls(name, asks, replace(item, instance=case), ground)
        return calls

    def _live(self, item: Item, arm: str, replies: tuple[str, ...], ground: Ground) -> Live:
        system, user = item.instance.messages
        generator = item_generator(ground.seed, "memory", item.id)
        sentences = tuple(islice(draw_fillers(generator, item.language), max(self.depths[-1] - 1, 1)))
        opening = () if arm == NO_RULE else (Message("system", system.parts[:1]),)
        return Live(opening, sentences, Message("user", user.parts), replies)

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """P(t), S(t), the drop, and what explains it."""
        return read(plan, records, seed, self.home)

    def _arms(self, index: int, item: Item, ground: Ground) -> Iterator[tuple[str, Item]]:
        """The item in every arm, each with its dialogue."""
        dialogue, last = Dialogue.of(item, self.depths[-1], ground), self.depths[-1]
        arms: list[tuple[int, str]] = [(depth, self.home) for depth in self.depths]
        if index < self.explained:
            arms += [(depth, "no-rule") for depth in self.depths]
            arms += [(last, "user")] if self.home != "user" else []
            arms += [(last, arm) for arm in self.explaining]
        for depth, arm in arms:
            yield f"{depth}:{arm}", replace(item, instance=dialogue.case(arm, depth, self.home))

    def _calls(self, name: str, arm: str, item: Item, ground: Ground) -> Iterator[Call]:
        request = request_of(item.instance, replace(ground.sampling, max_tokens=self.max_tokens))
        ids = () if ground.encode is None else (("ids", str(len(ground.encode(item.instance).ids))),)
        is_repeated = arm.split(":")[1] == self.home and not arm.startswith(TURN)
        for run in range(self.runs if is_repeated else 1):
            yield Call(ground.target, name, item.id, arm, run, request.again(run), facts=ids)

    def _canaries(self, name: str, item: Item, ground: Ground) -> Iterator[Call]:
        """Code words at both ends of a short and of the longest dialogue: a cut prompt loses one of the latter."""
        pair = canary_pair(self.language, ground.seed)
        dialogue = Dialogue.of(item, self.depths[-1], ground)
        for which, turns in (("short", 0), ("long", self.depths[-1] - 1)):
            talk = dialogue.talk(turns, dialogue.neutral)
            last = Message("user", (Part("tail", pair.tail), Part("question", pair.question)))
            head = Message("system", (Part("head", pair.head),))
            case = replace(item.instance, messages=(head, *talk, last), evidence=())
            request = request_of(case, replace(ground.sampling, max_tokens=self.max_tokens))
            facts = (("codes", f"{pair.first} {pair.last}"),)
            yield Call(ground.target, name, item.id, f"{CANARY}{which}", 0, request, facts=facts)


@dataclass(frozen=True)
class Dialogue:
    """The fixed talk of one item. rule, documents with their question, what is said in between, and the reply to it."""

    item: Item
    rule: Part
    check: tuple[Part, ...]
    neutral: tuple[str, ...]
    competing: tuple[str, ...]
    reply: str

    @classmethod
    def of(cls, item: Item, longest: int, ground: Ground) -> "Dialogue":
        """As many turns as the deepest question needs, drawn for this item alone."""
        system, user = item.instance.messages
        language = item.language
        generator = item_generator(ground.seed, "memory", item.id)
        neutral = tuple(islice(draw_fillers(generator, language), max(longest - 1, 1)))
        draw = Draw(item.id, 0, language, generator, ground.count, max(longest - 1, 1))
        competing = draw_facts(draw, attribute(item.facts[0].attribute)).facts if longest <= 60 else ()
        reply = NOTED[language][item.variant == "json"]
        return cls(item, system.parts[0], user.parts, neutral, tuple(f.sentence for f in competing), reply)

    def talk(self, turns: int, sentences: Sequence[str]) -> tuple[Message, ...]:
        """So many turns of the user, each with its reply."""
        said = [
            (Message("user", (Part(f"turn{i + 1}", sentence),)), self._replied(i + 1))
            for i, sentence in enumerate(sentences[:turns])
        ]
        return tuple(message for pair in said for message in pair)

    def case(self, arm: str, depth: int, home: Home) -> CaseInstance:
        """The question at a depth, on a branch of its own."""
        talk, asked = self.talk(depth - 1, self.neutral), Message("user", self.check)
        match arm:
            case "no-rule":
                messages = (*talk, asked)
            case "system" | "user":
                messages = (*self._opening(arm == "system"), *talk, asked)
            case "restated":
                messages = (*self._opening(home == "system"), *talk, Message("user", (self._again, *self.check)))
            case "competing":
                messages = (*self._opening(home == "system"), *self.talk(depth - 1, self.competing), asked)
            case "one-turn":
                messages = (*self._opening(False), Message("user", (*_parts(talk), *self.check)))
            case _:
                messages = (Message("user", (self.rule, *_parts(talk), *self.check)),)
        return replace(self.item.instance, messages=messages)

    def _opening(self, in_system: bool) -> tuple[Message, ...]:
        if in_system:
            return (Message("system", (self.rule,)),)
        return Message("user", (self.rule,)), self._replied(0)

    def _replied(self, number: int) -> Message:
        return Message("assistant", (Part(f"reply{number}", self.reply),))

    @property
    def _again(self) -> Part:
        return Part("again", self.rule.text)


def _parts(messages: Sequence[Message]) -> tuple[Part, ...]:
    return tuple(part for message in messages for part in message.parts)
