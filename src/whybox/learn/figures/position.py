"""Where order comes from: the sinusoid, the rotation, ALiBi, and what the mask alone reveals."""

from collections.abc import Callable

import numpy as np

from whybox.learn.figures.figure import Toys, Value
from whybox.parts.attention import one_head
from whybox.parts.mask import visible
from whybox.parts.mlp import gelu
from whybox.parts.position import (
    alibi_slopes,
    rope_angles,
    rotate,
    sinusoid,
    sinusoid_at,
    sinusoid_shift,
)
from whybox.parts.rope import frequencies, wavelengths
from whybox.spec import Pairing, PlainRope

Array = np.ndarray
Q, K = np.array([1.0, 0.5, -0.3, 0.8]), np.array([0.2, -1.0, 0.4, 0.7])
TOKENS, WIDTH = 7, 13
SEEN = visible(np.arange(TOKENS), np.arange(TOKENS))


def turned(x: Array, place: int, pairing: Pairing = Pairing.INTERLEAVED) -> Array:
    """One vector at a position, base 10,000."""
    cos, sin = rope_angles(PlainRope(1e4, x.shape[-1], pairing), np.array([place]), 1)
    return rotate(x[None, None], cos, sin, pairing)[0, 0]


def _one_hot_error() -> Value:
    """Row against product with the one-hot row: V = 1,009, c = 61."""
    table, ids = np.random.default_rng(0).normal(size=(1009, 61)), np.array([42, 7, 256, 99, 42])
    return float(np.abs(np.eye(len(table))[ids] @ table - table[ids]).max())


def _shift_error() -> Value:
    """PE(p + 7) = M · PE(p), with one M for positions 0 … 3,999."""
    places, shift = np.arange(4000), sinusoid_shift(7, 64)
    return float(np.abs(sinusoid_at(places, 64) @ shift.T - sinusoid_at(places + 7, 64)).max())


def _products() -> Value:
    """Query and key two positions apart, in three places."""
    pairs = ((3, 1), (13, 11), (1003, 1001))
    return tuple(float(turned(Q, m) @ turned(K, n)) for m, n in pairs)


def _product_by_distance() -> Value:
    """q · R₋₂ k."""
    return float(Q @ turned(K, -2))


def _lengths() -> Value:
    return float(np.linalg.norm(Q)), float(np.linalg.norm(turned(Q, 3)))


def _ends_of(base: float) -> Value:
    """Shortest and longest wavelength of a head of width 64."""
    found = wavelengths(PlainRope(base, 64), 1)
    return float(found[0]), float(found[-1])


def _second_frequency(width: int) -> Value:
    return float(frequencies(PlainRope(1e5, width), 1)[1])


def _rising_steps() -> Value:
    """Steps of distance, of 4,095, at which a rotated vector's product with itself grows."""
    cos, _ = rope_angles(PlainRope(1e4, 64), np.arange(4096), 4096)
    return float((np.diff(cos.sum(axis=1)) > 0).sum())


def _random_by_distance() -> Value:
    """sd of scaled products of random queries and keys 1, 64 and 4,095 positions apart."""
    rng = np.random.default_rng(0)
    query, key = (rng.normal(size=(20_000, 1, 64)) for _ in range(2))
    return tuple(float(((query * _at(key, away)).sum(axis=-1) / 8).std()) for away in (1, 64, 4095))


def _mean_by_distance() -> Value:
    rng = np.random.default_rng(0)
    query, key = (rng.normal(size=(20_000, 1, 64)) for _ in range(2))
    return max(abs(float(((query * _at(key, away)).sum(axis=-1) / 8).mean())) for away in (1, 64, 4095))


def _at(x: Array, place: int) -> Array:
    cos, sin = rope_angles(PlainRope(1e4, 64), np.full(len(x), place), 1)
    return rotate(x, cos, sin, Pairing.HALF)


def blocks(count: int, seen: Array | None) -> Callable[[Array], Array]:
    """So many blocks of attention and MLP without any position, on rows of 13 numbers."""
    rng = np.random.default_rng(0)
    weights = [rng.normal(size=(4, WIDTH, WIDTH)) / WIDTH**0.5 for _ in range(count)]

    def run(x: Array) -> Array:
        for query, key, value, hidden in weights:
            x = x + one_head(x @ query, x @ key, x @ value, None if seen is None else seen[: len(x), : len(x)])[0]
            x = x + gelu(x @ hidden)
        return x

    return run


def _rows() -> Array:
    return np.random.default_rng(1).normal(size=(TOKENS, WIDTH))


def _equivariance_error() -> Value:
    """Two blocks without mask: outputs of permuted rows against the permuted outputs."""
    x, order, run = _rows(), np.random.default_rng(2).permutation(TOKENS), blocks(2, None)
    return float(np.abs(run(x[order]) - run(x)[order]).max())


def _reversed() -> Value:
    """ABC and CBA without mask: what the sequence of outputs changes by, place for place."""
    x, run = _rows()[:3], blocks(2, None)
    return float(np.abs(run(x[::-1]) - run(x)).max())


def _swapped(count: int) -> Value:
    """Causal, no positions: change of the last output when two earlier tokens change places."""
    x, run = _rows(), blocks(count, SEEN)
    return float(np.abs(run(x[[2, 1, 0, *range(3, TOKENS)]])[-1] - run(x)[-1]).max())


TOYS: Toys = {
    "position.one_hot_error": _one_hot_error,
    "position.sinusoid_first": lambda: tuple(map(float, sinusoid(2, 64)[1, :4])),
    "position.sinusoid_norm": lambda: float(np.linalg.norm(sinusoid(4, 64)[3])),
    "position.sinusoid_shift_error": _shift_error,
    "position.rope_products": _products,
    "position.rope_by_distance": _product_by_distance,
    "position.rope_neighbours": lambda: tuple(map(float, turned(Q, 3))),
    "position.rope_halves": lambda: tuple(map(float, turned(Q, 3, Pairing.HALF))),
    "position.rope_lengths": _lengths,
    "position.wavelengths": lambda: _ends_of(1e4),
    "position.wavelengths_1e5": lambda: _ends_of(1e5),
    "position.theta_of_head": lambda: _second_frequency(64),
    "position.theta_of_model": lambda: _second_frequency(576),
    "position.rising_steps": _rising_steps,
    "position.random_sd": _random_by_distance,
    "position.random_mean": _mean_by_distance,
    "position.alibi_slopes": lambda: tuple(map(float, alibi_slopes(8)[[0, 1, 7]])),
    "position.equivariance_error": _equivariance_error,
    "position.reversed": _reversed,
    "position.swapped_two_layers": lambda: _swapped(2),
    "position.swapped_one_layer": lambda: _swapped(1),
}
