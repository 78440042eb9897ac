"""Two norms on (1, −2, 3, 0.5), and what ε does to a small row."""

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.norm import layer_norm, rms_norm

X = np.array([1.0, -2.0, 3.0, 0.5])
ONE = np.ones(4)


def _layer_norm() -> Value:
    return tuple(map(float, layer_norm(X, ONE, np.zeros(4), 1e-5)))


def _rms_norm() -> Value:
    return tuple(map(float, rms_norm(X, ONE, 1e-6)))


def _shift_and_scale() -> Value:
    """Change of each norm for x + 5, LayerNorm then RMSNorm, ε = 0."""
    moved = (np.abs(layer_norm(X + 5, ONE, None, 0.0) - layer_norm(X, ONE, None, 0.0)).max(),)
    return *map(float, moved), float(np.abs(rms_norm(X + 5, ONE, 0.0) - rms_norm(X, ONE, 0.0)).max())


TOYS: Toys = {
    "norms.layer": _layer_norm,
    "norms.rms": _rms_norm,
    "norms.rms_of_small": lambda: float(rms_norm(1e-4 * X, ONE, 1e-6)[0]),
    "norms.rms_of_small_exact": lambda: float(rms_norm(1e-4 * X, ONE, 0.0)[0]),
    "norms.shifted": _shift_and_scale,
}
