"""What a number of items can find, before anything is run.

Gates on counts are enumerated: every table that n items can give, weighted by its probability. Sizes are the first n
whose power reaches the goal; since counts are whole numbers, power is a sawtooth and may dip again just behind it.
"""

import math
from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float, Integer
from scipy import stats
from scipy.optimize import brentq

from whybox.statistics.effects import p_mean_below
from whybox.statistics.paired import FEW_PAIRS, tango_z

ALPHA, GOAL = 0.05, 0.8
MOST = 100_000  # items; beyond it no size is searched

Counts = Integer[np.ndarray, "..."]
Passes = Callable[[Counts, Counts, int], Bool[np.ndarray, "..."]]
"""(worse, better, n) → whether the gate passes."""


def closed_form(difference: float, discordance: float, alpha: float = ALPHA) -> int:
    """n = (z_{1−α/2} √ψ + z_.8 √(ψ − Δ²))²/Δ² pairs to find Δ when a share ψ of pairs differs. For planning."""
    return math.ceil((_spread(difference, discordance, alpha) / difference) ** 2)


def smallest_difference(n: int, discordance: float) -> float | None:
    """The smallest Δ that n pairs find with 80 % power by the closed form; None where even Δ = ψ is too small."""

    def missing(difference: float) -> float:
        return _spread(difference, discordance, ALPHA) - difference * math.sqrt(n)

    if n == 0 or discordance == 0 or missing(discordance) > 0:
        return None
    return float(brentq(missing, 1e-9, discordance))


def _spread(difference: float, discordance: float, alpha: float) -> float:
    """z_{1−α/2} √ψ + z_.8 √(ψ − Δ²)"""
    first, second = float(stats.norm.ppf(1 - alpha / 2)), float(stats.norm.ppf(GOAL))
    return first * math.sqrt(discordance) + second * math.sqrt(max(discordance - difference**2, 0.0))


def rate_power(n: int, least: float, true: float, alpha: float = ALPHA) -> float:
    """P that n items show "rate ≥ least" when the rate is `true`: exact."""
    needed = int(stats.binom.isf(alpha, n, least)) + 1  # smallest k with P(K ≥ k) ≤ α at the limit
    return float(stats.binom.sf(needed - 1, n, true))


def parts_power(n: int, least: float, true: float, parts: int) -> float:
    """The same for a gate that needs every one of its parts, as if they were independent: the truth lies above."""
    return rate_power(n, least, true) ** parts


def paired_power(n: int, difference: float, discordance: float) -> float:
    """P that McNemar's exact test finds Δ at .05, when a share ψ of pairs differs."""
    return _over_tables(n, difference, discordance, _mcnemar_finds)


def same_power(n: int, margin: float, discordance: float) -> float:
    """P that both one-sided tests at ±margin pass when the rates are the same."""
    return _over_tables(n, 0.0, discordance, lambda b, c, m: _below(b, c, m, margin) & _below(c, b, m, margin))


def harm_power(n: int, most: float, discordance: float) -> float:
    """P that "harm ≤ most" passes when there is none."""
    return _over_tables(n, 0.0, discordance, lambda b, c, m: _below(b, c, m, most))


def mean_power(
    pool: Float[np.ndarray, "item"], n: int, most: float, generator: np.random.Generator, resamples: int = 2000
) -> float:
    """P that "mean effect ≤ most" passes for n items drawn from a pool of item effects: simulated."""
    found = stats.power(
        lambda effects: p_mean_below(np.asarray(effects, np.float64), most),
        lambda size: generator.choice(pool, size),
        [n],
        significance=np.nextafter(ALPHA, 1),
        vectorized=False,
        n_resamples=resamples,
    )
    return float(np.squeeze(found.power))


def simulated_paired_power(
    n: int, difference: float, discordance: float, generator: np.random.Generator, resamples: int = 10_000
) -> float:
    """What `paired_power` says, by drawing: the check that the plan is held to."""
    share = [(discordance + difference) / 2, 1 - discordance, (discordance - difference) / 2]

    def p(effects: np.ndarray, axis: int) -> np.ndarray:
        worse, better = (effects == 1).sum(axis=axis), (effects == -1).sum(axis=axis)
        return np.minimum(1, 2 * stats.binom.cdf(np.minimum(worse, better), worse + better, 0.5))

    found = stats.power(
        p,
        lambda size: generator.choice([1, 0, -1], size, p=share),
        [n],
        significance=np.nextafter(ALPHA, 1),
        vectorized=True,
        n_resamples=resamples,
    )
    return float(np.squeeze(found.power))


def first_size(power: Callable[[int], float], goal: float = GOAL) -> int | None:
    """The first n at which the power reaches the goal; None where none up to 100,000 does.

    Searched from where a coarse search sees three quarters of the goal: below it no tooth of the saw reaches up.
    """
    high = 4
    while power(high) < goal:
        if high >= MOST:
            return None
        high *= 2
    low = high // 2 if high > 4 else 1
    n = _crossing(power, 0.9 * goal, low // 2 or 1, high)
    while power(n) < goal:
        n += 1
    return n


def _crossing(power: Callable[[int], float], level: float, low: int, high: int) -> int:
    """An n near which the power crosses a level, by halving."""
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power(middle) >= level else (middle, high)
    return low


def _over_tables(n: int, difference: float, discordance: float, passes: Passes) -> float:
    """Σ over (worse, better) of the probability of the table where the gate passes."""
    differing = np.arange(int(stats.binom.ppf(1e-9, n, discordance)), int(stats.binom.isf(1e-9, n, discordance)) + 1)
    worse = np.arange(differing[-1] + 1)[None, :]
    total = differing[:, None]
    share = (discordance + difference) / (2 * discordance) if discordance else 0.5  # of no pair
    weight = stats.binom.pmf(total, n, discordance) * stats.binom.pmf(worse, total, share)
    better = np.maximum(total - worse, 0)
    return float(weight[(worse <= total) & passes(np.broadcast_to(worse, better.shape), better, n)].sum())


def _mcnemar_finds(worse: Counts, better: Counts, n: int) -> Bool[np.ndarray, "..."]:
    return 2 * stats.binom.cdf(np.minimum(worse, better), worse + better, 0.5) <= ALPHA


def _below(worse: Counts, better: Counts, n: int, most: float) -> Bool[np.ndarray, "..."]:
    """Whether "harm ≤ most" passes, as `paired.p_harm_below` decides it."""
    by_score = stats.norm.cdf(tango_z(worse, better, n, np.asarray(most))) <= ALPHA
    by_count = stats.binom.cdf(worse, n, most) <= ALPHA
    return by_score & (by_count | (worse + better >= FEW_PAIRS))
