"""What is diagnosed: the attention of one text, whoever computed it, and what is known beside it."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

import numpy as np
from jaxtyping import Bool, Float

from whybox.items.question import asking_part
from whybox.measure import thresholds as t
from whybox.measure.anchors import anchors
from whybox.measure.arrays import ROW_BOUND
from whybox.measure.brought import Brought
from whybox.measure.budget import Budget, QueryRow, budget_of
from whybox.measure.heads import Heads
from whybox.measure.looking import Looked
from whybox.statistics.rows import AttentionRows
from whybox.text.prompt import Part, Segment, SegmentKind

HeadAt = tuple[int, int]


class Need(StrEnum):
    """What a diagnosis rests on beside the weights."""

    ROWS = "rows"  # that sum to 1
    MODEL = "model"  # values and windows
    PROBE = "probe"  # which heads copy random ids
    TEXT = "text"  # queries and keys are one text
    CAUSAL = "causal"  # no query sees a later key
    DECISION = "decision"  # a query that decides
    PARTS = "parts"  # segments with names
    EVIDENCE = "evidence"  # which of them holds the answer, and whether the answer is wrong


@dataclass(frozen=True, eq=False)
class Subject:
    """decision: the row of `query`, layer by layer. evidence: names of segments that hold it. bound: by how much the
    sum of a row may miss 1. wrong: whether the answer is; None: not known. looked: the run, where a model made it.
    question: the segment that asks.
    """

    attention: tuple[AttentionRows, ...]
    heads: Heads
    segments: tuple[Segment, ...]
    anchors: frozenset[int]
    decision: tuple[QueryRow, ...]
    query: int
    known: frozenset[Need]
    bound: float
    evidence: tuple[str, ...] = ()
    wrong: bool | None = None
    looked: Looked | None = None
    question: str | None = None

    @cached_property
    def budget(self) -> Budget:
        """Shares of the segments in the row that decides."""
        return budget_of(self.decision, self.segments)

    @property
    def keys(self) -> int:
        """How many there are."""
        return self.segments[-1].end

    @property
    def parts(self) -> list[Segment]:
        """Content of the turns that the user wrote, in order."""
        return [s for s in self.segments if is_content(s) and s.role != "system"]

    @property
    def documents(self) -> list[Segment]:
        """All of it but the part that asks."""
        return [part for part in self.parts if part.name != self.question]

    @property
    def reading(self) -> Bool[np.ndarray, "n"]:
        """Heads that give the sink at most .3 of this row."""
        return np.concatenate(self.budget.drained) <= t.SINK

    def lift(self, names: Sequence[str]) -> Float[np.ndarray, "n"]:
        """Of several segments together, for every head: each by its length behind the first key."""
        lengths = [self.budget.behind_first(name) for name in names]
        lifts = [np.concatenate(self.budget.lift(name)) for name in names]
        return np.asarray(np.average(lifts, axis=0, weights=lengths) if any(lengths) else lifts[0])

    def at(self, number: int) -> HeadAt:
        """Layer and head of a row of the table."""
        row = self.heads.table
        return int(row["layer"][number] or 0), int(row["head"][number] or 0)

    def over(self, column: str) -> Float[np.ndarray, "n"]:
        """A column of the table; what is undefined counts as 0."""
        return np.array([value or 0.0 for value in self.heads.table[column]])

    def has(self, name: str) -> Bool[np.ndarray, "n"]:
        """Which heads have a class."""
        return np.array([name in classes for classes in self.heads.classes])

    def marked(self, name: str) -> Float[np.ndarray, "n"]:
        """Weight on marked pairs in the row that decides, for every head."""
        number = [mark for mark, _ in self.attention[0].wish.marks].index(name)
        return np.concatenate([rows.marked[:, self.query, number] for rows in self.attention])


def of_run(
    looked: Looked,
    heads: Heads,
    evidence: tuple[str, ...] = (),
    wrong: bool | None = None,
    question: str | None = None,
) -> Subject:
    """A prompt that a model ran. evidence, wrong, question: of a case; without one the texts tell which part asks."""
    tokens = [token.text for token in looked.prompt.tokens]
    known = set(Need) - {Need.EVIDENCE, Need.PROBE}
    known |= {Need.EVIDENCE} if evidence and wrong is not None else set()
    known |= {Need.PROBE} if any(value is not None for value in heads.table["induction"]) else set()
    return Subject(
        attention=looked.attention,
        heads=heads,
        segments=looked.prompt.segments,
        anchors=anchors(looked.prompt),
        decision=looked.decision,
        query=len(looked.prompt) - 1,
        known=frozenset(known),
        bound=t.ROW_SUM.get(looked.model.engine.precision, t.ROW_SUM_ROUNDED),
        evidence=evidence,
        wrong=wrong,
        looked=looked,
        question=question or _asking(looked.prompt.segments, tokens, "", evidence),
    )


def of_arrays(brought: Brought, wrong: bool | None = None) -> Subject:
    """Weights without the model that computed them. wrong: whether its answer was, where that is known."""
    known = set() if brought.direction == "cross" else {Need.TEXT}
    known |= {Need.CAUSAL} if brought.causal else set()
    known |= {Need.DECISION} if brought.query is not None else set()
    known |= {Need.PARTS} if brought.named else set()
    known |= {Need.EVIDENCE} if brought.evidence and wrong is not None else set()
    return Subject(
        attention=brought.attention,
        heads=brought.looked(),
        segments=brought.segments,
        anchors=brought.anchors,
        decision=brought.decision,
        query=len(brought.tokens) - 1 if brought.query is None else brought.query,
        known=frozenset(known),
        bound=ROW_BOUND,
        evidence=brought.evidence,
        wrong=wrong,
        question=_asking(brought.segments, brought.keys, " ", brought.evidence),
    )


def _asking(segments: Sequence[Segment], tokens: Sequence[str], gap: str, evidence: Sequence[str]) -> str | None:
    """Of what users wrote. gap: what stands between two labels of tokens."""
    written = [one for one in segments if is_content(one) and one.role not in ("system", "assistant")]
    return asking_part([Part(one.name, gap.join(tokens[one.start : one.end])) for one in written], evidence)


def is_content(segment: Segment) -> bool:
    """Whether a segment holds words that somebody wrote into the prompt."""
    return segment.kind is SegmentKind.PART and segment.end > segment.start
