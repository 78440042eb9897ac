"""Position and use of evidence: the right passage stands at every place in turn. marks [item place run].

Q = mean accuracy at both ends − mean accuracy inside; L = accuracy at the last − at the first place; both per item.
The shape is classified from their intervals, never assumed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from jaxtyping import Float, Integer
from scipy import stats

from whybox.statistics.calls import LOST, Calls, complete, first, present, worst
from whybox.statistics.effects import Effects, effect_interval
from whybox.statistics.equivalence import p_mean_same, p_same
from whybox.statistics.intervals import Interval, Rate
from whybox.statistics.multiplicity import holm
from whybox.statistics.paired import Pairs, paired_difference
from whybox.statistics.permutation import RESAMPLES, Permuted, contrast, within_items
from whybox.statistics.ratios import Ratio, ratio
from whybox.statistics.unknown import Unknown

ALPHA = 0.05
WIDE, NARROW = 0.10, 0.05
NARROW_FROM = 690  # items: from here on ±5 points can be shown when 20 % of pairs differ


class Shape(StrEnum):
    """Of accuracy over places."""

    FLAT = "flat"
    U = "U"
    INVERTED_U = "inverted-U"
    RECENCY = "recency"
    PRIMACY = "primacy"
    UNDECIDED = "undecided"


@dataclass(frozen=True)
class Contrast:
    """A contrast of places over items. effects: per item."""

    value: float
    interval: Interval
    null: Permuted | Unknown
    effects: Effects


@dataclass(frozen=True)
class Curve:
    """ends: Q. lean: L. margin: what flat is held to. items: those of which no call was lost."""

    ends: Contrast
    lean: Contrast
    shape: Shape
    margin: float
    items: int


def curve(marks: Calls, generator: np.random.Generator, resamples: int = RESAMPLES) -> Curve | Unknown:
    """Q, L and the shape, from first runs, or from the mean over runs where there are several (sampled targets)."""
    table = np.asarray(present(complete_items(marks)).mean(axis=2), np.float64)
    items, places = table.shape
    if places < 3:
        return Unknown("fewer than three places have no inside")
    if items == 0:
        return Unknown("no item of which every call came back")
    ends, lean = (_contrast(table, weights, generator, resamples) for weights in weights_of(places))
    margin = NARROW if items >= NARROW_FROM else WIDE
    return Curve(ends, lean, classified(ends, lean, margin), margin, items)


def complete_items(marks: Calls) -> Integer[np.ndarray, "some arm run"]:
    """The items of which no call was lost."""
    return marks[np.all(marks != LOST, axis=(1, 2))]


def weights_of(places: int) -> tuple[Float[np.ndarray, "place"], Float[np.ndarray, "place"]]:
    """Of every place in Q and in L."""
    ends = np.full(places, -1 / (places - 2))
    ends[[0, -1]] = 0.5
    lean = np.zeros(places)
    lean[0], lean[-1] = -1.0, 1.0
    return ends, lean


def classified(ends: Contrast, lean: Contrast, margin: float) -> Shape:
    """`flat` where both contrasts are shown to lie inside ±margin; else the one that is larger and not 0 decides.

    Q decides where |Q| > |L|/2. A shape has a name only where interval and test agree that it is not 0: with few items
    that differ, an interval may leave 0 out although dealing the places anew often gives as much.
    """
    if max(_p_flat(ends.effects, margin), _p_flat(lean.effects, margin)) <= ALPHA:
        return Shape.FLAT
    ends_p, lean_p = holm([_p_of(ends), _p_of(lean)])
    if abs(ends.value) > abs(lean.value) / 2:
        return _side(ends.interval, Shape.U, Shape.INVERTED_U) if ends_p <= ALPHA else Shape.UNDECIDED
    return _side(lean.interval, Shape.RECENCY, Shape.PRIMACY) if lean_p <= ALPHA else Shape.UNDECIDED


def _p_of(contrast: Contrast) -> float:
    """Of the permutation within items; 1 where no item differed."""
    return contrast.null.p if isinstance(contrast.null, Permuted) else 1.0


def _p_flat(effects: Effects, margin: float) -> float:
    as_pairs = _pairs(effects)
    return p_mean_same(effects, margin) if as_pairs is None else p_same(as_pairs, margin)


def _interval(effects: Effects) -> Interval | None:
    as_pairs = _pairs(effects)
    return effect_interval(effects) if as_pairs is None else paired_difference(as_pairs)


def _pairs(effects: Effects) -> Pairs | None:
    """Effects of single right-or-wrong calls are pairs, whose exact kind Tango's score serves best."""
    if not np.isin(effects, (-1.0, 0.0, 1.0)).all():
        return None
    return Pairs(int((effects > 0).sum()), int((effects < 0).sum()), effects.size)


