"""The record of a layer's attention: against the statistics of full patterns, by hand, and by brute force."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.statistics import attention as full
from whybox.statistics.head_table import summary
from whybox.statistics.rows import AttentionRows, AttentionWish, Segment, from_pattern, joined

CAUSAL3 = np.tril(np.ones((3, 3), bool))
BY_HAND = np.array([[[1, 0, 0], [0.25, 0.75, 0], [0.5, 0.2, 0.3]]])


def drawn(seed: int, rows: int, window: int | None = None, start: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A random pattern of 2 heads over visible keys; row 5, where there is one, sees nothing."""
    rng = np.random.default_rng(seed)
    places = np.arange(start + rows)
    visible = places[None, :] <= places[start:, None]
    if window is not None:
        visible &= places[None, :] > places[start:, None] - window
    visible[5:6] = False
    a = np.where(visible, rng.gamma(0.3, size=(2, *visible.shape)), 0)
    total = a.sum(axis=-1, keepdims=True)
    return np.divide(a, total, out=np.zeros_like(a), where=total > 0), visible


def test_three_tokens_by_hand() -> None:
    wish = AttentionWish(segments=(Segment("first", 0, 1), Segment("rest", 1, 3)), top=2, block=2)
    rows = from_pattern(BY_HAND, CAUSAL3, wish)
    assert rows.seen.tolist() == [1, 2, 3]
    assert rows.askers.tolist() == [3, 2, 1]
    assert rows.sink[0].tolist() == pytest.approx([1, 0.25, 0.5])
    assert rows.own[0].tolist() == pytest.approx([1, 0.75, 0.3])
    assert rows.previous[0].tolist() == pytest.approx([0, 0.25, 0.2])
    assert rows.shares[0].ravel().tolist() == pytest.approx([1, 0, 0.25, 0.75, 0.5, 0.5])
    assert rows.distance[0].tolist() == pytest.approx([0, 0.25, 1.2])
    assert rows.top_keys[0].tolist() == [[0, -1], [1, 0], [0, 2]]
    assert rows.top_weights[0].ravel().tolist() == pytest.approx([1, 0, 0.75, 0.25, 0.5, 0.3])
    assert rows.received[0].tolist() == pytest.approx([1.75, 0.95, 0.3])
    assert rows.column_mean[0].tolist() == pytest.approx([1.75 / 3, 0.475, 0.3])
    assert rows.map[0].ravel().tolist() == pytest.approx([1, 0, 0.7, 0.3])
    assert rows.entropy[0].tolist() == pytest.approx([0, 0.5623351, 1.0296530], abs=1e-7)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 41), window=st.sampled_from([None, 1, 7, 40, 41]))
def test_every_number_is_that_of_the_full_pattern(seed: int, rows: int, window: int | None) -> None:
    pattern, visible = drawn(seed, rows, window)
    found = from_pattern(pattern, visible, AttentionWish())
    expected = {
        "entropy": full.entropy(pattern, visible),
        "entropy_norm": full.normalised_entropy(pattern, visible),
        "effective_keys": full.effective_keys(pattern, visible),
        "own": full.self_share(pattern, visible),
        "distance": full.mean_distance(pattern, visible),
    }
    for name, values in expected.items():
        here = {"entropy": found.entropy, "own": found.own, "distance": found.distance}.get(name)
        here = here if here is not None else {"entropy_norm": found.entropy_norm}.get(name, found.effective_keys)
        kept = ~np.ma.getmaskarray(values)
        np.testing.assert_allclose(np.ma.getdata(here)[kept], values.data[kept], rtol=0, atol=1e-12, err_msg=name)
    for i, within in enumerate((4, 16, 64)):
        local = full.local_mass(pattern, visible, within)
        np.testing.assert_allclose(found.local[..., i][:, found.defined], local[:, found.defined], rtol=0, atol=1e-12)
    table, other = summary(found), full.summary(pattern, visible)
    assert set(table) >= set(other)
    for name in other:
        assert table[name] == pytest.approx(other[name], abs=1e-12), name


