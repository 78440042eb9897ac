"""Caches are values whose slots know their positions."""

import numpy as np
import pytest

from whybox.errors import UsageError
from whybox.parts.cache import LayerCache, empty


def fed(positions: list[int], window: int | None = None, start: LayerCache | None = None) -> LayerCache:
    """Keys and values that name their position, appended at once."""
    slots = np.array(positions)
    key = np.broadcast_to(slots[:, None, None] + 0.25, (len(slots), 3, 5)).copy()
    return (nothing() if start is None else start).append(key, key[..., :2] * 2, slots, window)


def nothing() -> LayerCache:
    """Values are narrower than keys, so that the two cannot be swapped."""
    return empty(3, 5, np.float64, value_width=2)


def test_shapes_grow_as_printed_and_old_values_stay() -> None:
    caches = [empty(1, 64, np.float32)]
    rng = np.random.default_rng(0)
    for step in range(5):
        key = rng.normal(size=(1, 1, 64)).astype(np.float32)
        caches.append(caches[-1].append(key, key, np.array([step])))
    assert [c.key.shape[0] for c in caches] == [0, 1, 2, 3, 4, 5]
    assert (caches[2].key == caches[5].key[:2]).all()
    assert caches[5].value.dtype == np.float32


def test_arrays_cannot_be_written() -> None:
    cache = fed([0, 1])
    with pytest.raises(ValueError, match="read-only"):
        cache.key[0] = 1


def test_two_questions_from_one_prefix() -> None:
    """The prefix still has 20 slots after both, and neither question sees the other."""
    prefix = fed(list(range(20)))
    first, second = (fed(list(range(20, 25)), start=prefix) for _ in range(2))
    assert (len(prefix), len(first), len(second)) == (20, 25, 25)
    assert (first.key == second.key).all()


def test_window_of_eight() -> None:
    cache = fed(list(range(6)), 8)
    held = []
    for position in range(6, 10):
        cache = fed([position], 8, cache)
        held.append(cache.positions.tolist())
    assert held == [list(range(7)), list(range(8)), list(range(1, 9)), list(range(2, 10))]
    assert cache.key[:, 0, 0].tolist() == [p + 0.25 for p in range(2, 10)]


def test_prefill_longer_than_the_window_equals_token_by_token() -> None:
    at_once, stepwise = fed(list(range(12)), 8), nothing()
    for position in range(12):
        stepwise = fed([position], 8, stepwise)
    assert at_once.positions.tolist() == stepwise.positions.tolist() == list(range(4, 12))
    assert (at_once.key == stepwise.key).all()
    assert at_once.seen == stepwise.seen == 12


def test_taking_back_after_the_window_has_rolled_is_refused() -> None:
    rolled = fed(list(range(12)), 8)
    with pytest.raises(UsageError, match="from 2 on, but those below 4"):
        rolled.crop(9, 8)
    for nothing_taken in (rolled.crop(12, 8), rolled.crop(12)):
        assert nothing_taken.positions.tolist() == list(range(4, 12))
    with pytest.raises(UsageError, match="from 0 on"):
        rolled.crop(11)


def test_taking_back_within_the_window_is_exact() -> None:
    assert fed(list(range(8)), 8).crop(5, 8).positions.tolist() == [0, 1, 2, 3, 4]
    unwindowed = fed(list(range(12))).crop(9)
    assert (unwindowed.positions.tolist(), unwindowed.seen) == (list(range(9)), 9)
    assert fed([9], start=unwindowed).positions.tolist() == list(range(10))


def test_eviction_moves_no_position() -> None:
    cache = fed([0, 1, 2]).evict(np.array([1]))
    assert (cache.positions.tolist(), len(cache), cache.seen) == ([0, 2], 2, 3)
    later = fed([4], start=fed([3], start=cache))
    assert later.positions.tolist() == [0, 2, 3, 4]
    with pytest.raises(UsageError, match="no slot holds position 1; held: 0, 2, 3, 4"):
        later.evict(np.array([1]))


@pytest.mark.parametrize("wrong", [[2], [0], [4, 4], [5, 3]])
def test_a_position_already_seen_is_refused(wrong: list[int]) -> None:
    """After an eviction the slot count (2) is no longer the next position (3)."""
    cache = fed([0, 1, 2]).evict(np.array([1]))
    with pytest.raises(UsageError, match="rising positions from 3"):
        fed(wrong, start=cache)


def test_crop_beyond_what_was_seen_is_refused() -> None:
    with pytest.raises(UsageError, match=r"0 … 3 \(tokens seen\), found 4"):
        fed([0, 1, 2]).crop(4)