def _side(interval: Interval, above: Shape, below: Shape) -> Shape:
    low, high = interval
    return above if low > 0 else below if high < 0 else Shape.UNDECIDED


def _contrast(
    table: Float[np.ndarray, "item place"],
    weights: Float[np.ndarray, "place"],
    generator: np.random.Generator,
    resamples: int,
) -> Contrast:
    effects = np.round(table @ weights, 12)
    interval = _interval(effects)
    assert interval is not None, "there is an item"
    null = within_items(table, contrast(weights), generator, "two-sided", resamples)
    return Contrast(float(effects.mean()), interval, null, effects)


def shortfalls(marks: Calls) -> list[Float[np.ndarray, "some"]]:
    """Per place: how far it lies below the item's own mean over places, item by item (complete items, first runs)."""
    table = complete(first(marks)).astype(np.float64)
    return list((table.mean(axis=1, keepdims=True) - table).T)


def shortfalls_worst(marks: Calls) -> list[Float[np.ndarray, "some"]]:
    """The same over all items, every lost call counted as not right."""
    return shortfalls(worst(marks))


def gain(
    at_place: Integer[np.ndarray, "item"],
    closed: Integer[np.ndarray, "item"],
    oracle: Integer[np.ndarray, "item"],
    generator: np.random.Generator,
) -> Ratio | Unknown:
    """g = (acc at the place − acc closed)/(acc with the passage alone − acc closed).

    Unknown where the denominator's interval holds 0: the target fails even with the passage alone.
    """
    kept = (at_place != LOST) & (closed != LOST) & (oracle != LOST)
    over = [(arm[kept] - closed[kept]).astype(np.float64) for arm in (at_place, oracle)]
    return ratio(over[0], over[1], generator)


def flips_by_length(codes: Integer[np.ndarray, "item length"]) -> list[Rate]:
    """For every longer context: items whose answer is another than in the shortest one, of those that have both."""
    came = (codes[:, :1] != LOST) & (codes[:, 1:] != LOST)
    changed = came & (codes[:, 1:] != codes[:, :1])
    return [Rate(int(hits), int(n)) for hits, n in zip(changed.sum(axis=0), came.sum(axis=0), strict=True)]


@dataclass(frozen=True)
class Citations:
    """recall: answers that cite the right passage. precision: right citations of all citations."""

    recall: Rate
    precision: Rate
    places_p: float | Unknown


def citations(cited: Sequence[Sequence[int]], gold: Sequence[int], places: int) -> Citations:
    """Per answer the places that it cites, and the place that it should.

    places_p: χ² that all places are cited alike; the gold passage must have stood at every place equally often.
    """
    hits = sum(place in ids for ids, place in zip(cited, gold, strict=True))
    unique = [place for ids in cited for place in dict.fromkeys(ids)]
    counts = np.bincount(np.array(unique, int), minlength=places)
    p = float(stats.chisquare(counts).pvalue) if counts.sum() >= 5 * places else Unknown("fewer than five a place")
    return Citations(Rate(hits, len(cited)), Rate(hits, len(unique)), p)
