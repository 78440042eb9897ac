"""Which tokens of two prompts are alike: against a textbook longest common subsequence."""

from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.jobs.explore import align
from whybox.jobs.explore.align import apart

TOKENS = st.lists(st.integers(0, 3), max_size=14)


def flags(one: list[int], other: list[int]) -> tuple[list[bool], list[bool], bool]:
    a, b, searched = apart(np.array(one, int), np.array(other, int))
    return a.tolist(), b.tolist(), searched


def common(one: tuple[int, ...], other: tuple[int, ...]) -> int:
    """Length of the longest common subsequence, straight from its definition."""

    @lru_cache
    def of(i: int, j: int) -> int:
        if not i or not j:
            return 0
        if one[i - 1] == other[j - 1]:
            return of(i - 1, j - 1) + 1
        return max(of(i - 1, j), of(i, j - 1))

    return of(len(one), len(other))


def test_one_word_changed_is_one_token_apart_on_either_side() -> None:
    assert flags([1, 2, 3, 4], [1, 9, 3, 4]) == ([False, True, False, False], [False, True, False, False], True)
    assert flags([1, 2, 3], [1, 2, 7, 3]) == ([False] * 3, [False, False, True, False], True)
    assert flags([], [5]) == ([], [True], True)


@given(TOKENS, TOKENS)
def test_what_is_left_is_a_longest_common_subsequence(one: list[int], other: list[int]) -> None:
    a, b, searched = flags(one, other)
    kept = [token for token, gone in zip(one, a, strict=True) if not gone]
    assert kept == [token for token, gone in zip(other, b, strict=True) if not gone]
    assert len(kept) == common(tuple(one), tuple(other))
    assert searched


def test_a_middle_that_is_too_long_is_apart_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(align, "MOST_CELLS", 5)
    a, b, searched = flags([1, 2, 3, 4], [1, 3, 2, 4])
    assert (sum(a), sum(b), searched) == (1, 1, True)
    assert flags([1, 2, 3, 5, 4], [1, 3, 2, 4]) == ([False, True, True, True, False], [False, True, True, False], False)
