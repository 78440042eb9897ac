"""Slots that share storage behave as the cache that copies everything."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from whybox.engine.fast.slots import Slots, empty
from whybox.errors import UsageError
from whybox.parts import cache as caches
from whybox.parts.cache import LayerCache

CPU = torch.device("cpu")


def named(positions: list[int], author: float = 0.25) -> tuple[torch.Tensor, torch.Tensor, np.ndarray]:
    """Keys [3 n 5] and narrower values [3 n 2] that tell their group, position and author."""
    places = np.array(positions, np.int64)
    groups = torch.arange(3.0)[:, None, None] * 1000
    key = (groups + torch.from_numpy(places).float()[None, :, None] + author).expand(3, -1, 5)
    return key, key[..., :2] * 2, places


def nothing(capacity: int = 16) -> Slots:
    return empty(3, 5, torch.float32, CPU, capacity, value_width=2)


def fed(count: int, capacity: int = 16) -> Slots:
    return nothing(capacity).append(*named(list(range(count))))


def authors(slots: Slots) -> list[float]:
    return [round(float(x) % 1, 2) for x in slots.key[0, :, 0]]


def test_append_writes_in_place_until_the_room_is_used() -> None:
    first = fed(2, capacity=4)
    second = first.append(*named([2, 3]))
    third = second.append(*named([4]))
    assert second.key.data_ptr() == first.key.data_ptr() != third.key.data_ptr()
    assert (len(first), len(second), len(third)) == (2, 4, 5)
    assert third.positions.tolist() == [0, 1, 2, 3, 4]
    assert third.key.shape == (3, 5, 5)
    assert third.value.shape == (3, 5, 2)
    assert third.key[:, :, 0].tolist() == [[1000 * g + p + 0.25 for p in range(5)] for g in range(3)]
    assert (third.value == third.key[..., :2] * 2).all()


def test_room_doubles() -> None:
    slots, places = nothing(1), set()
    for position in range(1000):
        slots = slots.append(*named([position]))
        places.add(slots.storage.key.data_ptr())
    assert slots.positions.tolist() == list(range(1000))
    assert len(places) <= 8  # 16 32 64 … 1024, and a place may be used again


def test_a_dialogue_forked_twice_continues_three_times() -> None:
    """Only the first to write keeps the storage; no side sees another's words."""
    prefix = fed(20, capacity=64)
    before = prefix.key.clone()
    forks = [prefix.append(*named([20, 21], author)) for author in (0.5, 0.625, 0.75)]
    longer = [fork.append(*named([22], author)) for fork, author in zip(forks, (0.5, 0.625, 0.75), strict=True)]
    assert [fork.key.data_ptr() == prefix.key.data_ptr() for fork in forks] == [True, False, False]
    assert (prefix.key == before).all()
    assert len(prefix) == 20
    for fork, author in zip(longer, (0.5, 0.62, 0.75), strict=True):
        assert authors(fork) == [0.25] * 20 + [author] * 3
        assert fork.positions.tolist() == list(range(23))


def test_words_taken_back_stay_for_those_who_hold_them() -> None:
    whole = fed(8, capacity=64)
    other = whole.crop(5).append(*named([5, 6, 7], 0.5))
    assert authors(whole) == [0.25] * 8
    assert authors(other) == [0.25] * 5 + [0.5] * 3


def test_only_one_of_many_threads_writes_in_place() -> None:
    prefix = fed(3, capacity=4096)
    with ThreadPoolExecutor(8) as pool:
        forks = list(pool.map(lambda i: prefix.append(*named([3], (i + 1) / 128)), range(64)))
    assert sum(fork.storage is prefix.storage for fork in forks) == 1
    assert [float(fork.key[0, 3, 0]) for fork in forks] == [3 + (i + 1) / 128 for i in range(64)]


def test_a_window_rolls_within_the_storage() -> None:
    slots = fed(6, capacity=64).roll(8)
    place = slots.storage
    for position in range(6, 30):
        slots = slots.append(*named([position])).roll(8)
    assert slots.positions.tolist() == list(range(22, 30))
    assert slots.storage is place
    assert slots.rolled == 22


