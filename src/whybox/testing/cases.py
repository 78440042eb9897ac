"""Cases in the planted language: entities, values, places and fillers drawn anew for every seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from whybox.items import Case
from whybox.items.seeds import item_generator
from whybox.testing.vocabulary import DOCS, ENTITIES, FILLERS, VALUES

LEAST_FILLERS, MOST_FILLERS = 30, 44
FIRST_VALUE, DOCUMENT = 3, 4  # position of the first document's value, and tokens of a document
VARIED = 5


@dataclass(frozen=True)
class Draw:
    """What one seed chose. `values` are distinct; place: where the evidence stands among the two documents."""

    entity: str
    others: tuple[str, ...]
    values: tuple[str, ...]
    labels: tuple[str, ...]
    fillers: str
    place: int

    def at(self, place: int) -> "Draw":
        """The same draw with the evidence at another place."""
        return replace(self, place=place)

    @property
    def rights(self) -> list[str]:
        """Values that the right answer takes over the variants, the case's own first."""
        return list(self.values[:VARIED])

    @property
    def wrongs(self) -> list[str]:
        """Values of the competing document over the variants, never one of `rights`."""
        return list(self.values[VARIED : 2 * VARIED])

    def document(self, index: int, entity: str, value: str) -> dict[str, str]:
        """A part: DOCi entity value and a sentence end."""
        return {"name": f"doc{index + 1}", "text": f"{self.labels[index]} {entity} {value} ."}

    def question(self, mark: str = "") -> dict[str, str]:
        """The part that asks, behind its fillers."""
        return {"name": "question", "text": " ".join(filter(None, (self.fillers, mark, "Q", self.entity)))}

    def value_position(self, index: int) -> int:
        """Position of document `index`'s value."""
        return FIRST_VALUE + DOCUMENT * index


def draw(row: str, seed: int) -> Draw:
    """Everything that differs between two cases of a row."""
    generator = item_generator(seed, "planted", row)
    entities = [str(name) for name in generator.permutation(ENTITIES)]
    values = tuple(str(name) for name in generator.permutation(VALUES))
    labels = tuple(str(name) for name in generator.permutation(DOCS))
    count = int(generator.integers(LEAST_FILLERS, MOST_FILLERS + 1))
    fillers = " ".join(str(word) for word in generator.choice(FILLERS, count))
    return Draw(entities[0], tuple(entities[1:]), values, labels, fillers, int(generator.integers(2)))


def case(row: str, seed: int, parts: Sequence[Mapping[str, str]], answer: Mapping[str, str], **fields: Any) -> Case:
    """A raw case whose parts are joined by blanks and whose answers are names."""
    data = {"id": f"{row}-{seed}".replace("_", "-"), "text": list(parts), "join": " "}
    return Case.from_data({**data, "answer": {"kind": "name", **answer}, **fields})


def two_documents(row: str, seed: int, drawn: Draw, mark: str = "", **fields: Any) -> Case:
    """The evidence at its drawn place, beside a document about another entity whose value is the wrong answer."""
    evidence = drawn.document(drawn.place, drawn.entity, "{right}")
    other = drawn.document(1 - drawn.place, drawn.others[0], "{wrong}")
    parts = [*sorted([evidence, other], key=lambda part: part["name"]), drawn.question(mark)]
    vary = {"right": drawn.rights, "wrong": drawn.wrongs}
    answer = {"right": "{right}", "wrong": "{wrong}"}
    return case(row, seed, parts, answer, vary=vary, evidence=[evidence["name"]], **fields)


def two_that_disagree(row: str, seed: int, drawn: Draw, place: int) -> Case:
    """Both documents speak of the entity asked for; the evidence stands at `place`."""
    evidence = drawn.document(place, drawn.entity, "{right}")
    other = drawn.document(1 - place, drawn.entity, "{wrong}")
    parts = [*sorted([evidence, other], key=lambda part: part["name"]), drawn.question()]
    vary = {"right": drawn.rights, "wrong": drawn.wrongs}
    return case(row, seed, parts, {"right": "{right}", "wrong": "{wrong}"}, vary=vary, evidence=[evidence["name"]])


def against_one_value(
    row: str, seed: int, drawn: Draw, parts: Sequence[Mapping[str, str]], wrong: str, **fields: Any
) -> Case:
    """The wrong answer is one fixed value (what the weights hold); the slots {right} and {other} vary."""
    free = [value for value in drawn.values if value != wrong]
    vary = {"right": free[: 2 * VARIED]}
    if any("{other}" in part["text"] for part in parts):
        vary = {"right": free[:VARIED], "other": free[VARIED : 2 * VARIED]}
    return case(row, seed, parts, {"right": "{right}", "wrong": wrong}, vary=vary, **fields)


def beside_other(row: str, seed: int, drawn: Draw, wrong: str, **fields: Any) -> Case:
    """The evidence at its drawn place beside a document about another entity; the wrong answer is fixed."""
    evidence = drawn.document(drawn.place, drawn.entity, "{right}")
    other = drawn.document(1 - drawn.place, drawn.others[0], "{other}")
    parts = [*sorted([evidence, other], key=lambda part: part["name"]), drawn.question()]
    return against_one_value(row, seed, drawn, parts, wrong, evidence=[evidence["name"]], **fields)
