"""One predicate on positions, against the documents' matrices and a loop."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.errors import UsageError
from whybox.parts import mask

FIVE = np.arange(5)


def test_causal_is_the_lower_triangle() -> None:
    seen = mask.visible(FIVE, FIVE)
    assert (seen == np.tril(np.ones((5, 5), bool))).all()
    assert (seen == ~np.triu(np.ones((5, 5), bool), k=1)).all()
    assert seen.sum(axis=1).tolist() == [1, 2, 3, 4, 5]


def test_window_counts_the_token_itself() -> None:
    seen = mask.visible(FIVE, FIVE, window=3)
    assert np.flatnonzero(seen[4]).tolist() == [2, 3, 4]
    assert [np.flatnonzero(row)[0] for row in seen] == [max(0, i - 2) for i in FIVE]


def test_window_of_nothing_is_refused() -> None:
    with pytest.raises(UsageError, match="at least 1"):
        mask.visible(FIVE, FIVE, window=0)


def test_one_late_query_sees_every_earlier_key() -> None:
    assert mask.visible(np.array([4]), FIVE).all()


@given(st.integers(0, 2**32 - 1), st.none() | st.integers(1, 9))
def test_equals_the_loop(seed: int, window: int | None) -> None:
    rng = np.random.default_rng(seed)
    query, key = rng.integers(0, 11, 5), rng.integers(0, 11, 7)
    query_valid, key_valid = rng.random(5) < 0.7, rng.random(7) < 0.7
    seen = mask.visible(query, key, window, query_valid, key_valid)
    for i in range(5):
        for j in range(7):
            expected = key[j] <= query[i] and query_valid[i] and key_valid[j]
            if window is not None:
                expected = expected and query[i] - key[j] < window
            assert seen[i, j] == expected


def test_bidirectional_prefix_and_rows() -> None:
    valid = np.array([True, True, False])
    assert mask.bidirectional(valid, valid).astype(int).tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 0]]
    assert mask.prefix(FIVE, FIVE, 2).astype(int).tolist() == [
        [1, 1, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [1, 1, 1, 0, 0],
        [1, 1, 1, 1, 0],
        [1, 1, 1, 1, 1],
    ]
    rows, positions = np.array([0, 0, 1, 1, 1]), np.array([0, 1, 0, 1, 2])
    packed = mask.visible(positions, positions) & mask.same_row(rows, rows)
    assert packed.astype(int).tolist() == [
        [1, 0, 0, 0, 0],
        [1, 1, 0, 0, 0],
        [0, 0, 1, 0, 0],
        [0, 0, 1, 1, 0],
        [0, 0, 1, 1, 1],
    ]


def test_sparse_patterns_restrict_the_candidates() -> None:
    assert np.flatnonzero(mask.strided(FIVE, FIVE, 2)[4]).tolist() == [0, 2, 4]
    sparse = mask.visible(FIVE, FIVE, window=2) | mask.strided(FIVE, FIVE, 3)
    assert np.flatnonzero(sparse[4]).tolist() == [1, 3, 4]
    assert not (sparse & ~mask.visible(FIVE, FIVE)).any()
    with pytest.raises(UsageError, match="stride"):
        mask.strided(FIVE, FIVE, 0)
