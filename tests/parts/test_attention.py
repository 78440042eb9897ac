"""Attention against the documents' worked example, torch, brute force, and the laws that it must obey."""

import itertools

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st

from whybox.errors import UsageError
from whybox.parts import attention, mask
from whybox.parts.softmax import softmax
from whybox.spec import Attention

QUERY = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])
KEY = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 2.0]])
VALUE = np.array([[0.2, 0.1], [0.5, 0.3], [0.9, 0.8]])
THREE = np.arange(3)


def draw(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def loop_attention(query: np.ndarray, key: np.ndarray, value: np.ndarray, seen: np.ndarray, scale: float) -> np.ndarray:
    """Number by number, with kv head h // r."""
    rows, heads, _ = query.shape
    out = np.zeros((rows, heads, value.shape[-1]))
    for h, i in itertools.product(range(heads), range(rows)):
        kv = h // (heads // key.shape[1])
        logits = {j: scale * float(query[i, h] @ key[j, kv]) for j in range(len(key)) if seen[i, j]}
        total = sum(np.exp(s) for s in logits.values())
        for j, s in logits.items():
            out[i, h] += np.exp(s) / total * value[j, kv]
    return out


class TestWorkedExample:
    """Three tokens, width 2; the printed third row (.04 .26 .70) is the softmax of unscaled scores."""

    def test_raw_and_scaled_scores(self) -> None:
        raw = attention.scores(QUERY[:, None], KEY[:, None], 1.0)[0]
        assert raw.tolist() == [[1, 1, 0], [1, 2, 2], [1, 3, 4]]
        scaled = attention.scores(QUERY[:, None], KEY[:, None], 2**-0.5)[0]
        np.testing.assert_allclose(
            [scaled[0, 0], scaled[1, 1], scaled[2, 1], scaled[2, 2]], [0.7071, 1.4142, 2.1213, 2.8284], atol=5e-5
        )

    def test_pattern_and_output(self) -> None:
        out, pattern = attention.one_head(QUERY, KEY, VALUE, mask.visible(THREE, THREE))
        np.testing.assert_allclose(
            pattern, [[1, 0, 0], [0.3302, 0.6698, 0], [0.0743, 0.3057, 0.6200]], rtol=0, atol=5e-5
        )
        np.testing.assert_allclose(out, [[0.2, 0.1], [0.4009, 0.2340], [0.7257, 0.5951]], rtol=0, atol=5e-5)

    def test_step_by_step_equals_one_line(self) -> None:
        spec = Attention(heads=1, kv_heads=1, head_width=2, scale=2**-0.5)
        steps = attention.attention(QUERY[:, None], KEY[:, None], VALUE[:, None], THREE, THREE, spec)
        out, pattern = attention.one_head(QUERY, KEY, VALUE, mask.visible(THREE, THREE))
        np.testing.assert_allclose(steps.pattern[0], pattern, rtol=0, atol=1e-15)
        np.testing.assert_allclose(steps.head_out[:, 0], out, rtol=0, atol=1e-15)

    def test_the_printed_row_is_the_unscaled_one(self) -> None:
        np.testing.assert_allclose(softmax(np.array([1.0, 3.0, 4.0])), [0.0351, 0.2595, 0.7054], rtol=0, atol=5e-5)

    def test_unmasked_first_row(self) -> None:
        _, pattern = attention.one_head(QUERY, KEY, VALUE)
        np.testing.assert_allclose(pattern[0], [0.4011, 0.4011, 0.1978], rtol=0, atol=5e-5)


def printed(X: np.ndarray, W_q: np.ndarray, W_k: np.ndarray, W_v: np.ndarray, hidden: float) -> np.ndarray:
    """The documents' function, with their number for "hidden"."""
    Q, K, V = X @ W_q, X @ W_k, X @ W_v
    s = np.where(np.triu(np.ones((len(X), len(X)), bool), k=1), hidden, Q @ K.T / np.sqrt(K.shape[-1]))
    e = np.exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True) @ V


