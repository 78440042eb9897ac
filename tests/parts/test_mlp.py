"""Activations and MLPs against hand values and torch."""

import warnings

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from scipy.optimize import minimize_scalar

from whybox.parts import mlp
from whybox.spec import Activation

ORACLES = {
    Activation.RELU: F.relu,
    Activation.GELU_ERF: F.gelu,
    Activation.GELU_TANH: lambda x: F.gelu(x, approximate="tanh"),
    Activation.SILU: F.silu,
}


@pytest.mark.parametrize("kind", list(Activation))
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_activations_equal_torch(kind: Activation, dtype: type) -> None:
    x = np.linspace(-30, 30, 6007, dtype=dtype)
    before = x.copy()
    ours = mlp.activate(x, kind)
    assert ours.dtype == dtype
    assert (x == before).all()
    oracle = ORACLES[kind](torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(ours, oracle, rtol=0, atol=2e-6 if dtype is np.float32 else 1e-13)


def test_silu_by_hand() -> None:
    assert mlp.silu(np.array([-1.0]))[0] == pytest.approx(-0.268941, abs=5e-7)
    lowest = minimize_scalar(lambda x: float(mlp.silu(np.array([x]))[0]), bounds=(-3, 0), options={"xatol": 1e-9})
    assert (lowest.x, lowest.fun) == (pytest.approx(-1.27846, abs=5e-5), pytest.approx(-0.278465, abs=5e-7))


def test_silu_far_out_is_minus_zero_without_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        far = mlp.silu(np.array([-1000.0, 1000.0], np.float32))
    assert far.tolist() == [0.0, 1000.0]
    assert np.signbit(far[0])


def test_which_gelu() -> None:
    one = np.array([1.0])
    assert mlp.gelu(one)[0] == pytest.approx(0.841345, abs=5e-7)
    assert mlp.gelu_tanh(one)[0] == pytest.approx(0.841192, abs=5e-7)
    x = np.linspace(-6, 6, 120_001)
    gap = np.abs(mlp.gelu(x) - mlp.gelu_tanh(x))
    assert gap.max() == pytest.approx(4.73e-4, abs=5e-7)
    assert abs(x[gap.argmax()]) == pytest.approx(2.699, abs=5e-3)


def test_dense_and_gated_equal_torch_and_leave_inputs_alone() -> None:
    rng = np.random.default_rng(5)
    x, gate, up, down, b_up, b_down = (rng.normal(size=s) for s in ((5, 7), (11, 7), (11, 7), (7, 11), 11, 7))
    copies = [a.copy() for a in (x, gate, up, down, b_up, b_down)]
    t = [torch.from_numpy(a) for a in copies]
    dense = F.linear(F.relu(F.linear(t[0], t[2], t[4])), t[3], t[5]).numpy()
    gated = F.linear(F.silu(F.linear(t[0], t[1])) * F.linear(t[0], t[2]), t[3]).numpy()
    geglu = F.linear(F.gelu(F.linear(t[0], t[1]), approximate="tanh") * F.linear(t[0], t[2]), t[3]).numpy()
    np.testing.assert_allclose(mlp.dense(x, up, down, Activation.RELU, b_up, b_down), dense, rtol=0, atol=1e-13)
    np.testing.assert_allclose(mlp.gated(x, gate, up, down, Activation.SILU), gated, rtol=0, atol=1e-13)
    np.testing.assert_allclose(mlp.gated(x, gate, up, down, Activation.GELU_TANH), geglu, rtol=0, atol=1e-13)
    for array, copy in zip((x, gate, up, down, b_up, b_down), copies, strict=True):
        assert (array == copy).all()


def test_original_glu_gate() -> None:
    np.testing.assert_allclose(mlp.sigmoid(np.array([-1000.0, 0.0, 1.0])), [0, 0.5, 0.731059], rtol=0, atol=5e-7)


def test_gating_keeps_the_count() -> None:
    """Three matrices of two thirds the width: 2,097,152 against 2,096,640 at c = 512."""
    assert 2 * 512 * 2048 == 2_097_152
    assert 3 * 512 * (2 * 2048 // 3) == 2_096_640
