"""After an inconclusive gate: about how many more items would settle it. Never "try again until it passes"."""

import math

import numpy as np

from whybox.statistics.effects import Effects
from whybox.statistics.intervals import Rate, exact_upper
from whybox.statistics.paired import Pairs
from whybox.statistics.power import ALPHA, closed_form, first_size, rate_power
from whybox.statistics.unknown import Unknown

ON_THE_LIMIT = 0.005  # half a point: nearer to the limit nothing settles it
UPPER = 0.2  # one-sided: the upper 80 % bound of the share of items that differ

Need = int | Unknown
_SITS = Unknown("cannot be settled: the value sits on the limit")


def more_for_rate(rate: Rate, limit: float, alpha: float = ALPHA) -> Need:
    """Items to add until the exact test tells the seen rate from the limit with 80 % power."""
    share = rate.share
    if share is None:
        return Unknown("nothing was counted")
    if abs(share - limit) <= ON_THE_LIMIT:
        return _SITS
    least, true = (limit, share) if share > limit else (1 - limit, 1 - share)
    return _beyond(first_size(lambda n: rate_power(n, least, true, alpha)), rate.n)


def more_for_pairs(pairs: Pairs, limit: float, alpha: float = ALPHA) -> Need:
    """Pairs to add until the seen harm is told from the limit, with the upper 80 % bound of pairs that differ."""
    if pairs.harm is None:
        return Unknown("no item was seen in both arms")
    differing = exact_upper(Rate(pairs.differing, pairs.n), UPPER)
    return _beyond(_size(pairs.harm, differing, limit, alpha), pairs.n)


def more_for_same(pairs: Pairs, margin: float, alpha: float = ALPHA) -> Need:
    """The same for "same within ±margin": told from the nearer end."""
    return more_for_pairs(pairs if pairs.worse >= pairs.better else pairs.turned, margin, alpha)


def more_for_mean(effects: Effects, limit: float, alpha: float = ALPHA) -> Need:
    """Items to add until the seen mean effect is told from the limit.

    Its square is taken as the upper 80 % bound of the share of items that differ, times the mean square of those.
    """
    if effects.size == 0:
        return Unknown("no items")
    differing = effects[effects != 0]
    square = float(np.square(differing).mean()) if differing.size else 1.0
    spread = exact_upper(Rate(differing.size, effects.size), UPPER) * square
    return _beyond(_size(float(effects.mean()), spread, limit, alpha), effects.size)


def _size(seen: float, square: float, limit: float, alpha: float) -> int | None:
    """The closed form about the limit: E(d − m)² in place of ψ, the distance to the limit in place of Δ.

    On the side that passes, at least as many items as show "never worse" below the limit.
    """
    distance = abs(seen - limit)
    if distance <= ON_THE_LIMIT:
        return None
    about = max(square - 2 * limit * seen + limit**2, distance**2)
    least = math.ceil(math.log(alpha) / math.log1p(-limit)) if seen < limit and 0 < limit < 1 else 1
    return max(closed_form(distance, about, alpha), least)


def _beyond(size: int | None, seen: int) -> Need:
    return _SITS if size is None else max(size - seen, 1)
