"""Other values than the right one, where a prompt states them: what a boost must be compared with.

A boost makes a model repeat what it is made to look at. Boosting text that holds no value of the kind that is asked for
can hardly give any; a control that is comparable in kind states another value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from whybox.cause.decision import mentions
from whybox.items.instance import CaseInstance
from whybox.items.scoring.finders import NumberCandidate
from whybox.items.scoring.folding import fold
from whybox.items.scoring.quantities import find_quantities
from whybox.text.prompt import Prompt


@dataclass(frozen=True)
class Rival:
    """Another value as the prompt writes it, and the tokens that hold it."""

    text: str
    keys: range

    def lies_in(self, span: range) -> bool:
        return span.start <= self.keys.start and self.keys.stop <= span.stop


def rivals_in(prompt: Prompt, case: CaseInstance, wrong: str, taken: Sequence[int]) -> list[Rival]:
    """Values other than the right one, in the order of the prompt, outside the tokens that are taken."""
    held = set(taken)
    found = (
        Rival(prompt.text[start:end], _keys(prompt, start, end)) for start, end in _places(case, wrong, prompt.text)
    )
    return [rival for rival in found if rival.keys and held.isdisjoint(rival.keys)]


def _places(case: CaseInstance, wrong: str, text: str) -> list[tuple[int, int]]:
    """Characters start … end of every mention of the wrong answer, and of other quantities of the right one's unit."""
    if case.kind == "choice":
        return sorted({place for content in other_options(case) for place in mentions(text, content)})
    named = mentions(text, wrong) if wrong else ()
    return sorted({*named, *(_quantities(case.right, text) if case.kind == "number" else ())})


def other_options(case: CaseInstance) -> list[str]:
    """What the options of a choice say, but for the right one. A letter is no value: "A refund" holds none."""
    return [content for label, content in case.options if label != case.right]


def _quantities(right: str, text: str) -> Iterator[tuple[int, int]]:
    own, folded = NumberCandidate.parse(right), fold(text)
    known = [] if own.unit is None else [own.unit]
    unit = None if own.unit is None else own.unit.name
    for one in find_quantities(folded.text, words=True, extra=known):
        if one.unit == unit and one.value != own.value:
            yield folded.span(one.start, one.end)


def _keys(prompt: Prompt, start: int, end: int) -> range:
    touched = [place for place, token in enumerate(prompt.tokens) if token.span[0] < end and token.span[1] > start]
    return range(touched[0], touched[-1] + 1) if touched else range(0)
