"""Activations, gates and their counts, shapes of the documents' formula, and the highway of the residual."""

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.stats import norm

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.mlp import dense, gelu, gelu_tanh, relu, silu
from whybox.spec import Activation

Array = np.ndarray
GRID = np.linspace(-10, 10, 200_001)


def _column_form_refused() -> Value:
    """Whether W₁x is impossible for the printed W₁ [c f] and a column x [c]; width of the row form's output (c = 7)."""
    rng = np.random.default_rng(0)
    x, first, second = rng.normal(size=7), rng.normal(size=(7, 11)), rng.normal(size=(11, 7))
    row = dense(x[None], first.T, second.T, Activation.RELU)
    try:
        first @ x
    except ValueError:
        return 1.0, float(row.shape[-1])
    return 0.0, float(row.shape[-1])


def _silent() -> Value:
    """ReLU units of 512 that are 0 for one random input, percent; and for all of 1,000 inputs."""
    rng = np.random.default_rng(0)
    hidden = relu(rng.normal(size=(1_000, 64)) @ rng.normal(size=(64, 512)))
    return 100 * float((hidden == 0).mean()), float((hidden == 0).all(axis=0).sum())


def _gelu_error() -> Value:
    """GELU against z · Φ(z), and the tanh form against GELU: largest distance."""
    exact = GRID * norm.cdf(GRID)
    return float(np.abs(gelu(GRID) - exact).max()), float(np.abs(gelu_tanh(GRID) - exact).max())


def _silu_minimum() -> Value:
    """Value and place."""
    found = minimize_scalar(
        lambda z: float(silu(np.array([z]))[0]), bounds=(-3, 0), method="bounded", options={"xatol": 1e-9}
    )
    return float(found.fun), float(found.x)


def _gated_widths() -> Value:
    """⅔ · 4c for c = 512 and for c = 576."""
    return 2 / 3 * 4 * 512, 2 / 3 * 4 * 576


def _counts() -> Value:
    """Parameters of the plain MLP (c = 512, f = 2,048), of the gated one as the listing rounds it, difference in %."""
    plain, width = 2 * 512 * 2048, int(2 / 3 * 2048 * 2) // 2
    gated = 3 * 512 * width
    return float(plain), float(gated), 100 * (gated - plain) / plain


def _depth() -> Value:
    """80 layers of J with entries of sd 0.1, 16 wide: norm of Π J, and of Π (I + J)."""
    rng = np.random.default_rng(0)
    without, skip = np.eye(16), np.eye(16)
    for _ in range(80):
        jacobian = rng.normal(size=(16, 16)) * 0.1
        without, skip = jacobian @ without, (np.eye(16) + jacobian) @ skip
    return float(np.linalg.norm(without)), float(np.linalg.norm(skip))


TOYS: Toys = {
    "mlp.column_form": _column_form_refused,
    "mlp.silent": _silent,
    "mlp.gelu_errors": _gelu_error,
    "mlp.silu_minimum": _silu_minimum,
    "mlp.silu_minus_one": lambda: float(silu(np.array([-1.0]))[0]),
    "mlp.silu_limit": lambda: -float(np.log(np.finfo(np.float64).max)),
    "mlp.gated_widths": _gated_widths,
    "mlp.counts": _counts,
    "mlp.depth": _depth,
}
