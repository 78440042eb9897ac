"""What a component's value is replaced by: zero, a mean over other runs, or the value of one other run.

Every experiment takes one of these as data; whatever is ablated, patched, or followed along a path is changed alike.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from whybox.cause.components import Group, Selection, selections
from whybox.cause.references import Other
from whybox.engine import ablation
from whybox.engine.edit import Edit, Index, selected, set_to, zero
from whybox.engine.trace import Trace
from whybox.sites import BY_NAME

Replacement = Callable[[Group], tuple[Edit, ...]]
"""Components that change together → the edits that replace their values."""


@dataclass(frozen=True)
class Zeroed:
    """:= 0. Off the distribution that the model knows. rows: at these positions alone."""

    rows: Index | None = None

    def __call__(self, group: Group) -> tuple[Edit, ...]:
        return tuple(zero(one.site, one.layer, **dict(one.at)) for one in places(group, self.rows))


@dataclass(frozen=True, eq=False)
class Averaged:
    """:= mean over other runs, at rows that play the same role. base: a run of the text that is changed."""

    base: Trace
    others: tuple[Other, ...]
    rows: Index | None = None

    def __call__(self, group: Group) -> tuple[Edit, ...]:
        return tuple(self._edit(one) for one in places(group, self.rows))

    def _edit(self, one: Selection) -> Edit:
        donors = [other.donor(rows_of(one, self.base)) for other in self.others]
        (edit,) = ablation.mean(self.base, donors, one.site, one.layer, **dict(one.at))
        return edit


@dataclass(frozen=True, eq=False)
class Resampled:
    """:= value in one other run; a patch, where that is the other prompt of a pair."""

    base: Trace
    other: Other
    rows: Index | None = None

    def __call__(self, group: Group) -> tuple[Edit, ...]:
        return tuple(self._edit(one) for one in places(group, self.rows))

    def _edit(self, one: Selection) -> Edit:
        if joins_positions(one.site):
            return _two_sided(one, self.base, self.other)
        donor = self.other.donor(rows_of(one, self.base))
        (edit,) = ablation.resample(self.base, donor, one.site, one.layer, **dict(one.at))
        return edit


def joins_positions(site: str) -> bool:
    """Whether a site has an axis of queries and one of keys: scores, pattern."""
    return {"q", "k"} <= set(BY_NAME[site].axes.split())


def rows_of(one: Selection, base: Trace) -> tuple[int, ...]:
    """The positions that a selection names, in rising order."""
    letter = "q" if "q" in BY_NAME[one.site].axes else "k"
    return _named(dict(one.at).get(letter), np.arange(len(base.ids)))


def _two_sided(one: Selection, base: Trace, other: Other) -> Edit:
    """Scores or weights of the other run, both positions mapped."""
    chosen, places = dict(one.at), np.arange(len(base.ids))
    value = other.trace[one.site] if one.layer is None else other.trace[one.site, one.layer]
    heads = selected(chosen.get("h"), np.arange(len(value)))
    queries, keys = (np.array(other.donor(_named(chosen.get(axis), places)).rows, np.int64) for axis in "qk")
    return set_to(one.site, value[np.ix_(heads, queries, keys)], one.layer, **chosen)


def _named(index: Index | None, places: np.ndarray) -> tuple[int, ...]:
    return tuple(map(int, selected(index, places)))


def places(group: Group, rows: Index | None) -> Iterator[Selection]:
    """Where the values of all components stand."""
    for component in group:
        yield from selections(component, rows)
