"""Activation patching between two prompts: values of a good run put into a bad one, and how much of the gap they close.

    recovery r = (m_patched − m_bad) / (m_good − m_bad)

1: the patch alone brings the read of the good run; 0: nothing. The two texts have equally many ids, or a map says which
row of the good run stands for which row of the bad one.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from whybox.cause.components import Component, Group, wishes
from whybox.cause.experiment import measure
from whybox.cause.ground import Ground
from whybox.cause.measured import Measured
from whybox.cause.null import DRAWS
from whybox.cause.references import Other
from whybox.cause.replacement import Resampled
from whybox.engine.edit import Index
from whybox.engine.trace import Trace
from whybox.errors import UsageError
from whybox.model import Promptable

LEAST_GAP = 3  # floors that the two reads must lie apart
Rows = Mapping[int, int]


@dataclass(frozen=True, eq=False)
class Pair:
    """bad: the ground that is patched. good: the run that values come from. rows: row of the bad text → of the good."""

    bad: Ground
    good: Trace
    rows: Rows

    @property
    def gap(self) -> float:
        """m_good − m_bad."""
        return float(self.bad.read(self.good)) - self.bad.value

    def patch(self, components: Iterable[Component], rows: Index | None = None) -> Resampled:
        """The replacement that patches these components. rows: positions of the bad text; None: all that are mapped."""
        wanted = wishes(tuple(components))
        tail = None if {"final", "logits"} & set(wanted) else 1
        run = self.bad.model.run(self.good.ids, see=wanted, tail=tail)
        mapped = tuple(sorted(self.rows)) if rows is None and len(self.rows) < self.bad.length else rows
        return Resampled(self.bad.trace, Other(run, self.rows), mapped)


@dataclass(frozen=True)
class Patched:
    """recovery: share of the gap that the patch closes; None, with the reason, where the gap is within the floor."""

    claim: Group
    effect: Measured
    recovery: float | None
    reason: str = ""


def pair(bad: Ground, good: Promptable, rows: Rows | None = None) -> Pair:
    """A ground and the prompt that goes right. UsageError where the ids are not equally many and no map is given."""
    prompt = bad.model.prompt(good)
    ids = prompt.ids
    if bad.decision is not None and bad.decision.prefix:
        ids = bad.model.join(prompt, bad.decision.prefix)[0]
    if rows is None and len(ids) != bad.length:
        raise UsageError(
            f"the two texts have {bad.length} and {len(ids)} ids, so rows have no natural counterpart",
            "give the map: rows={row of the bad text: row of the good one}",
        )
    _require_inside(rows or {}, bad.length, len(ids))
    trace = bad.model.run(ids, tail=len(bad.trace.rows))
    return Pair(bad, trace, dict(rows) if rows is not None else {row: row for row in range(bad.length)})


def _require_inside(rows: Rows, length: int, other: int) -> None:
    beyond = [(a, b) for a, b in rows.items() if not (0 <= a < length and 0 <= b < other)]
    if beyond:
        raise UsageError(f"rows: {beyond[0][0]} → {beyond[0][1]} lies outside texts of {length} and {other} ids")


def patch(
    both: Pair, claims: Sequence[Group], generator: np.random.Generator, rows: Index | None = None, draws: int = DRAWS
) -> list[Patched]:
    """Each claim patched, at all mapped positions or at some; its null by patching matched others."""
    replacement = both.patch((component for claim in claims for component in claim), rows)
    found = measure(both.bad, replacement, claims, generator, draws)
    return [_patched(both, claim, effect) for claim, effect in zip(claims, found, strict=True)]


def _patched(both: Pair, claim: Group, effect: Measured) -> Patched:
    gap, least = both.gap, LEAST_GAP * both.bad.floor
    if abs(gap) < least:
        return Patched(claim, effect, None, f"the two runs differ by {gap:.3g}, less than three times the floor")
    return Patched(claim, effect, effect.value / gap)
