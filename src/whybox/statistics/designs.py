"""Designs in which position and neighbours are balanced, and the check that a table of calls has them."""

from collections import Counter
from collections.abc import Iterable
from itertools import permutations, product

import numpy as np
from jaxtyping import Integer

ALL_ORDERS = 3  # up to here every order is run


def williams(k: int) -> Integer[np.ndarray, "order k"]:
    """Which unit stands at each place: every unit equally often at every place and behind every other.

    Row 0 is 0, 1, k − 1, 2, k − 2, …; row s adds s modulo k; with odd k every row is there reversed as well.
    Williams, Australian Journal of Scientific Research A 2 (1949) 149–168.
    """
    zigzag = np.array([(place + 1) // 2 if place % 2 else (k - place // 2) % k for place in range(k)])
    rows = (zigzag + np.arange(k)[:, None]) % k
    return rows if k % 2 == 0 else np.concatenate([rows, rows[:, ::-1]])


def orders(k: int) -> Integer[np.ndarray, "order k"]:
    """All k! orders up to three units, a Williams square beyond."""
    return np.array(list(permutations(range(k)))) if k <= ALL_ORDERS else williams(k)


def cyclic(k: int) -> Integer[np.ndarray, "order k"]:
    """Row s stands unit 0 at place s; the others keep their cyclic order."""
    return (np.arange(k) - np.arange(k)[:, None]) % k


def unbalanced(cells: Iterable[tuple[str, int, str]]) -> str | None:
    """What breaks the balance of (item, place, arm) over all calls, or None: every combination equally often.

    A design that is not balanced gives an error, never an estimate.
    """
    counted = Counter(cells)
    items, places, arms = (dict.fromkeys(names) for names in zip(*counted, strict=True)) if counted else ((), (), ())
    usual = max(counted.values(), default=0)
    for item, place, arm in product(items, places, arms):
        if (found := counted[(item, place, arm)]) != usual:
            return f"design not balanced: item {item}, place {place}, arm {arm}: {found} calls, elsewhere {usual}"
    return None
