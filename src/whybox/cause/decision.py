"""Where right and wrong answer part, and by how much."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from whybox.engine.trace import log_softmax
from whybox.errors import CaseError
from whybox.items.scoring import Score
from whybox.model import Model
from whybox.text.prompt import Prompt

Array = np.ndarray
Kind = Literal["own", "start", "forced"]
Ids = tuple[int, ...]
NOT_OWN = "prefix not the model's own"
RE_ENCODED = "prefix encoded anew together with the answer"


@dataclass(frozen=True)
class Decision:
    """ids: everything before the decision. right, wrong: the ids that follow in either answer; their first differ.

    prefix: the part of the answer that stands before the decision. answer_row: the last row of the prompt, from which
    on rows write the answer. answers: the texts of right and wrong that were compared.
    """

    kind: Kind
    prefix: str
    ids: Ids
    right: Ids
    wrong: Ids
    answer_row: int
    re_encoded: bool = False
    answers: tuple[str, str] = ("", "")

    @property
    def row(self) -> int:
        """The decision position: the row whose logits choose between the answers."""
        return len(self.ids) - 1

    @property
    def flags(self) -> tuple[str, ...]:
        own = () if self.kind == "own" else (NOT_OWN,)
        return (*own, RE_ENCODED) if self.re_encoded else own


@dataclass(frozen=True)
class Reading:
    """The metric at a decision: ld = z[right] − z[wrong]; right, wrong: log-probabilities of those two ids. Nats."""

    ld: float
    right: float
    wrong: float

    def less(self, base: "Reading") -> "Reading":
        """The effect against a base."""
        return Reading(self.ld - base.ld, self.right - base.right, self.wrong - base.wrong)


def read_at(logits: Array, decision: Decision) -> Reading:
    """From logits [v] of the decision row. LD keeps the engine's digits; log-probabilities are float64."""
    right, wrong = decision.right[0], decision.wrong[0]
    log_probs = log_softmax(logits)
    return Reading(float(logits[right] - logits[wrong]), float(log_probs[right]), float(log_probs[wrong]))


def place_of(text: str, score: Score, right: str, wrong: str) -> int | None:
    """Where the answer stands in what was written; None where it gives none.

    A right text: at the right answer. One that asserts several: at the first of them, since what follows may answer
    what nobody asked. Any other: at the wrong answer, then at the right one. Where it stands in other words ("30-day"
    for "30 days"), there the scorer found it.
    """
    if score.several:
        places = [found for answer in (right, wrong) if (found := mention(text, answer)) is not None]
        return min(places, default=score.span[0] if score.span is not None else None)
    sought = (right,) if score.right else (wrong, right)
    asserted = score.span[0] if score.span is not None and score.candidate is not None else None
    return next((found for answer in sought if (found := mention(text, answer)) is not None), asserted)


def own_decision(model: Model, prompt: Prompt, written: Ids, place: int | None, right: str, wrong: str) -> Decision:
    """The decision on the path that the model took, before the answer at `place` of what it wrote.

    No answer there: the prefix is empty and the kind `start`.
    """
    if place is None:
        return decision_after(model, prompt, "", right, wrong, "start")
    text = model.tokenizer.text(written)
    return decision_after(model, prompt, text[:place], right, wrong, "own", written)


def decision_after(
    model: Model, prompt: Prompt, prefix: str, right: str, wrong: str, kind: Kind, written: Ids | None = None
) -> Decision:
    """The decision behind a prefix: prefix + right and prefix + wrong are encoded as whole texts.

    CaseError when the two answers cannot be told apart by any id.
    """
    first, second = (model.join(prompt, prefix + answer)[0] for answer in (right, wrong))
    common = shared(first, second)
    if common in (len(first), len(second)):
        raise CaseError(
            f"{right!r} and {wrong!r} differ in no id: one continues the other",
            "write both answers so that neither begins with the other",
        )
    own = (*prompt.ids, *written) if written is not None else first
    return Decision(
        kind=kind,
        prefix=prefix,
        ids=first[:common],
        right=first[common:],
        wrong=second[common:],
        answer_row=min(len(prompt.ids), common) - 1,
        re_encoded=shared(first[:common], own) < common,
        answers=(right, wrong),
    )


def moved_to(model: Model, prompt: Prompt, known: Decision) -> Decision:
    """A decision behind another prompt: between the same two answers, after the same prefix."""
    return decision_after(model, prompt, known.prefix, *known.answers, "forced")


def mention(text: str, answer: str) -> int | None:
    """Where an answer first stands in a text; None where it does not."""
    return next((start for start, _ in mentions(text, answer)), None)


def mentions(text: str, answer: str) -> Iterator[tuple[int, int]]:
    """Characters start … end of an answer in a text, never inside a longer word or number."""
    before = r"(?<![0-9A-Za-z])" if re.match(r"[0-9A-Za-z]", answer) else ""
    after = r"(?![0-9A-Za-z])" if re.search(r"[0-9A-Za-z]$", answer) else ""
    return (found.span() for found in re.finditer(before + re.escape(answer) + after, text))


def shared(first: Ids, second: Ids) -> int:
    """Number of leading ids that two sequences share."""
    pairs = zip(first, second, strict=False)
    return next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(first), len(second)))
