"""KL and Jensen–Shannon by hand, and the bound that is left of them when only a few tokens are known."""

import math

import numpy as np
import pytest

from whybox.statistics.divergence import jensen_shannon, kl, kl_lower_bound

P, Q = np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.5, 0.25])


def test_by_hand() -> None:
    assert float(kl(P, Q)) == pytest.approx(0.25 * math.log(2))
    assert float(kl(P, P)) == 0.0
    assert float(jensen_shannon(np.array([1.0, 0]), np.array([0.0, 1]))) == pytest.approx(math.log(2))
    assert float(kl(np.array([0.5, 0.5]), np.array([1.0, 0.0]))) == math.inf


def test_rows_are_kept_apart() -> None:
    assert kl(np.stack([P, P]), np.stack([Q, P])) == pytest.approx([0.25 * math.log(2), 0.0])


def test_bins_only_lose() -> None:
    """Tokens that one side does not list fall into the rest."""
    drawn = np.random.default_rng(0)
    for _ in range(50):
        p, q = drawn.dirichlet(np.ones(40), 2)
        best_p, best_q = ({str(i): float(x[i]) for i in np.argsort(-x)[:5]} for x in (p, q))
        assert 0 <= kl_lower_bound(best_p, best_q) <= float(kl(p, q)) + 1e-12
    whole = {str(i): float(x) for i, x in enumerate(P)}, {str(i): float(x) for i, x in enumerate(Q)}
    assert kl_lower_bound(*whole) == pytest.approx(float(kl(P, Q)))


def test_noise_on_logits_costs_what_theory_says() -> None:
    """logit_noise(σ): E KL ≈ ½ σ² (1 − Σ p²)."""
    drawn, sigma = np.random.default_rng(2), 0.05
    logits = drawn.normal(0, 2, 50)
    noisy = logits + drawn.normal(0, sigma, (20_000, 50))

    def softmax(z: np.ndarray) -> np.ndarray:
        e = np.exp(z - z.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    p = softmax(logits)
    mean = kl(np.broadcast_to(p, noisy.shape).copy(), softmax(noisy)).mean()
    assert mean == pytest.approx(0.5 * sigma**2 * (1 - np.square(p).sum()), rel=0.03)
