"""One generated item: a concrete case, its scorer, and the abstract facts that it was rendered from."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from whybox.items.generate.vocabulary import SYSTEM, Language
from whybox.items.instance import CaseInstance, Kind, Message
from whybox.items.scoring import Scorer
from whybox.text.prompt import Part

ItemKind = Literal["fact", "keyvalue", "choice", "claim", "rule", "boundary", "common", "dated"]
CountTokens = Callable[[str], int]


@dataclass(frozen=True)
class Fact:
    """An entity (its name as written), what is said of it (attribute key), the value, and the sentence that says so."""

    name: str
    attribute: str
    value: str
    sentence: str


@dataclass(frozen=True)
class Item:
    """`asked`: which fact the question is about (None: none of them); `others`: answers of the facts not asked about.

    `flags` holds `length differs` when 200 draws found no sentence of equal token count; `variant` names the arm.
    """

    id: str
    kind: ItemKind
    language: Language
    instance: CaseInstance
    scorer: Scorer
    facts: tuple[Fact, ...] = ()
    asked: int | None = None
    others: tuple[str, ...] = ()
    variant: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True)
class Draw:
    """All that one item is drawn from: its own generator, its number in the suite, how many facts it holds."""

    id: str
    index: int
    language: Language
    generator: np.random.Generator
    count_tokens: CountTokens
    size: int

    def pick(self, count: int) -> int:
        """A number below `count`."""
        return int(self.generator.integers(count))


@dataclass(frozen=True)
class Answers:
    """Right and wrong answer as text, and their kind."""

    right: str
    wrong: str | None
    kind: Kind


def documents_case(
    draw: Draw, sentences: Sequence[str], question: str, answers: Answers, asked: int | None, system: str | None = None
) -> CaseInstance:
    """A chat of a system rule and one user turn: documents doc1 … dock, then the question."""
    documents = [Part(f"doc{i + 1}", sentence) for i, sentence in enumerate(sentences)]
    user = Message("user", (*documents, Part("question", question)))
    policy = Message("system", (Part("policy", SYSTEM[draw.language] if system is None else system),))
    return CaseInstance(
        id=draw.id,
        case_id=draw.id,
        values=(),
        messages=(policy, user),
        raw_parts=(),
        join="\n",
        right=answers.right,
        wrong=answers.wrong,
        kind=answers.kind,
        evidence=() if asked is None else (f"doc{asked + 1}",),
    )
