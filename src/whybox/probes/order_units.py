"""What changes places in `order`: parts, with numbers that are kept or renewed; options, with labels that move or stay.

A label that moves goes with its content, one that stays belongs to a place. Only where labels move can a liking for a
label be told from a liking for a place.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from whybox.items.generate import Item
from whybox.items.generate.kinds import LABELS
from whybox.items.scoring import choice_scorer

Numbering = Literal["kept", "renewed"]
Labels = Literal["move", "stay"]
PLAIN, QUESTION = "", "question"


@dataclass(frozen=True)
class Arranged:
    """An item in one order. variant: what goes with the units. asked: the unit that is right."""

    variant: str
    order: tuple[int, ...]
    item: Item
    asked: int

    @property
    def arm(self) -> str:
        """The order as a person counts, behind the variant: `labels move 2-1-3`."""
        return f"{self.variant} {'-'.join(str(unit + 1) for unit in self.order)}".strip()


def variant_of(arm: str) -> str:
    """What an arm is called without its order."""
    return arm.rpartition(" ")[0]


def order_of(arm: str) -> list[int]:
    """Which unit stands at each place."""
    return [int(unit) - 1 for unit in arm.rpartition(" ")[2].split("-")]


def parts(item: Item, named: Sequence[str], order: Sequence[int], numbering: Sequence[Numbering]) -> Iterator[Arranged]:
    """The named parts in this order: as they are, or with a number each that is kept or renewed."""
    asked = item.instance.evidence[0] if item.instance.evidence else named[0]
    unit = named.index(asked) if asked in named else order[0]
    moved = item.instance.reordered([named[each] for each in order])
    for way in numbering or (None,):
        if way is None:
            yield Arranged(PLAIN, tuple(order), replace(item, instance=moved), unit)
            continue
        numbers = {named[each]: each if way == "kept" else place for place, each in enumerate(order)}
        texts = {name: f"{number + 1}. {item.instance.part(name).text}" for name, number in numbers.items()}
        yield Arranged(f"numbers {way}", tuple(order), replace(item, instance=moved.replacing(texts)), unit)


def options(item: Item, order: Sequence[int], labels: Sequence[Labels]) -> Iterator[Arranged]:
    """The options of a generated choice in this order, with labels that go with them or stay where they are."""
    question, *lines, ask = item.instance.part(QUESTION).text.split("\n")
    contents = [line.partition(") ")[2] for line in lines]
    asked = LABELS.index(item.instance.right)
    for way in labels:
        shown = [(LABELS[unit if way == "move" else place], contents[unit]) for place, unit in enumerate(order)]
        text = "\n".join((question, *(f"{label}) {content}" for label, content in shown), ask))
        label = {content: label for label, content in shown}
        right, wrong = label[contents[asked]], label[contents[(asked + 1) % len(contents)]]
        instance = replace(item.instance.replacing({QUESTION: text}), right=right, wrong=wrong)
        scorer = choice_scorer(right, tuple(sorted(label.values())), dict(sorted(shown)))
        yield Arranged(f"labels {way}", tuple(order), replace(item, instance=instance, scorer=scorer), asked)


def unit_of(label: str, variant: str, order: Sequence[int]) -> int:
    """Which option a label names in an arm."""
    named = LABELS.index(label)
    return order[named] if variant == "labels stay" else named
