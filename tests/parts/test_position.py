"""Positions: the documents' numbers, transformers' tables, and the laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from whybox.errors import PromptError, UsageError
from whybox.parts import position
from whybox.spec import Pairing, PlainRope

Q = np.array([1.0, 0.5, -0.3, 0.8])
K = np.array([0.2, -1.0, 0.4, 0.7])


def turned(x: np.ndarray, place: int, pairing: Pairing, base: float = 10000.0) -> np.ndarray:
    cos, sin = position.rope_angles(PlainRope(base, x.shape[-1], pairing), np.array([place]), place + 1)
    return position.rotate(x[None, None], cos, sin, pairing)[0, 0]


class TestSinusoid:
    def test_by_hand(self) -> None:
        code = position.sinusoid(4, 64)
        assert code[0].tolist() == [0, 1] * 32
        np.testing.assert_allclose(code[1, :4], [0.84147, 0.54030, 0.68156, 0.73176], rtol=0, atol=5e-6)
        np.testing.assert_allclose(np.linalg.norm(code, axis=1), 32**0.5, rtol=0, atol=1e-12)

    def test_equals_the_loop(self) -> None:
        loop = np.array(
            [[(np.sin, np.cos)[j % 2](p / 10000 ** (2 * (j // 2) / 62)) for j in range(62)] for p in range(37)]
        )
        np.testing.assert_allclose(position.sinusoid(37, 62), loop, rtol=0, atol=1e-14)

    @given(st.integers(0, 4000), st.integers(-50, 50))
    def test_a_shift_is_linear(self, place: int, k: int) -> None:
        before, after = position.sinusoid_at(np.array([place, place + k]), 64)
        np.testing.assert_allclose(position.sinusoid_shift(k, 64) @ before, after, rtol=0, atol=1e-11)

    def test_odd_width_is_refused(self) -> None:
        with pytest.raises(UsageError, match="found 7"):
            position.sinusoid(3, 7)


def test_learned_positions_end_with_their_table() -> None:
    table = np.arange(14.0).reshape(7, 2)
    assert position.learned(np.array([0, 4]), table, offset=2).tolist() == [[4, 5], [12, 13]]
    with pytest.raises(PromptError, match=r"0 … 4 \(learned table\), found 0 … 5"):
        position.learned(np.array([0, 5]), table, offset=2)
    assert position.learned(np.zeros(0, int), table).shape == (0, 2)


class TestRotation:
    def test_documents_example_in_both_pairings(self) -> None:
        expected = {
            Pairing.INTERLEAVED: [-1.06055, -0.35388, -0.32386, 0.79064],
            Pairing.HALF: [-0.94766, 0.47578, 0.43812, 0.81464],
        }
        for pairing, values in expected.items():
            got = turned(Q, 3, pairing)
            np.testing.assert_allclose(got, values, rtol=0, atol=5e-6)
            assert np.linalg.norm(got) == pytest.approx(1.40712, abs=5e-6)

    @pytest.mark.parametrize("places", [(3, 1), (13, 11), (1003, 1001)])
    def test_product_depends_on_the_distance(self, places: tuple[int, int]) -> None:
        m, n = places
        product = turned(Q, m, Pairing.INTERLEAVED) @ turned(K, n, Pairing.INTERLEAVED)
        assert product == pytest.approx(-0.446070, abs=5e-7)

    @given(st.integers(0, 2000), st.integers(0, 2000), st.integers(0, 2000), st.sampled_from(Pairing))
    def test_relative_law(self, m: int, n: int, shift: int, pairing: Pairing) -> None:
        there = turned(Q, m, pairing) @ turned(K, n, pairing)
        shifted = turned(Q, m + shift, pairing) @ turned(K, n + shift, pairing)
        assert shifted == pytest.approx(there, abs=1e-11)

    def test_pairings_differ_by_a_permutation(self) -> None:
        order = position.half_from_interleaved(4)
        np.testing.assert_allclose(
            turned(Q[order], 3, Pairing.HALF), turned(Q, 3, Pairing.INTERLEAVED)[order], rtol=0, atol=1e-15
        )

    @pytest.mark.parametrize("pairing", list(Pairing))
    @pytest.mark.parametrize("dtype", [np.float32, np.float64])
    def test_partial_width_complex_twin_and_dtype(self, pairing: Pairing, dtype: type) -> None:
        x = np.random.default_rng(1).normal(size=(7, 3, 22)).astype(dtype)
        before = x.copy()
        cos, sin = position.rope_angles(PlainRope(100.0, 10, pairing), np.arange(5, 12), 12)
        got, twin = position.rotate(x, cos, sin, pairing), position.rotate_complex(x, cos, sin, pairing)
        assert got.dtype == dtype
        assert (got[..., 10:] == x[..., 10:]).all()
        assert (x == before).all()
        assert not np.allclose(got[..., :10], x[..., :10])
        np.testing.assert_allclose(got, twin, rtol=0, atol=1e-6 if dtype is np.float32 else 1e-14)

    def test_nearer_is_not_always_stronger(self) -> None:
        """The product of a vector with itself at growing distance rises at 2,025 of 4,095 steps."""
        cos, _ = position.rope_angles(PlainRope(10000.0, 64), np.arange(4096), 4096)
        assert int((np.diff(cos.sum(axis=1)) > 0).sum()) == 2025

    def test_width_beyond_the_head_is_refused(self) -> None:
        cos = np.ones((1, 3))
        with pytest.raises(UsageError, match="at most 2 pairs"):
            position.rotate(Q[None, None], cos, cos, Pairing.HALF)


class TestAlibi:
    def test_slopes_of_a_power_of_two(self) -> None:
        assert position.alibi_slopes(8).tolist() == [2.0**-i for i in range(1, 9)]

    def test_slopes_between_powers(self) -> None:
        got = position.alibi_slopes(12)
        assert got[:8].tolist() == [2.0**-i for i in range(1, 9)]
        np.testing.assert_allclose(got[8:], [2**-0.5, 2**-1.5, 2**-2.5, 2**-3.5], rtol=1e-15)

    def test_bias_is_minus_slope_times_distance(self) -> None:
        bias = position.alibi_bias(np.array([0.5, 0.25]), np.array([4]), np.array([1, 4]))
        assert bias.tolist() == [[[-1.5, 0]], [[-0.75, 0]]]