def test_a_rolling_window_keeps_little_room() -> None:
    slots = nothing()
    for position in range(500):
        slots = slots.append(*named([position])).roll(8)
    assert slots.storage.key.shape[1] <= 32
    assert slots.positions.tolist() == list(range(492, 500))


def test_positions_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="read-only"):
        fed(3).positions[0] = 7


def test_precision_stays_and_numpy_gets_the_exact_values() -> None:
    slots = empty(1, 4, torch.bfloat16, CPU)
    key = torch.randn(1, 3, 4, generator=torch.Generator().manual_seed(0)).bfloat16()
    slots = slots.append(key, -key, np.arange(3))
    assert slots.key.dtype is torch.bfloat16
    cache = slots.to_numpy()
    assert cache.key.dtype == np.float32
    assert (cache.key == key.float().numpy().transpose(1, 0, 2)).all()
    assert (cache.value == -cache.key).all()
    with pytest.raises(ValueError, match="read-only"):
        cache.key[0] = 0


def test_what_a_plain_run_keeps_can_enter_a_gradient() -> None:
    with torch.inference_mode():
        slots = fed(3)
    x = torch.ones(5, requires_grad=True)
    (slots.key @ x).sum().backward()  # torch refuses this for tensors made in inference mode
    assert x.grad is not None
    assert torch.allclose(x.grad, slots.key.sum((0, 1)))


@pytest.mark.parametrize("wrong", [[2], [0], [4, 4], [5, 3]])
def test_a_position_already_seen_is_refused(wrong: list[int]) -> None:
    slots = fed(3).evict(np.array([1]))
    with pytest.raises(UsageError, match="rising positions from 3"):
        slots.append(*named(wrong))


def test_refusals_are_those_of_the_cache() -> None:
    with pytest.raises(UsageError, match="no slot holds position 1; held: 0, 2"):
        fed(3).evict(np.array([1])).evict(np.array([1]))
    with pytest.raises(UsageError, match=r"0 … 3 \(tokens seen\), found 4"):
        fed(3).crop(4)
    with pytest.raises(UsageError, match="from 2 on, but those below 4"):
        fed(12).roll(8).crop(9, 8)


Step = tuple[str, int, int]
STEPS = st.lists(
    st.tuples(st.sampled_from(["append", "append", "roll", "crop", "evict"]), st.integers(0, 30), st.integers(1, 5)),
    max_size=30,
)


@given(STEPS, st.integers(1, 8))
def test_any_history_of_forks_equals_the_cache_that_copies(steps: list[Step], capacity: int) -> None:
    """Each step is taken from any value made so far; at the end every value still is what it was."""
    pairs: list[tuple[Slots, LayerCache]] = [(nothing(capacity), caches.empty(3, 5, np.float32, value_width=2))]
    for number, (kind, of, size) in enumerate(steps):
        slots, cache = pairs[of % len(pairs)]
        made = step(slots, kind, size, number), step(cache, kind, size, number)
        assert (made[0] is None) == (made[1] is None)
        if made[0] is not None:
            pairs.append(made)
    for slots, cache in pairs:
        ours = slots.to_numpy()
        assert (ours.key == cache.key).all()
        assert (ours.value == cache.value).all()
        assert ours.positions.tolist() == cache.positions.tolist()
        assert (ours.seen, ours.rolled) == (cache.seen, cache.rolled)


def step(of: Slots | LayerCache, kind: str, size: int, number: int) -> Slots | LayerCache | None:
    """The next value, or None where it is refused."""
    key, value, positions = named([of.seen + 2 * i for i in range(size)], number / 64)
    try:
        match kind:
            case "append" if isinstance(of, Slots):
                return of.append(key, value, positions)
            case "append":
                return of.append(key.transpose(0, 1).numpy(), value.transpose(0, 1).numpy(), positions)
            case "roll":
                return of.roll(size)
            case "crop":
                return of.crop(max(of.seen - size, 0), None if size % 2 else size)
            case _:
                return of.evict(of.positions[::size][:3])
    except UsageError:
        return None
