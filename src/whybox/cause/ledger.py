"""The ledger of a job: one line for every run, with its text, what was changed in it, and what was read from it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Literal, assert_never

from whybox.engine.edit import Action, Add, Boost, Cut, Edit, Index, Scale, Set, Zero

Ids = tuple[int, ...]
Kind = Literal["read", "write", "gradient"]
NOTHING = "nothing changed"
MOST_EDITS = 4  # said one by one; beyond, those of one site are counted together


@dataclass(frozen=True)
class Entry:
    """One run. text: number of its ids in the ledger. read: what `value` is (LD, log P); answer: what was written."""

    stage: str
    kind: Kind
    text: int
    what: str
    read: str = ""
    value: float | None = None
    answer: str | None = None


@dataclass
class Ledger:
    """Every run in the order in which it ended, and the texts that were run, each once."""

    entries: list[Entry] = field(default_factory=list)
    texts: dict[Ids, int] = field(default_factory=dict)

    def enter(
        self,
        stage: str,
        kind: Kind,
        ids: Ids,
        what: str,
        found: tuple[str, float | None] = ("", None),
        answer: str | None = None,
    ) -> None:
        """One more run."""
        number = self.texts.setdefault(ids, len(self.texts) + 1)
        self.entries.append(Entry(stage, kind, number, what, *found, answer))


def said(edits: Sequence[Edit]) -> str:
    """Edits in one line: `head_out 5 h=3 q=56… := 0`."""
    if not edits:
        return NOTHING
    if len(edits) <= MOST_EDITS:
        return "; ".join(map(_said, edits))
    return "; ".join(_together(edits))


def _together(edits: Sequence[Edit]) -> Iterator[str]:
    """Runs of edits of one site and action, counted; those that stand alone in full."""
    for (site, action), found in groupby(edits, key=lambda edit: (edit.site, _acted(edit.action))):
        alike = list(found)
        yield _said(alike[0]) if len(alike) == 1 else f"{site} {action} in {len(alike)} places"


def _said(edit: Edit) -> str:
    layers = "" if edit.layers is None else _several(edit.layers)
    places = (f"{letter}={_index(index)}" for letter, index in edit.at)
    return " ".join(filter(None, (edit.site, layers, *places, _acted(edit.action))))


def _acted(action: Action) -> str:
    match action:
        case Zero():
            return ":= 0"
        case Scale(factor):
            return f"× {factor:g}"
        case Set():
            return ":= given"
        case Add():
            return "+ given"
        case Cut():
            return "cut"
        case Boost():
            return "boosted"
        case _:
            assert_never(action)


def _index(index: Index) -> str:
    match index:
        case int():
            return str(index)
        case slice():
            return f"{index.start or 0}…{'' if index.stop is None else index.stop - 1}"
        case _:
            return _several(tuple(index))


def _several(numbers: Sequence[int]) -> str:
    """30…39 for neighbours, else every number; the first and how many more where there are many."""
    if len(numbers) > 2 and tuple(numbers) == tuple(range(numbers[0], numbers[0] + len(numbers))):
        return f"{numbers[0]}…{numbers[-1]}"
    if len(numbers) <= 2 * MOST_EDITS:
        return ",".join(map(str, numbers))
    return f"{','.join(map(str, numbers[:MOST_EDITS]))} and {len(numbers) - MOST_EDITS} more"
