"""`edit`: one keyword is edited. Does the answer follow it, and does it follow nothing else?

Arms: `base`; `dir`, an edit that must change the answer; `inv-name`, `inv-synonym`, `inv-word`, three that must not,
as long as the first and within five per cent of its depth. Items take turns: the keyword stands in the question, or it
is the value of the fact, early or late in the prompt.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from math import ceil
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from whybox.errors import UsageError
from whybox.items.generate import CHARACTERS_ONLY, LENGTH_DIFFERS, Item, generate
from whybox.items.generate.fillers import draw_fillers, joiner
from whybox.items.instance import CaseInstance
from whybox.items.scoring import number_scorer
from whybox.items.seeds import item_generator
from whybox.probes import trajectories
from whybox.probes.changed import with_new_value
from whybox.probes.design import Call, Design, Finding, Ground, Measure, Plan, Record
from whybox.probes.edit_carriers import Carriers, behind, drawn, framed
from whybox.probes.edit_reading import BASE, DIR, INV, MOST_APART, NEITHER, read
from whybox.statistics.power import smallest_difference
from whybox.statistics.unknown import Unknown
from whybox.targets.target import request_of

PLANNED_DISCORDANCE = 0.2  # share of items that differ, as the table of designed sizes assumes
SAMPLE, MOST_FILLERS = 20, 200  # sentences
EditKind = Literal["question", "value-early", "value-late"]
KINDS: tuple[EditKind, ...] = ("question", "value-early", "value-late")


class EditProbe(Design):
    """kinds: what is edited, in turns. The user's own items name their evidence, which must state the right answer.

    trajectories: items of which the base's text is read behind every prompt: where would another token be chosen?
    """

    NAME: ClassVar[str] = "edit"
    ABOUT: ClassVar[str] = "One keyword is edited: does the answer follow it, and nothing else?"
    GATES: ClassVar[tuple[str, ...]] = ("statistic: follows, at_least: 0.9", "statistic: flips, at_most: 0.05")
    MEASURES: ClassVar[dict[str, Measure]] = {
        "follows": Measure(
            "rate",
            (
                "The answer follows the keyword and nothing else in at least {limit} of the items.",
                "至少 {limit} 的样本中，答案只随关键词变化。",
            ),
        ),
        "flips": Measure(
            "effects",
            (
                "Edits that must not matter change at most {limit} more answers than asking again does.",
                "无关的改动所改变的答案，比原样重问最多多 {limit}。",
            ),
        ),
    }

    items: Annotated[int, Field(ge=1, le=10_000)] = 180
    runs: Annotated[int, Field(ge=2, le=100)] = 2
    kinds: Annotated[list[EditKind], Field(min_length=1, max_length=3)] = Field(default_factory=lambda: list(KINDS))
    trajectories: Annotated[int, Field(ge=0, le=10_000)] = 60

    def plan(self, name: str, ground: Ground) -> Plan:
        """Five prompts an item, so many times each."""
        items: list[Item] = []
        asked: dict[tuple[str, str], Item] = {}
        calls: list[Call] = []
        for index, item in enumerate(self._items(ground)):
            kind = self.kinds[index % len(self.kinds)] if self.data is None else "value-late"
            arms = _arms(item, kind, ground)
            items.append(arms[BASE])
            asked |= {(item.id, arm): each for arm, each in arms.items() if arm != BASE}
            calls += self._calls(name, kind, arms, ground)
        found = smallest_difference(len(items), PLANNED_DISCORDANCE)
        return Plan(tuple(calls), tuple(items), Unknown("too few items") if found is None else found, asked)

    def more(self, name: str, plan: Plan, records: Sequence[Record], ground: Ground) -> Sequence[Call]:
        """What the first items wrote on the base, behind the prompt of every arm."""
        firsts = {r.call.item: r for r in records if (r.call.arm, r.call.run) == (BASE, 0)}
        return [
            call
            for item in plan.items[: self.trajectories]
            if item.id in firsts
            for call in trajectories.calls(name, _asked_by_arm(item, plan), firsts[item.id], ground)
        ]

    def read(self, plan: Plan, records: Sequence[Record], seed: int) -> Finding:
        """CC, F_inv − F₀, the gap between both kinds of edits, and where the texts part."""
        return read(plan, records, seed)

    def _items(self, ground: Ground) -> tuple[Item, ...]:
        if self.data is None:
            return generate("fact", self.language, self.items, ground.seed, ground.count, size=2)
        items = ground.data[self.data][: self.items]
        for item in items:
            case = item.instance
            if case.wrong is None or not case.evidence or case.right not in case.part(case.evidence[0]).text:
                raise UsageError(
                    f"edit: {item.id}: the evidence must state {case.right!r}, and a wrong answer be given",
                    "write `evidence`, `right` and `wrong` so that one can be put in the place of the other",
                )
        return items

    def _calls(self, name: str, kind: EditKind, arms: Mapping[str, Item], ground: Ground) -> Iterator[Call]:
        sampling = replace(ground.sampling, max_tokens=self.max_tokens)
        logprobs = 2 if ground.abilities.logprobs else None
        placed = _placed(arms, ground)
        for arm, item in arms.items():
            request = request_of(item.instance, sampling, logprobs)
            for run in range(self.runs):
                facts = (("kind", kind), *placed[arm])
                yield Call(ground.target, name, item.id, arm, run, request.again(run), facts=facts)


def _asked_by_arm(item: Item, plan: Plan) -> dict[str, Item]:
    return {BASE: item} | {arm: plan.asked[item.id, arm] for arm in (DIR, *INV)}


def _arms(item: Item, kind: EditKind, ground: Ground) -> dict[str, Item]:
    """The item as every arm asks it."""
    generator = item_generator(ground.seed, "edit", item.id)
    edited = "question" if kind == "question" else item.instance.evidence[0]
    after = behind(item.language, "question" if kind == "question" else "value")
    plain = replace(item, instance=_arranged(item, kind))
    carriers, others = drawn(generator, item.language, ground.count)

    def carrying(each: Carriers) -> Item:
        return replace(plain, instance=framed(plain.instance, each.parts(), edited, after))

    base = carrying(carriers)
    arms = {BASE: base, DIR: _directed(base, kind, ground), **{arm: carrying(each) for arm, each in others.items()}}
    notes = joiner(item.language).join(islice(draw_fillers(generator, item.language), _fillers(arms, ground)))
    return {arm: replace(each, instance=_with_notes(each.instance, notes, kind)) for arm, each in arms.items()}


def _arranged(item: Item, kind: EditKind) -> CaseInstance:
    """Generated items: the asked fact first where it is edited early, last where it is edited late."""
    if kind == "question" or not item.facts:
        return item.instance
    gold = item.instance.evidence[0]
    rest = [f"doc{i + 1}" for i in range(len(item.facts)) if f"doc{i + 1}" != gold]
    return item.instance.reordered([gold, *rest] if kind == "value-early" else [*rest, gold])


def _directed(base: Item, kind: EditKind, ground: Ground) -> Item:
    """The edit that must change the answer."""
    if not base.facts:
        return _exchanged(base)
    if kind != "question":
        return with_new_value(base, item_generator(ground.seed, "edit/value", base.id), ground.length).item
    assert base.asked is not None, "an item of facts asks one of them"
    other = 1 - base.asked
    case = base.instance
    question = case.part("question").text.replace(base.facts[base.asked].name, base.facts[other].name)
    right, wrong = base.others[0], case.right
    turned = replace(case.replacing({"question": question}), right=right, wrong=wrong, evidence=(f"doc{other + 1}",))
    return replace(base, instance=turned, scorer=number_scorer(right, [wrong]), asked=other, others=(wrong,))


def _exchanged(base: Item) -> Item:
    """The user's own item with the wrong answer in the place of the right one, which is right then."""
    case = base.instance
    assert case.wrong is not None, "refused before"
    gold = case.evidence[0]
    text = case.part(gold).text.replace(case.right, case.wrong)
    turned = replace(case.replacing({gold: text}), right=case.wrong, wrong=case.right)
    return replace(base, instance=turned, scorer=turned.scorer(), others=(case.right,))


