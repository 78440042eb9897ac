"""Which tokens of two prompts are alike, in order."""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Bool, Int

MOST_CELLS = 4_000_000  # of the table: 2,000 tokens against 2,000


def apart(
    one: Int[np.ndarray, "m"], other: Int[np.ndarray, "n"]
) -> tuple[Bool[np.ndarray, "m"], Bool[np.ndarray, "n"], bool]:
    """For each token of either side, whether it is left out of their longest common subsequence; and whether that was
    searched for. What both begin and end with is taken off first; where more than `MOST_CELLS` pairs are left, all of
    the middle is apart.
    """
    begun = _shared(one, other)
    ended = _shared(one[begun:][::-1], other[begun:][::-1])
    middle = slice(begun, len(one) - ended), slice(begun, len(other) - ended)
    flags = np.zeros(len(one), bool), np.zeros(len(other), bool)
    for flag, part in zip(flags, middle, strict=True):
        flag[part] = True
    inner, outer = one[middle[0]], other[middle[1]]
    searched = len(inner) * len(outer) <= MOST_CELLS
    if searched:
        for i, j in _common(inner, outer):
            flags[0][begun + i] = flags[1][begun + j] = False
    return *flags, searched


def _shared(one: Int[np.ndarray, "m"], other: Int[np.ndarray, "n"]) -> int:
    """How many tokens both begin with."""
    length = min(len(one), len(other))
    differing = np.flatnonzero(one[:length] != other[:length])
    return int(differing[0]) if len(differing) else length


def _common(one: Int[np.ndarray, "m"], other: Int[np.ndarray, "n"]) -> Sequence[tuple[int, int]]:
    """Places of a longest common subsequence, from the last one back.

    longest[i, j], of one[:i] and other[:j], = max(longest[i−1, j], longest[i−1, j−1] + [one[i−1] = other[j−1]],
    longest[i, j−1]); the last of these is a running maximum along the row.
    """
    longest = np.zeros((len(one) + 1, len(other) + 1), np.int16)
    for i, token in enumerate(one):
        longest[i + 1, 1:] = np.maximum.accumulate(np.maximum(longest[i, 1:], longest[i, :-1] + (other == token)))
    found, (i, j) = [], (len(one), len(other))
    while i and j:
        if longest[i, j] == longest[i - 1, j]:
            i -= 1
        elif longest[i, j] == longest[i, j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            found.append((i, j))
    return found