@pytest.mark.parametrize("hidden", [-np.inf, -1e9])
def test_equals_the_printed_function(hidden: float) -> None:
    x, w_q, w_k, w_v = draw(0, 5, 7), draw(1, 7, 3), draw(2, 7, 3), draw(3, 7, 11)
    out, _ = attention.one_head(x @ w_q, x @ w_k, x @ w_v, mask.visible(np.arange(5), np.arange(5)))
    assert out.shape == (5, 11)
    np.testing.assert_allclose(out, printed(x, w_q, w_k, w_v, hidden), rtol=0, atol=1e-12)


def test_the_printed_numbers_for_hidden_fail_where_nothing_is_seen() -> None:
    """−1e9 makes four hidden keys weigh ¼ each, −∞ makes them NaN; here the row is 0."""
    finite, infinite = (torch.softmax(torch.full((4,), x, dtype=torch.float64), 0).numpy() for x in (-1e9, -np.inf))
    assert finite.tolist() == [0.25] * 4
    assert np.isnan(infinite).all()
    out, pattern = attention.one_head(draw(0, 1, 3), draw(1, 4, 3), draw(2, 4, 5), np.zeros((1, 4), bool))
    assert not pattern.any()
    assert not out.any()


@pytest.mark.parametrize(("heads", "kv_heads"), [(7, 7), (6, 2), (5, 1), (9, 3)])
def test_every_grouping_equals_the_loop_and_torch(heads: int, kv_heads: int) -> None:
    query, key, value = draw(1, 5, heads, 3), draw(2, 11, kv_heads, 3), draw(3, 11, kv_heads, 13)
    seen = mask.visible(np.arange(6, 11), np.arange(11))
    pattern = softmax(attention.scores(query, key, 0.37), seen)
    out = attention.mix(pattern, value)
    np.testing.assert_allclose(out, loop_attention(query, key, value, seen, 0.37), rtol=0, atol=1e-12)
    q, k, v = (torch.from_numpy(x).transpose(0, 1)[None] for x in (query, key, value))
    oracle = F.scaled_dot_product_attention(q, k, v, attn_mask=torch.from_numpy(seen), scale=0.37, enable_gqa=True)
    np.testing.assert_allclose(out, oracle[0].transpose(0, 1).numpy(), rtol=0, atol=1e-12)


def test_head_h_reads_kv_head_h_over_r() -> None:
    """9 query heads on 3 kv heads: 0 0 0 1 1 1 2 2 2, never 0 1 2 0 1 2 …"""
    query, key = np.ones((2, 9, 1)), np.ones((1, 3, 1))
    value = np.arange(3.0).reshape(1, 3, 1)
    out = attention.mix(softmax(attention.scores(query, key, 1.0)), value)
    assert out[0, :, 0].tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_fewer_queries_than_keys_see_by_position() -> None:
    """One query at position 4, equal scores: all five keys are seen, so the mean is 2 (not value 0)."""
    value = np.arange(5.0).reshape(5, 1, 1)
    spec = Attention(heads=1, kv_heads=1, head_width=1, scale=1.0)
    query, key = np.ones((1, 1, 1)), np.zeros((5, 1, 1))
    got = attention.attention(query, key, value, np.array([4]), np.arange(5), spec)
    assert got.head_out[0, 0, 0] == pytest.approx(2.0, abs=1e-12)


def test_soft_cap_values() -> None:
    capped = attention.soft_cap(np.array([10.0, 100.0, 200.0]), 50.0)
    assert np.round(capped, 2).tolist() == [9.87, 48.20, 49.97]
    assert round(float(capped[0]), 3) == 9.869


def test_heads_that_do_not_divide_are_refused() -> None:
    with pytest.raises(UsageError, match="5 query heads and 3 kv heads"):
        attention.scores(draw(1, 2, 5, 3), draw(2, 2, 3, 3), 1.0)


@given(st.integers(0, 2**32 - 1))
def test_dtype_in_is_dtype_out(seed: int) -> None:
    query, key = (draw(seed, 3, 2, 5).astype(np.float32) for _ in range(2))
    s = attention.scores(query, key, np.float64(0.3))
    assert s.dtype == attention.soft_cap(s, 5.0).dtype == attention.mix(softmax(s), key).dtype == np.float32
