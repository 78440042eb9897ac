"""How far two distributions over tokens are apart, in nats."""

from collections.abc import Mapping

import numpy as np
from jaxtyping import Float
from scipy.special import rel_entr

ROUNDING = 1e-9  # of a sum of listed probabilities: what it may hide of the other side excludes nothing


def kl(one: Float[np.ndarray, "*rows v"], other: Float[np.ndarray, "*rows v"]) -> Float[np.ndarray, "*rows"]:
    """KL(P‖Q) = Σ p ln(p/q) of every row; ∞ where Q excludes what P allows."""
    return np.asarray(rel_entr(one, other).sum(axis=-1))


def jensen_shannon(
    one: Float[np.ndarray, "*rows v"], other: Float[np.ndarray, "*rows v"]
) -> Float[np.ndarray, "*rows"]:
    """(KL(P‖M) + KL(Q‖M))/2 with M the mean of both: 0 … ln 2."""
    middle = (one + other) / 2
    return np.asarray((kl(one, middle) + kl(other, middle)) / 2)


def kl_lower_bound(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """What is left of KL(P‖Q) when only the best tokens of each side are known: a lower bound, and called so.

    Both: token → probability. Tokens that both sides list keep a bin; all the rest is one bin.
    """
    p, q = _binned(one, other, ROUNDING)
    return max(float(kl(p, q)), 0.0)


def jensen_shannon_lower_bound(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    """The same of the Jensen–Shannon divergence."""
    return max(float(jensen_shannon(*_binned(one, other, 0.0))), 0.0)


def _binned(one: Mapping[str, float], other: Mapping[str, float], least: float) -> tuple[np.ndarray, np.ndarray]:
    """Tokens that both sides list, and the rest of each in one bin; least: of the other side's."""
    shared = sorted(one.keys() & other.keys())
    p, q = (np.array([*(side[token] for token in shared), 0.0]) for side in (one, other))
    for bins, floor in ((p, 0.0), (q, least)):
        bins[-1] = max(1 - bins[:-1].sum(), floor)
    return p, q
