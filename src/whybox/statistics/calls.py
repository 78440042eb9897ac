"""What a probe feeds its statistics: one whole number a call, in a table [item arm run].

marks: 1 right, 0 not right (wrong, abstained, hedged, invalid), LOST where the call failed.
codes: equal numbers are equal answers; LOST where the call failed.

A lost call is neither right nor wrong. Every rate is computed twice: on the calls that came back (complete), and with
every lost one counted as not right (worst).
"""

import numpy as np
from jaxtyping import Bool, Float, Integer, Shaped
from numpy.ma import MaskedArray

from whybox.statistics.intervals import Rate
from whybox.statistics.paired import Pairs

LOST = -1
MOST_LOST = 0.05  # share of calls; beyond it a probe has no verdict

Calls = Integer[np.ndarray, "item arm run"]


def mark(outcome: str) -> int:
    """The mark of an outcome as scorers name it."""
    return {"right": 1, "error": LOST}.get(outcome, 0)


def worst(marks: Shaped[np.ndarray, "..."]) -> Integer[np.ndarray, "..."]:
    """Every lost call counts as not right."""
    return np.where(marks == LOST, 0, marks)


def lost(calls: Shaped[np.ndarray, "..."]) -> Rate:
    """How many calls were lost, of all."""
    return Rate(int((calls == LOST).sum()), int(calls.size))


def first(calls: Calls) -> Integer[np.ndarray, "item arm"]:
    """The first run of every item and arm, which is the one that gates read."""
    return calls[..., 0]


def rate(marks: Integer[np.ndarray, "..."]) -> Rate:
    """Right among the calls that came back."""
    return Rate(int((marks == 1).sum()), int((marks != LOST).sum()))


def rates(marks: Integer[np.ndarray, "item arm"]) -> list[Rate]:
    """One rate per arm."""
    return [rate(column) for column in marks.T]


def pairs(before: Integer[np.ndarray, "item"], after: Integer[np.ndarray, "item"]) -> Pairs:
    """Items that came back in both arms."""
    both = (before != LOST) & (after != LOST)
    worse, better = both & (before > after), both & (before < after)
    return Pairs(int(worse.sum()), int(better.sum()), int(both.sum()))


def complete(table: Integer[np.ndarray, "item arm"]) -> Integer[np.ndarray, "some arm"]:
    """The items of which no call was lost."""
    return table[np.all(table != LOST, axis=1)]


def present(marks: Shaped[np.ndarray, "..."]) -> MaskedArray:
    """Lost calls masked, so that a mean over what came back leaves them out and says where nothing is left."""
    return np.ma.masked_array(marks, marks == LOST, dtype=np.float64)


def item_means(marks: Integer[np.ndarray, "item run"]) -> Shaped[MaskedArray, "item"]:
    """Share of right runs of every item, for targets that sample; masked where every run was lost."""
    return np.ma.atleast_1d(present(marks).mean(axis=1))


def item_changes(before: Shaped[MaskedArray, "item"], after: Shaped[MaskedArray, "item"]) -> Float[np.ndarray, "some"]:
    """after − before for the items that have both, averaged over runs: the item effects of a sampled target."""
    return np.asarray(np.ma.compressed(after - before), np.float64)


def same(codes: Integer[np.ndarray, "item"], others: Integer[np.ndarray, "item"]) -> Bool[np.ndarray, "item"]:
    """Where both calls came back with the same answer."""
    return (codes == others) & (codes != LOST)