def test_what_is_undefined_is_none_in_the_summary() -> None:
    table = summary(from_pattern(np.ones((2, 1, 1)), np.ones((1, 1), bool), AttentionWish()))
    assert table["sink"] == [None, None]
    assert table["entropy"] == [None, None]


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), start=st.integers(0, 23), block=st.sampled_from([1, 5, 8, 64]))
def test_keys_and_map_by_brute_force(seed: int, start: int, block: int) -> None:
    pattern, visible = drawn(seed, 19, 17, start)
    rows = from_pattern(pattern, visible, AttentionWish(top=3, block=block), np.arange(start, start + 19))
    total = np.zeros_like(rows.map_total)
    hits, later = np.zeros(rows.stripes.shape), np.zeros(len(rows.key_pos))
    for q, k in np.ndindex(*visible.shape):
        total[:, (start + q) // block - start // block, k // block] += pattern[:, q, k]
        if start + q >= k + 8 and visible[q].any():
            later[k] += 1
            hits[:, k] += visible[q, k] & (pattern[:, q, k] >= max(0.1, 5 / visible[q].sum()))
    np.testing.assert_allclose(rows.map_total, total, rtol=0, atol=1e-12)
    assert rows.stripes.tolist() == hits.tolist()
    asked = later > 0
    np.testing.assert_allclose(rows.stripe_share[:, asked], (hits / np.maximum(later, 1))[:, asked], atol=1e-12)
    assert np.ma.getmaskarray(rows.stripe_share)[0].tolist() == (~asked).tolist()
    mass = rows.map.sum(axis=-1)
    assert mass.ravel().tolist() == pytest.approx(np.where(mass > 0, 1, 0).ravel().tolist())


def test_a_stripe_counts_from_eight_tokens_later_and_five_times_even() -> None:
    visible = np.tril(np.ones((120, 120), bool))
    pattern = np.where(visible, 1e-3, 0)[None]
    pattern[0, :, 3] = np.where(visible[:, 3], 0.1, 0)
    rows = from_pattern(pattern, visible, AttentionWish())
    assert rows.stripes[0, 3] == 120 - 49  # 5 / seen ≤ .1 from the 50th row on
    assert rows.stripes[0].sum() == rows.stripes[0, 3]
    assert rows.stripe_share[0, 3] == pytest.approx(71 / 109)


@settings(max_examples=30)
@given(seed=st.integers(0, 2**32 - 1), cuts=st.sets(st.integers(1, 28), max_size=3), block=st.sampled_from([3, 8]))
def test_chunks_joined_are_the_whole(seed: int, cuts: set[int], block: int) -> None:
    pattern, visible = drawn(seed, 29)
    wish = AttentionWish((Segment("a", 2, 11),), 4, block)
    edges = [0, *sorted(cuts), 29]
    parts = [
        from_pattern(pattern[:, a:b, :b], visible[a:b, :b], wish, np.arange(a, b)) for a, b in itertools.pairwise(edges)
    ]
    assert_equal_rows(joined(parts), from_pattern(pattern, visible, wish), 1e-12)


def test_a_part_may_have_forgotten_the_first_keys() -> None:
    pattern, visible = drawn(0, 29, 6)
    wish = AttentionWish(block=4)
    parts = [
        from_pattern(pattern[:, :20, :20], visible[:20, :20], wish),
        from_pattern(pattern[:, 20:, 15:], visible[20:, 15:], wish, np.arange(20, 29), np.arange(15, 29)),
    ]
    assert_equal_rows(joined(parts), from_pattern(pattern, visible, wish), 1e-12)


def test_a_map_has_at_most_128_blocks_a_side() -> None:
    assert [AttentionWish.of_length(n).block for n in (1, 8192, 8193, 32768)] == [64, 64, 128, 256]


def assert_equal_rows(found: AttentionRows, expected: AttentionRows, atol: float) -> None:
    for name in vars(expected):
        if name != "wish":
            here, there = vars(found)[name], vars(expected)[name]
            assert here.shape == there.shape, name
            np.testing.assert_allclose(here, there, rtol=0, atol=atol, err_msg=name)


def test_what_was_kept_cannot_be_changed() -> None:
    rows = from_pattern(BY_HAND, CAUSAL3, AttentionWish(block=2))
    with pytest.raises(ValueError, match="read-only"):
        rows.entropy[0, 0] = 1
    with pytest.raises(ValueError, match="read-only"):
        joined([rows]).top_keys[0, 0] = 1
