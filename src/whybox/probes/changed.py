"""Items with another value in one fact: the answer that is right then, in a sentence of the same length."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from whybox.items.generate import Fact, Item, draw_of_length
from whybox.items.instance import CaseInstance
from whybox.items.scoring import number_scorer
from whybox.items.variants import are_distinct

LOW, HIGH = 11, 98  # the values that the generators draw


@dataclass(frozen=True)
class Changed:
    """An item with another value; flags as those of items."""

    item: Item
    flags: tuple[str, ...]


def with_new_value(item: Item, generator: np.random.Generator, length: Callable[[CaseInstance], int]) -> Changed:
    """The asked fact states a value that no fact of the item has; the prompt keeps its length, or is flagged.

    The value that stood there before counts as a wrong answer from then on.
    """
    assert item.asked is not None, "an item of facts asks one of them"
    fact = item.facts[item.asked]
    part, taken = item.instance.evidence[0], [each.value for each in item.facts]

    def draw() -> Fact:
        value = _other_value(generator, taken)
        return replace(fact, value=value, sentence=fact.sentence.replace(fact.value, value))

    def case_of(other: Fact) -> CaseInstance:
        text = item.instance.part(part).text.replace(fact.sentence, other.sentence)
        return item.instance.replacing({part: text})

    found = draw_of_length(draw, lambda other: length(case_of(other)), length(item.instance))
    right = item.instance.right.replace(fact.value, found.value.value)
    others = (item.instance.right, *item.others)
    case = replace(case_of(found.value), right=right, wrong=item.instance.right)
    facts = tuple(found.value if i == item.asked else each for i, each in enumerate(item.facts))
    changed = replace(item, instance=case, scorer=number_scorer(right, others), facts=facts, others=others)
    return Changed(changed, found.flags)


def _other_value(generator: np.random.Generator, taken: Sequence[str]) -> str:
    while True:
        value = str(int(generator.integers(LOW, HIGH + 1)))
        if are_distinct([value, *taken]):
            return value
