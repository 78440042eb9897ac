"""What is chosen on one half of the items is scored on the other: the winner of the same items is favoured by luck."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np
from jaxtyping import Integer

from whybox.statistics.calls import rate
from whybox.statistics.intervals import Rate


def halves(item_ids: Sequence[str]) -> tuple[list[int], list[int]]:
    """Two fixed halves of the items by the hash of their ids: what is chosen on one is scored on the other.

    The halves differ by one item at most, and adding an item moves few others.
    """
    ranked = sorted(range(len(item_ids)), key=lambda i: blake2b(item_ids[i].encode(), digest_size=8).digest())
    return sorted(ranked[::2]), sorted(ranked[1::2])


def best_held_out(marks: Integer[np.ndarray, "item arm"], item_ids: Sequence[str]) -> tuple[int, Rate]:
    """The arm that is best on one half of the items, with its rate on the other half."""
    chosen_on, scored_on = halves(item_ids)
    shares = [rate(column).share or 0.0 for column in marks[chosen_on].T]
    best = int(np.argmax(shares))
    return best, rate(marks[scored_on, best])
