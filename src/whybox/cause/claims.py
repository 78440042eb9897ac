"""What a verdict may rest on: changes that undo a wrong answer, with all that a proof of them needs."""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from whybox.cause.bench import Work
from whybox.cause.trials import Maker, ShamMakers

TRIAL = Work(2, 1)  # runs of one change at most: LD on the base's path and on its own, and the answer
TRIED = 3  # of the candidates that bring the right answer ahead


class Kind(StrEnum):
    """What a change speaks of."""

    PROMPT = "prompt"
    SUPPRESSOR = "suppressor"
    READER = "reader"
    WRITER = "writer"
    FORM = "form"
    PAIR = "pair"


@dataclass(frozen=True)
class Claim:
    """A change under its name, with its shams where there are any.

    control: the same with the evidence hidden. An answer that turns right even so does not rest on the evidence.
    cost: runs of the change at most.
    """

    kind: Kind
    name: str
    make: Maker
    shams: ShamMakers | None = None
    control: Maker | None = None
    cost: Work = TRIAL


@dataclass(frozen=True)
class Screened:
    """Many changes of one kind of which only one number was read, in nats: LD (of_ld), or one that the words name.

    best: the change with the largest number, `value`.
    """

    what: str
    runs: int
    best: str
    value: float
    of_ld: bool = True


def best_of(what: str, names: Iterable[object], values: Iterable[float], of_ld: bool = True) -> Screened:
    """ValueError where nothing was screened."""
    found = [(value, str(name)) for name, value in zip(names, values, strict=True)]
    value, name = max(found)
    return Screened(what, len(found), name, value, of_ld)


@dataclass(frozen=True)
class Changed:
    """The evidence with another value in it. follows: whether the answer gives that value; None where its limit cut it
    before it gave a whole one.
    """

    value: str
    answer: str
    follows: bool | None
