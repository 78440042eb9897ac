"""The largest batch, and the longest context, whose weights and cache fit a memory; activations are not counted."""

from collections.abc import Callable
from dataclasses import replace

from whybox.size import cache
from whybox.size.figure import Figure
from whybox.size.load import Load
from whybox.size.outline import Outline

MOST_CONTEXT = 1 << 40
MOST_BATCH = 1 << 40


def held(of: Outline, load: Load, weights: int) -> int:
    """Bytes: weights, and the paged cache of the batch."""
    return weights + int(cache.paged(of, load).value)


def largest_batch(of: Outline, load: Load, weights: int, memory: int) -> Figure | None:
    """0 where not even one request fits; None where a further request needs no more memory: all is shared."""
    found = _largest(lambda batch: held(of, replace(load, batch=batch), weights) <= memory, MOST_BATCH)
    if found == MOST_BATCH:
        return None
    formula = "largest b with weights + paged cache(b, n) ≤ memory"
    return Figure("fit.batch", found, "requests", formula, _told(of, replace(load, batch=found), weights, memory))


def longest_context(of: Outline, load: Load, weights: int, memory: int) -> Figure | None:
    """0 where not one token fits; None where a longer context needs no more memory: every layer has a window."""
    found = _largest(lambda context: held(of, replace(load, context=context), weights) <= memory, MOST_CONTEXT)
    if found == MOST_CONTEXT:
        return None
    formula = "largest n with weights + paged cache(b, n) ≤ memory"
    return Figure("fit.context", found, "tokens", formula, _told(of, replace(load, context=found), weights, memory))


def _told(of: Outline, load: Load, weights: int, memory: int) -> str:
    """The comparison at the largest that fits, or at the least that does not."""
    least = replace(load, batch=max(load.batch, 1), context=max(load.context, 1))
    sign = "≤" if least == load else ">"
    return f"{weights:,} (weights) + {cache.paged(of, least).value:,} {sign} {memory:,}"


def _largest(fits: Callable[[int], bool], most: int) -> int:
    """The largest number from 0 to `most` for which a condition holds that, once false, stays false."""
    if not fits(1):
        return 0
    low, high = 1, 2
    while high < most and fits(high):
        low, high = high, 2 * high
    if high >= most and fits(most):
        return most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
