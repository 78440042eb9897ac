"""Pages in any order equal one contiguous cache; the waste is less than a block."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.errors import CapacityError, UsageError
from whybox.parts.attention import attention
from whybox.parts.flash import flash_attention
from whybox.parts.paged import Pool, Table, gather, pool_like, release, store, tiles_of, waste
from whybox.spec import Attention

SPEC = Attention(heads=6, kv_heads=3, head_width=5, scale=0.4)


def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, np.ndarray]:
    return rng.normal(size=(n, 3, 5)), rng.normal(size=(n, 3, 2))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 7), st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_any_block_order_equals_contiguous(seed: int, block: int, chunks: list[int]) -> None:
    """Two sequences grow by turns in one shuffled pool."""
    rng = np.random.default_rng(seed)
    empty_key, empty_value = drawn(rng, 0)
    pool = pool_like(empty_key, empty_value, block, tuple(rng.permutation(70).tolist()))
    tables, written = [Table(), Table()], [[drawn(rng, 0)], [drawn(rng, 0)]]
    for n in chunks:
        for s in range(2):
            written[s].append(drawn(rng, n))
            pool, tables[s] = store(pool, tables[s], *written[s][-1])
    for table, parts in zip(tables, written, strict=True):
        key, value = (np.concatenate(part) for part in zip(*parts, strict=True))
        assert (gather(pool, table)[0] == key).all()
        assert (gather(pool, table)[1] == value).all()
        assert waste(pool, table) == -len(key) % block
        query, places = rng.normal(size=(1, 6, 5)), np.array([len(key) - 1])
        paged = flash_attention(query, places, tiles_of(pool, table), SPEC)
        plain = attention(query, key, value, places, np.arange(len(key)), SPEC).head_out
        np.testing.assert_allclose(paged, plain, rtol=0, atol=1e-12)


def filled(block: int, blocks: int, n: int) -> tuple[Pool, Table]:
    key, value = drawn(np.random.default_rng(0), n)
    return store(pool_like(key, value, block, tuple(range(blocks))), Table(), key, value)


def test_waste_is_at_most_block_minus_one() -> None:
    assert [waste(*filled(16, 4, n)) for n in (1, 15, 16, 17, 32)] == [15, 1, 0, 15, 0]


def test_old_values_stay() -> None:
    pool, table = filled(4, 5, 6)
    before = pool.key.copy(), pool.value.copy()
    longer, _ = store(pool, table, *drawn(np.random.default_rng(1), 7))
    assert len(longer.free) < len(pool.free)
    assert (pool.key == before[0]).all()
    assert (pool.value == before[1]).all()
    assert table == Table((0, 1), 6)


def test_released_blocks_are_given_again_and_hide_their_past() -> None:
    pool, table = filled(4, 2, 8)
    with pytest.raises(CapacityError, match="1 more blocks of 4 slots are needed, 0 are free"):
        store(pool, table, *drawn(np.random.default_rng(1), 1))
    again, fresh = store(release(pool, table), Table(), *drawn(np.random.default_rng(1), 3))
    assert fresh == Table((0,), 3)
    assert len(gather(again, fresh)[0]) == 3


def test_an_order_with_a_hole_is_refused() -> None:
    key, value = drawn(np.random.default_rng(0), 0)
    with pytest.raises(UsageError, match="order of 0"):
        pool_like(key, value, 4, (0, 2))
