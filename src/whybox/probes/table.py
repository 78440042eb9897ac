"""The outcomes of a probe as tables [item arm run], which is what its statistics read."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Integer

from whybox.items.instance import CaseInstance
from whybox.items.scoring import Score
from whybox.probes.design import AnyOutcome, Deciding, Plan, Record, answer_code, said, scored
from whybox.statistics.calls import LOST, Calls, mark
from whybox.statistics.intervals import Rate

At = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Table:
    """codes, marks: as `statistics.calls` has them; LOST where no call was made. scores, outcomes: of those made."""

    items: tuple[str, ...]
    arms: tuple[str, ...]
    codes: Calls
    marks: Calls
    scores: Mapping[At, Score]
    outcomes: Mapping[At, AnyOutcome]

    @classmethod
    def of(cls, plan: Plan, records: Sequence[Record]) -> "Table":
        """Items in the order of the plan, arms in the order of its calls; each call scored by what its arm asks."""
        made = {record.call.item for record in records}
        by_id = {item.id: item for item in plan.items if item.id in made}
        rows = {item: row for row, item in enumerate(by_id)}
        named = {record.call.arm for record in records}
        arms = tuple(arm for arm in dict.fromkeys(call.arm for call in plan.calls) if arm in named)
        columns = {arm: column for column, arm in enumerate(arms)}
        shape = len(rows), len(arms), 1 + max((record.call.run for record in records), default=0)
        codes, marks = np.full(shape, LOST), np.full(shape, LOST)
        scores: dict[At, Score] = {}
        outcomes: dict[At, AnyOutcome] = {}
        known: dict[str, int] = {}
        for record in records:
            call = record.call
            at = rows[call.item], columns[call.arm], call.run
            outcomes[at] = record.outcome
            scores[at] = score = scored(plan.asked.get((call.item, call.arm), by_id[call.item]), record.outcome)
            code = answer_code(score)
            codes[at] = LOST if code is None else known.setdefault(code, len(known))
            marks[at] = mark(score.outcome)
        return cls(tuple(rows), arms, codes, marks, scores, outcomes)

    @property
    def lost(self) -> Rate:
        """Calls that were made and gave no answer. A call that no arm asks for is not lost."""
        return Rate(sum(score.undecided for score in self.scores.values()), len(self.scores))

    def has(self, arm: str) -> bool:
        """Whether a call of this arm was made."""
        return arm in self.arms

    def columns(self, arms: Sequence[str]) -> list[int]:
        """Where these arms stand."""
        return [self.arms.index(arm) for arm in arms]

    def marks_of(self, *arms: str) -> Calls:
        """The marks of these arms alone."""
        return self.marks[:, self.columns(arms)]

    def codes_of(self, *arms: str) -> Calls:
        """The codes of these arms alone."""
        return self.codes[:, self.columns(arms)]

    def first(self, arm: str) -> Integer[np.ndarray, "item"]:
        """The marks of the first run of one arm."""
        return np.asarray(self.marks[:, self.arms.index(arm), 0])

    def score(self, row: int, arm: str) -> Score:
        """Of the first call of an item in an arm; an error where it was not made."""
        return self.scores.get((row, self.arms.index(arm), 0), Score("error"))

    def without(self, gone: Container[str]) -> "Table":
        """The other items."""
        kept = [row for row, item in enumerate(self.items) if item not in gone]
        rows = {row: new for new, row in enumerate(kept)}
        return Table(
            tuple(self.items[row] for row in kept),
            self.arms,
            self.codes[kept],
            self.marks[kept],
            {(rows[row], arm, run): score for (row, arm, run), score in self.scores.items() if row in rows},
            {(rows[row], arm, run): came for (row, arm, run), came in self.outcomes.items() if row in rows},
        )

    def text(self, row: int, arm: str) -> str:
        """What came back first for an item in an arm."""
        outcome = self.outcomes.get((row, self.arms.index(arm), 0))
        return "" if outcome is None else said(outcome)

    def deciding(
        self, row: int, arms: Sequence[str], case: CaseInstance, seen: tuple[tuple[str, str], ...] = ()
    ) -> Deciding:
        """An item with its answers in these arms. case: of the last of them; its wrong answer is what was given."""
        given = self.score(row, arms[-1])
        if given.outcome == "wrong" and given.candidate is not None:
            case = replace(case, wrong=given.candidate)
        return Deciding(self.items[row], tuple(arms), tuple(self.text(row, arm) for arm in arms), case, seen)
