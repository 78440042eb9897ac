"""How each finished call was scored: kept beside the calls, for reports and comparisons that have no plan."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass

from whybox.items.scoring.score import Score
from whybox.probes.design import Cell, Plan, Record, scored
from whybox.suite.store import Store
from whybox.targets.target import AnswerScore, Failure

NOTE = "scores"


@dataclass(frozen=True)
class ScoredCall:
    """One call. outcome: right, wrong, abstain, hedged, invalid or error; None where nothing was to be scored.

    candidate: what decided it, as it stands in the answer. right: the expected answer. flags: what else was seen.
    """

    target: str
    probe: str
    item: str
    arm: str
    run: int
    outcome: str | None
    candidate: str | None
    right: str
    flags: str = ""

    @property
    def undecided(self) -> bool:
        """As `Score.undecided`; a call that failed is as well."""
        return self.outcome == "error"

    @property
    def cell(self) -> Cell:
        """The place of its call in the run."""
        return self.target, self.probe, self.item, self.arm, self.run


def scores_of(plan: Plan, records: Iterable[Record]) -> Iterator[ScoredCall]:
    """The calls of a plan by the scorer of their item, or of what their arm asks of it."""
    items = {item.id: item for item in plan.items}
    for record in records:
        call = record.call
        item = plan.asked.get((call.item, call.arm), items.get(call.item))
        if isinstance(record.outcome, Failure):
            yield ScoredCall(*call.cell, "error", None, "" if item is None else item.instance.right)
        elif item is None or isinstance(record.outcome, AnswerScore):
            yield ScoredCall(*call.cell, None, None, "")
        else:
            found = scored(item, record.outcome)
            yield ScoredCall(*call.cell, found.outcome, found.candidate, item.instance.right, _flags(found))


def _flags(found: Score) -> str:
    return ", ".join(found.flags)


def written(scores: Sequence[ScoredCall]) -> str:
    """As a note of the run."""
    return json.dumps([astuple(each) for each in scores])


def kept(store: Store) -> dict[Cell, ScoredCall]:
    """The scores of a run; none where it was made before they were kept, or is not finished."""
    scores = (ScoredCall(*row) for row in json.loads(store.note(NOTE) or "[]"))
    return {each.cell: each for each in scores}
