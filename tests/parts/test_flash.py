"""Tiles of any size, in any order, equal the plain path with every setting; memory grows with n, not n²."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.errors import UsageError
from whybox.parts.attention import attention
from whybox.parts.flash import flash_attention, tiles
from whybox.parts.position import alibi_slopes
from whybox.spec import Attention

N = 23
PLAIN = Attention(heads=6, kv_heads=2, head_width=5, scale=0.7)
SETTINGS = {
    "plain": PLAIN,
    "window": Attention(heads=6, kv_heads=2, head_width=5, scale=0.7, window=7),
    "cap": Attention(heads=6, kv_heads=2, head_width=5, scale=3.0, cap=2.0),
    "alibi": Attention(heads=6, kv_heads=2, head_width=5, scale=0.7, alibi=tuple(alibi_slopes(6))),
}


def drawn(seed: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    shapes = (N, 6, 5), (N, 2, 5), (N, 2, 3), (6,)
    return tuple(rng.normal(size=shape).astype(dtype) for shape in shapes)  # type: ignore[return-value]


@pytest.mark.parametrize("name", SETTINGS)
@pytest.mark.parametrize("with_sinks", [False, True])
@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), size=st.integers(1, N + 1))
def test_equals_the_plain_path(name: str, with_sinks: bool, seed: int, size: int) -> None:
    query, key, value, sinks = drawn(seed)
    places, spec, sink = np.arange(N), SETTINGS[name], sinks if with_sinks else None
    plain = attention(query, key, value, places, places, spec, sink).head_out
    parts = list(tiles(key, value, places, size))
    np.random.default_rng(seed).shuffle(parts)
    np.testing.assert_allclose(flash_attention(query, places, parts, spec, sink), plain, rtol=0, atol=1e-12)


def test_every_setting_is_felt() -> None:
    """A path that dropped one of them would still pass against itself."""
    query, key, value, sinks = drawn(0)
    places = np.arange(N)

    def run(spec: Attention, sink: np.ndarray | None) -> np.ndarray:
        return flash_attention(query, places, tiles(key, value, places, 4), spec, sink)

    base = run(PLAIN, None)
    outs = [run(SETTINGS["window"], None), run(SETTINGS["alibi"], None), run(PLAIN, sinks)]
    assert all(np.abs(out - base).max() > 1e-2 for out in outs)
    capless = Attention(heads=6, kv_heads=2, head_width=5, scale=3.0)
    assert np.abs(run(SETTINGS["cap"], None) - run(capless, None)).max() > 1e-2


def test_a_query_that_sees_nothing_is_zero() -> None:
    query, key, value, _ = drawn(1)
    out = flash_attention(query, np.arange(N) - 1, tiles(key, value, np.arange(N), 4), PLAIN)
    assert not out[0].any()
    assert np.isfinite(out).all()


def test_float32_stays_and_agrees_to_rounding_only() -> None:
    query, key, value, sinks = drawn(2, np.float32)
    places = np.arange(N)
    plain = attention(query, key, value, places, places, PLAIN, sinks).head_out
    out = flash_attention(query, places, tiles(key, value, places, 4), PLAIN, sinks)
    assert out.dtype == np.float32
    np.testing.assert_allclose(out, plain, rtol=0, atol=1e-6)


def test_peak_memory_is_linear() -> None:
    def peak(n: int) -> int:
        rng = np.random.default_rng(0)
        query, key = (rng.normal(size=(n, 1, 16)).astype(np.float32) for _ in range(2))
        spec = Attention(heads=1, kv_heads=1, head_width=16, scale=0.25)
        tracemalloc.start()
        flash_attention(query, np.arange(n), tiles(key, key, np.arange(n), 32), spec)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    small, large = peak(512), peak(2048)
    assert large / small == pytest.approx(4, rel=0.25)
    assert large < 2048 * 2048 * 4 / 4


def test_eight_thousand_tokens_in_mebibytes() -> None:
    """Stored, the scores of one head are 256 MiB in float32; tiled, what exists at once is a few."""
    n, rng = 8192, np.random.default_rng(0)
    query, key = (rng.normal(size=(n, 1, 64)).astype(np.float32) for _ in range(2))
    spec = Attention(heads=1, kv_heads=1, head_width=64, scale=0.125)
    tracemalloc.start()
    flash_attention(query, np.arange(n), tiles(key, key, np.arange(n), 64), spec)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert n * n * 4 == 256 * 2**20
    assert 2**20 < most < 24 * 2**20, most / 2**20


def test_strange_tiles_are_refused() -> None:
    query, key, value, _ = drawn(3)
    with pytest.raises(UsageError, match="at least 1 slot"):
        list(tiles(key, value, np.arange(N), 0))
    with pytest.raises(UsageError, match="found none"):
        flash_attention(query, np.arange(N), [], PLAIN)
