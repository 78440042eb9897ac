"""Facts of one item: same attribute, same unit, same token count; values that differ and hold none of each other."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from whybox.items.generate.item import Draw, Fact
from whybox.items.generate.names import draw_names, with_kind
from whybox.items.generate.same_length import draw_of_length
from whybox.items.generate.vocabulary import Attribute
from whybox.items.variants import are_distinct

T = TypeVar("T")


@dataclass(frozen=True)
class FactSet:
    """Facts in the order of their documents; `asked` is the place of the one that the question is about."""

    facts: tuple[Fact, ...]
    asked: int
    flags: tuple[str, ...]

    @property
    def right(self) -> Fact:
        return self.facts[self.asked]

    @property
    def distractors(self) -> tuple[Fact, ...]:
        return tuple(fact for i, fact in enumerate(self.facts) if i != self.asked)


def draw_facts(draw: Draw, attribute: Attribute) -> FactSet:
    """`draw.size` facts; over a suite the asked one takes every rank of value and every place equally often."""
    facts: list[Fact] = []
    flags: tuple[str, ...] = ()
    while len(facts) < draw.size:
        if not facts:
            facts.append(_one_fact(draw, attribute, facts))
            continue
        matched = draw_of_length(
            lambda: _one_fact(draw, attribute, facts),
            lambda fact: draw.count_tokens(fact.sentence),
            draw.count_tokens(facts[0].sentence),
        )
        facts.append(matched.value)
        flags = flags or matched.flags
    return arranged(draw, facts, flags)


def arranged(draw: Draw, facts: Sequence[Fact], flags: tuple[str, ...]) -> FactSet:
    """Choose the asked fact by rank of value and its place by rotation; shuffle the others."""
    ranked = sorted(facts, key=lambda fact: (len(fact.value), fact.value))
    rank, place, _ = rotation(draw.index, len(facts))
    right = ranked.pop(rank)
    others = [ranked[i] for i in draw.generator.permutation(len(ranked))]
    return FactSet((*others[:place], right, *others[place:]), place, flags)


def rotation(index: int, size: int) -> tuple[int, int, int]:
    """Three places below `size`, each changing from item to item; every triple comes once in size³ items.

    rank = a, place = a + b, label = b + c − a (mod size) for index = a + b·size + c·size².
    """
    a, b, c = index % size, index // size % size, index // size**2 % size
    return a, (a + b) % size, (b + c - a) % size


def _one_fact(draw: Draw, attribute: Attribute, others: Sequence[Fact]) -> Fact:
    (name,) = draw_names(draw.generator, draw.language, 1, avoid=[_own_word(other.name, draw) for other in others])
    written = with_kind(name, attribute.entity, draw.language)
    value = _value(draw, attribute, [other.value for other in others])
    sentence = attribute.phrases(draw.language).fact.format(name=written, value=value)
    return Fact(written, attribute.key, value, sentence)


def _own_word(written: str, draw: Draw) -> str:
    return written.split(" ")[0] if draw.language == "en" else written[:2]


def _value(draw: Draw, attribute: Attribute, others: Sequence[str]) -> str:
    def admissible(value: str) -> bool:
        same_count = not others or draw.count_tokens(value) == draw.count_tokens(others[0])
        return same_count and are_distinct([value, *others])

    return until(lambda: str(int(draw.generator.integers(attribute.low, attribute.high + 1))), admissible)


def until(draw: Callable[[], T], admissible: Callable[[T], bool]) -> T:
    """The first admissible draw; the vocabulary is wide enough that 10,000 draws never fail."""
    for _ in range(10_000):
        value = draw()
        if admissible(value):
            return value
    raise AssertionError("the vocabulary is too narrow for this many different values")
