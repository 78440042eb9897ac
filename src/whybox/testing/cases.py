"""Cases in the planted language: entities, values, places and fillers drawn anew for every seed."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whybox.items import Case
from whybox.items.seeds import item_generator
from whybox.testing.vocabulary import DOCS, END, ENTITIES, FILLERS, SOURCES, VALUES

FIRST_VALUE, DOCUMENT = 3, 4  # position of the first document's value, and tokens of a document
VARIED = 5
Part = dict[str, str]


@dataclass(frozen=True)
class Scene:
    """What a case has around its two documents.

    lead: fillers of a sentence before them. distractors: documents about entities that nobody asks for, 3 at most.
    fillers: least and most of them before the question; controls on other spans need room.
    """

    lead: int = 0
    distractors: int = 0
    fillers: tuple[int, int] = (30, 44)


PLAIN = Scene()


@dataclass(frozen=True)
class Draw:
    """What one seed chose. `values` are distinct; places: of the evidence and of its competitor among `documents`."""

    entity: str
    others: tuple[str, ...]
    values: tuple[str, ...]
    labels: tuple[str, ...]
    fillers: str
    lead: str
    places: tuple[int, int]
    documents: int = 2

    def at(self, place: int) -> "Draw":
        """The same draw with the evidence before (0) or behind (1) its competitor."""
        first, second = sorted(self.places)
        return replace(self, places=(second, first) if place else (first, second))

    @property
    def place(self) -> int:
        """Of the evidence."""
        return self.places[0]

    @property
    def apart(self) -> int:
        """Tokens between the values of the evidence and of its competitor."""
        return DOCUMENT * abs(self.places[0] - self.places[1])

    @property
    def rights(self) -> list[str]:
        """Values that the right answer takes over the variants, the case's own first."""
        return list(self.values[:VARIED])

    @property
    def wrongs(self) -> list[str]:
        """Values of the competing document over the variants, never one of `rights`."""
        return list(self.values[VARIED : 2 * VARIED])

    def document(self, index: int, entity: str, value: str) -> Part:
        """A part: DOCi entity value and a sentence end."""
        return {"name": f"doc{index + 1}", "text": f"{self.labels[index]} {entity} {value} ."}

    @property
    def opening(self) -> list[Part]:
        """The sentence before the documents, if there is one."""
        return [{"name": "intro", "text": f"{self.lead} {END}"}] if self.lead else []

    def question(self, mark: str = "") -> Part:
        """The part that asks, behind its fillers."""
        return {"name": "question", "text": " ".join(filter(None, (self.fillers, mark, "Q", self.entity)))}

    def around(self, documents: Mapping[int, Part], mark: str = "") -> list[Part]:
        """All parts: documents by place, distractors at the places left, the question last.

        A distractor names a source in place of a value: there is nothing in it that could be an answer.
        """
        free = [place for place in range(self.documents) if place not in documents]
        spare = {at: self.document(at, self.others[-1 - i], SOURCES[i]) for i, at in enumerate(free)}
        placed = {**spare, **documents}
        return [*self.opening, *(placed[place] for place in sorted(placed)), self.question(mark)]

    def value_position(self, index: int) -> int:
        """Position of document `index`'s value."""
        before = len(self.lead.split()) + 1 if self.lead else 0
        return before + FIRST_VALUE + DOCUMENT * index


def draw(row: str, seed: int, scene: Scene = PLAIN) -> Draw:
    """Everything that differs between two cases of a row."""
    generator = item_generator(seed, "planted", row)
    entities = [str(name) for name in generator.permutation(ENTITIES)]
    values = tuple(str(name) for name in generator.permutation(VALUES))
    labels = tuple(str(name) for name in generator.permutation(DOCS))
    least, most = scene.fillers
    fillers = _words(generator, int(generator.integers(least, most + 1)))
    place = int(generator.integers(2))
    lead = _words(generator, scene.lead)
    documents = 2 + scene.distractors
    first, second = sorted(int(at) for at in generator.choice(documents, 2, replace=False))
    drawn = Draw(entities[0], tuple(entities[1:]), values, labels, fillers, lead, (first, second), documents)
    return drawn.at(place)


def _words(generator: np.random.Generator, count: int) -> str:
    return " ".join(str(word) for word in generator.choice(FILLERS, count))


def case(row: str, seed: int, parts: Sequence[Mapping[str, str]], answer: Mapping[str, str], **fields: Any) -> Case:
    """A raw case whose parts are joined by blanks and whose answers are names."""
    data = {"id": f"{row}-{seed}".replace("_", "-"), "text": list(parts), "join": " "}
    return Case.from_data({**data, "answer": {"kind": "name", **answer}, **fields})


def two_documents(row: str, seed: int, drawn: Draw, mark: str = "", **fields: Any) -> Case:
    """The evidence at its drawn place, beside a document about another entity whose value is the wrong answer."""
    evidence = drawn.document(drawn.place, drawn.entity, "{right}")
    other = drawn.document(drawn.places[1], drawn.others[0], "{wrong}")
    parts = drawn.around(dict(zip(drawn.places, (evidence, other), strict=True)), mark)
    vary = {"right": drawn.rights, "wrong": drawn.wrongs}
    answer = {"right": "{right}", "wrong": "{wrong}"}
    return case(row, seed, parts, answer, vary=vary, evidence=[evidence["name"]], **fields)


def two_that_disagree(row: str, seed: int, drawn: Draw) -> Case:
    """Both documents speak of the entity asked for."""
    evidence = drawn.document(drawn.place, drawn.entity, "{right}")
    other = drawn.document(drawn.places[1], drawn.entity, "{wrong}")
    parts = drawn.around(dict(zip(drawn.places, (evidence, other), strict=True)))
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


def beside_other(row: str, seed: int, drawn: Draw, wrong: str, mark: str = "", **fields: Any) -> Case:
    """The evidence at its drawn place beside a document about another entity; the wrong answer is fixed."""
    evidence = drawn.document(drawn.place, drawn.entity, "{right}")
    other = drawn.document(drawn.places[1], drawn.others[0], "{other}")
    parts = drawn.around(dict(zip(drawn.places, (evidence, other), strict=True)), mark)
    return against_one_value(row, seed, drawn, parts, wrong, evidence=[evidence["name"]], **fields)


def two_against_one(drawn: Draw, right: str, wrong: str) -> list[Part]:
    """The evidence and two documents that give the entity another value; distractors at the places left."""
    third = next(place for place in range(drawn.documents) if place not in drawn.places)
    said = {drawn.place: right, drawn.places[1]: wrong, third: wrong}
    return drawn.around({at: drawn.document(at, drawn.entity, value) for at, value in said.items()})


def crowded(scene: Scene) -> Scene:
    """With a third document at least."""
    return replace(scene, distractors=max(scene.distractors, 1))
