"""What a number depends on, from runs without some sources: exact Shapley values, or a sparse linear surrogate."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import factorial

import numpy as np
from jaxtyping import Bool, Float

ALPHA = 0.01
_SWEEPS = 10_000
_STILL = 1e-10  # largest move of a coefficient in a pass that counts as none


def shapley(values: Mapping[int, float], sources: int) -> Float[np.ndarray, "s"]:
    """φ_s = Σ_{K ∌ s} |K|! (n − |K| − 1)! / n! · (v(K ∪ s) − v(K)), over all 2^n sets K (bit s: source s is kept).

    Σ φ = v(all) − v(none).
    """
    found = np.zeros(sources)
    for kept, value in values.items():
        size = kept.bit_count()
        for source in range(sources):
            if not kept >> source & 1:
                weight = factorial(size) * factorial(sources - size - 1) / factorial(sources)
                found[source] += weight * (values[kept | 1 << source] - value)
    return found


@dataclass(frozen=True, eq=False)
class Linear:
    """y ≈ intercept + Σ_s weight_s · kept_s."""

    weights: Float[np.ndarray, "s"]
    intercept: float

    def __call__(self, masks: Bool[np.ndarray, "n s"]) -> Float[np.ndarray, "n"]:
        return self.intercept + masks.astype(np.float64) @ self.weights


def lasso(masks: Bool[np.ndarray, "n s"], y: Float[np.ndarray, "n"], alpha: float = ALPHA) -> Linear:
    """argmin 1/(2n) · ‖y − ȳ − Zw‖² + α‖w‖₁, Z the standardised masks; weights are given for the masks as they are.

    Coordinate descent with soft thresholds. A source that was kept in all masks, or in none, gets weight 0.
    """
    x = masks.astype(np.float64)
    mean, scale = x.mean(axis=0), x.std(axis=0)
    varies = scale > 0
    z = (x[:, varies] - mean[varies]) / scale[varies]
    weights = np.zeros(x.shape[1])
    weights[varies] = _descend(z, y - y.mean(), alpha) / scale[varies]
    return Linear(weights, float(y.mean() - mean @ weights))


def _descend(z: Float[np.ndarray, "n s"], y: Float[np.ndarray, "n"], alpha: float) -> Float[np.ndarray, "s"]:
    """Columns of z have mean 0 and variance 1, so each coordinate's best value is a soft threshold."""
    weights, residual, count = np.zeros(z.shape[1]), y.astype(np.float64).copy(), len(y)
    for _ in range(_SWEEPS):
        moved = 0.0
        for s in range(len(weights)):
            pull = z[:, s] @ residual / count + weights[s]
            new = np.sign(pull) * max(abs(pull) - alpha, 0.0)
            residual += z[:, s] * (weights[s] - new)
            moved = max(moved, abs(new - weights[s]))
            weights[s] = new
        if moved < _STILL:
            break
    return weights


def all_masks(sources: int) -> Bool[np.ndarray, "n s"]:
    """All 2^n keep-masks; row i keeps the sources whose bits are set in i."""
    return (np.arange(2**sources)[:, None] >> np.arange(sources) & 1).astype(bool)


def drawn_masks(
    sources: int, count: int, generator: np.random.Generator, seen: Sequence[bytes] = ()
) -> Bool[np.ndarray, "n s"]:
    """Keep-masks, each source kept with probability ½; all different, and none of those seen before."""
    known = set(seen)
    found: list[np.ndarray] = []
    while len(found) < count:
        mask = generator.random(sources) < 0.5
        if mask.tobytes() not in known:
            known.add(mask.tobytes())
            found.append(mask)
    return np.stack(found)
