"""Prompt order: how many answers change when independent parts change places, beyond asking again.

The primary estimate is `whybox.statistics.changes.changes` over all orders. Here: what stands beside it.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float, Integer
from scipy import stats

from whybox.statistics.calls import LOST, Calls, complete
from whybox.statistics.intervals import Interval, mean_interval


def pair_agreement(codes: Integer[np.ndarray, "item order"]) -> float | None:
    """`pair_shares`, mean over items; None without a pair."""
    shares = pair_shares(codes)
    return float(shares.mean()) if shares.size else None


def pair_shares(codes: Integer[np.ndarray, "item order"]) -> Float[np.ndarray, "some"]:
    """Of every item the share of pairs of orders with the same code; items without a pair of answers are left out.

    With codes of content it is content-CR, with codes of place position-CR: over cyclic shifts a target that always
    takes the first place has 0 and 1, one that is always right 1 and 0.
    """
    orders = codes.shape[1]
    one, other = np.triu_indices(orders, 1)
    known = (codes[:, one] != LOST) & (codes[:, other] != LOST)
    same = codes[:, one] == codes[:, other]
    shares = [row[came].mean() for row, came in zip(same, known, strict=True) if came.any()]
    return np.array(shares, np.float64)


def slope(
    marks: Integer[np.ndarray, "item order"], against: Float[np.ndarray, "order"]
) -> tuple[float, Interval | None] | None:
    """Change of the share right per unit of what differs between the orders, within items, mean over complete items.

    against: Kendall's τ to the reference order, or 1 where a unit is first (last), 0 elsewhere. None where constant.
    """
    whole, centred = complete(marks), against - against.mean()
    if len(whole) == 0 or not centred.any():
        return None
    slopes = whole @ centred / (centred @ centred)
    return float(slopes.mean()), mean_interval(slopes.tolist())


def tau_to_first(orders: Integer[np.ndarray, "order k"]) -> Float[np.ndarray, "order"]:
    """Kendall's τ of every order to the first one, −1 … 1."""
    places = np.argsort(orders, axis=1)
    return np.array([stats.kendalltau(places[0], row).statistic for row in places], np.float64)


def place_counts(places: Integer[np.ndarray, "..."], k: int) -> list[int]:
    """How often each place was taken, lost calls left out: which place is favoured."""
    return np.bincount(places[places != LOST], minlength=k).tolist()


def most_distinct(codes: Calls, item_ids: Sequence[str], most: int = 100) -> list[tuple[str, int]]:
    """The items with the most different answers, with their number; items with one answer are not among them."""
    distinct = [len(set(item[item != LOST].tolist())) for item in codes]
    ranked = sorted(zip(item_ids, distinct, strict=True), key=lambda pair: -pair[1])
    return [(item, count) for item, count in ranked if count > 1][:most]