def _fillers(arms: Mapping[str, Item], ground: Ground) -> int:
    """How many neutral sentences make the prompt so long that all edits lie within the allowed depth of one another."""
    ids = {arm: _ids(item.instance, ground) for arm, item in arms.items()}
    places = [_parting(ids[BASE], ids[arm]) for arm in arms if arm != BASE]
    asked = _parting(ids[BASE], ids[DIR])
    missing = max(abs(place - asked) for place in places) / MOST_APART - len(ids[BASE])
    if missing <= 0:
        return 0
    base = arms[BASE]
    sample = islice(draw_fillers(item_generator(0, "edit", "sample"), base.language), SAMPLE)
    longer = _with_notes(base.instance, joiner(base.language).join(sample), "question")
    each = (len(_ids(longer, ground)) - len(ids[BASE])) / SAMPLE
    return min(ceil(missing / each) + 2, MOST_FILLERS)


def _with_notes(case: CaseInstance, notes: str, kind: EditKind) -> CaseInstance:
    """Neutral sentences: in front of everything, or, where the edit is early, in front of the question."""
    if not notes:
        return case
    return framed(case, {"notes": notes}, "question" if kind == "value-early" else _first_of_last(case))


def _first_of_last(case: CaseInstance) -> str:
    """The first part of the last message."""
    return (case.messages[-1].parts if case.messages else case.raw_parts)[0].name


def _placed(arms: Mapping[str, Item], ground: Ground) -> dict[str, tuple[tuple[str, str], ...]]:
    """For every arm its length and the depth at which it is edited, in the ids really sent."""
    ids = {arm: _ids(item.instance, ground) for arm, item in arms.items()}
    base = ids[BASE]
    depth = {arm: _parting(base, each) / len(base) for arm, each in ids.items()}
    counted = () if ground.encode else (("counted", CHARACTERS_ONLY),)
    found = {}
    for arm, each in ids.items():
        flags = [LENGTH_DIFFERS] if len(each) != len(base) and ground.encode else []
        if arm != BASE and abs(depth[arm] - depth[DIR]) > MOST_APART:
            flags.append(NEITHER)
        flagged = (("flag", " · ".join(flags)),) if flags else ()
        found[arm] = (("ids", str(len(each))), ("depth", f"{depth[arm]:.4f}"), *counted, *flagged)
    return found


def _ids(case: CaseInstance, ground: Ground) -> tuple[int, ...]:
    """The ids really sent, or the characters of the prompt where they are not revealed."""
    if ground.encode is not None:
        return tuple(ground.encode(case).ids)
    return tuple(map(ord, case.join.join(part.text for part in case.parts)))


def _parting(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """The first place at which two prompts differ."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))
