"""Both norms against values worked by hand and against torch."""

import numpy as np
import pytest
import torch
import torch.nn.functional as F

from whybox.parts.norm import layer_norm, rms_norm

X = np.array([1.0, -2.0, 3.0, 0.5])
ONE = np.ones(4)


def test_layer_norm_by_hand() -> None:
    expected = [0.210558, -1.473909, 1.333536, -0.070186]
    np.testing.assert_allclose(layer_norm(X, ONE, np.zeros(4), 1e-5), expected, rtol=0, atol=5e-7)


def test_rms_norm_by_hand() -> None:
    expected = [0.529813, -1.059626, 1.589439, 0.264906]
    np.testing.assert_allclose(rms_norm(X, ONE, 1e-6), expected, rtol=0, atol=5e-7)


def test_epsilon_is_felt_by_small_rows() -> None:
    """Not the .529813 of the row itself, though only the scale differs."""
    assert rms_norm(1e-4 * X, ONE, 1e-6)[0] == pytest.approx(0.098265, abs=5e-7)


@pytest.mark.parametrize(("eps", "expected"), [(1e-5, 0.3015), (1e-6, 0.7071)])
def test_epsilon_stands_inside_the_root(eps: float, expected: float) -> None:
    """Four times 0.001: x / √(mean x² + ε)."""
    np.testing.assert_allclose(rms_norm(np.full(4, 0.001), ONE, eps), expected, rtol=0, atol=5e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(7, 61), (5, 3, 61)])
def test_against_torch(dtype: type, shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(3)
    x, gain, bias = (rng.normal(size=s).astype(dtype) for s in (shape, 61, 61))
    ours = rms_norm(x, gain, 1e-5), layer_norm(x, gain, bias, 1e-5)
    t = [torch.from_numpy(a) for a in (x, gain, bias)]
    oracle = F.rms_norm(t[0], (61,), t[1], 1e-5), F.layer_norm(t[0], (61,), t[1], t[2], 1e-5)
    for a, b in zip(ours, oracle, strict=True):
        assert a.dtype == dtype
        np.testing.assert_allclose(a, b.numpy(), rtol=0, atol=2e-6 if dtype is np.float32 else 1e-14)


@pytest.mark.parametrize("value", [0.1, 7.3, 1234.5])
@pytest.mark.parametrize("width", [13, 768])
def test_equal_numbers_leave_nothing_to_scale(value: float, width: int) -> None:
    """A mean summed in float32 is off by an ulp, which 1/√ε lifts to 0.4 here."""
    row, gain = np.full((2, width), value, np.float32), np.full(width, 3, np.float32)
    assert not layer_norm(row, gain, None, 1e-12).any()
    almost = row.copy()
    almost[:, 0] += np.spacing(row[0, 0])
    expected = layer_norm(almost.astype(np.float64), gain.astype(np.float64), None, 1e-12)
    np.testing.assert_allclose(layer_norm(almost, gain, None, 1e-12), expected, rtol=1e-6)
    assert np.abs(expected).max() > 1e-3
