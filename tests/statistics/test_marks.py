"""Which pairs are marked, by hand."""

import numpy as np

from whybox.statistics.marks import Behind, Duplicate, Induction, Keys, marked


def test_marks_by_hand() -> None:
    ids, places = np.array([4, 5, 4, 4]), np.arange(4)
    pairs = {
        Behind(1): [(1, 0), (2, 1), (3, 2)],
        Behind(-1): [(0, 1), (1, 2), (2, 3)],
        Duplicate(ids): [(2, 0), (3, 0), (3, 2)],
        Induction(ids): [(2, 1), (3, 1), (3, 3)],
        Keys(frozenset({2})): [(0, 2), (1, 2), (2, 2), (3, 2)],
    }
    for mark, expected in pairs.items():
        assert [tuple(pair) for pair in np.argwhere(marked(mark, places, places)).tolist()] == expected, mark
    filled = np.array([0, 1, 2, 3, 99])
    assert not marked(Duplicate(ids), places, filled, nowhere=99)[:, 4].any()
