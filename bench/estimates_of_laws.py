"""The primary estimate of every probe on a law of known truth: does its interval hold the truth, run by run?"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from bench import laws
from whybox.statistics.behaviour.consistency import Drift, drift
from whybox.statistics.behaviour.cutoff import ALPHA, Dated, p_of_step
from whybox.statistics.behaviour.edit import contrast_consistency, inv_effects
from whybox.statistics.behaviour.evidence import weights_of
from whybox.statistics.behaviour.memory import drop
from whybox.statistics.calls import first, pairs, rate
from whybox.statistics.changes import item_effects
from whybox.statistics.effects import effect_interval
from whybox.statistics.intervals import Interval, Rate, wilson
from whybox.statistics.paired import Pairs, paired_difference

DEPTHS = (1, 5, 10, 20)
CHUNK = 500  # runs drawn as one table
Law = Any


@dataclass(frozen=True)
class Estimate:
    """holds: (generator, runs, n, **law) → whether each run's interval held the truth.

    enumerated: (n, **law) → the exact coverage, None where it must be drawn.
    """

    holds: Callable[..., Iterator[bool]]
    enumerated: Callable[..., float | None]


def _inside(interval: Interval | None, truth: float) -> bool:
    assert interval is not None
    return interval[0] - 1e-9 <= truth <= interval[1] + 1e-9


# Rates: the table of an estimate is binomial.


def _rates(draw: Callable[..., Rate], truth: Callable[..., float]) -> Estimate:
    def holds(generator: np.random.Generator, runs: int, n: int, **law: Law) -> Iterator[bool]:
        return (_inside(_wilson(draw(generator, n, **law)), truth(**law)) for _ in range(runs))

    def enumerated(n: int, **law: Law) -> float:
        weights = stats.binom.pmf(np.arange(n + 1), n, truth(**law))
        return float(sum(w for k, w in enumerate(weights) if _inside(_wilson(Rate(k, n)), truth(**law))))

    return Estimate(holds, enumerated)


@cache
def _wilson(rate: Rate) -> Interval | None:
    return wilson(rate)


def _cc(generator: np.random.Generator, n: int, r: float) -> Rate:
    codes = laws.brittle(generator, n, r)
    runs = first(codes)
    return contrast_consistency(codes, (runs[:, 0] == 0).astype(int), (runs[:, 1] == 1).astype(int))


def _attribution(generator: np.random.Generator, n: int, q: float) -> Rate:
    """At one order whose first document is another source's."""
    return rate((first(laws.misattributes(generator, n, q))[:, -1] == 0).astype(int))


def _share(generator: np.random.Generator, n: int, p: float) -> Rate:
    return rate(first(laws.honest(generator, n, p))[:, 0])


# Pairs: the table of an estimate is trinomial.


def _pairs(draw: Callable[..., Pairs], shares: Callable[..., tuple[float, float]]) -> Estimate:
    def holds(generator: np.random.Generator, runs: int, n: int, **law: Law) -> Iterator[bool]:
        worse, better = shares(**law)
        return (_inside(_tango(draw(generator, n, **law)), worse - better) for _ in range(runs))

    def enumerated(n: int, **law: Law) -> float:
        worse, better = shares(**law)
        tables = _tables(n, worse, better)
        return sum(w for b, c, w in tables if _inside(_tango(Pairs(b, c, n)), worse - better))

    return Estimate(holds, enumerated)


@cache
def _tango(seen: Pairs) -> Interval | None:
    return paired_difference(seen)


def _tables(n: int, worse: float, better: float) -> Iterator[tuple[int, int, float]]:
    """(worse, better, probability), all that matter."""
    share = better / (1 - worse) if worse < 1 else 0.0
    for b in range(n + 1):
        of_b = float(stats.binom.pmf(b, n, worse))
        if of_b > 1e-9:
            weights = of_b * stats.binom.pmf(np.arange(n - b + 1), n - b, share)
            yield from ((b, c, float(w)) for c, w in enumerate(weights) if w > 1e-9)


def _drop(generator: np.random.Generator, n: int, q: float) -> Pairs:
    return drop(laws.forgets_at(generator, n, 7, q, DEPTHS))


def _noisy_drop(generator: np.random.Generator, n: int, p: float, q: float) -> Pairs:
    """Obeys with p up to turn 7, then with q."""
    marks = laws.forgets_at(generator, n, 7, q / p, DEPTHS) * (generator.random((n, len(DEPTHS), 1)) < p)
    return drop(marks)


def _lean(generator: np.random.Generator, n: int, w: float) -> Pairs:
    """From the last place to the first: its harm is L."""
    marks = first(laws.recency_weighted(generator, n, w))
    return pairs(marks[:, -1], marks[:, 0])


def _lean_shares(w: float) -> tuple[float, float]:
    total = sum(w**i for i in range(5))
    last, start = 1 / total, w**4 / total
    return last * (1 - start), start * (1 - last)


def _served(generator: np.random.Generator, n: int, differ: float) -> Pairs:
    """A share of the items answers otherwise on the second server, as often for the better as for the worse."""
    right = laws.honest(generator, n, 0.5, 1)[:, 0, 0]
    return pairs(right, np.where(generator.random(n) < differ, 1 - right, right))


# Means of item effects: drawn. The interval of drift is in positions per 1,000.


def _effects(draw: Callable[..., np.ndarray], truth: Callable[..., float]) -> Estimate:
    def holds(generator: np.random.Generator, runs: int, n: int, **law: Law) -> Iterator[bool]:
        for start in range(0, runs, CHUNK):
            now = min(CHUNK, runs - start)
            for effects in draw(generator, now * n, **law).reshape(now, n):
                yield _inside(effect_interval(effects), truth(**law))

    return Estimate(holds, lambda n, **law: None)


def _beyond_repeats(law_of: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    def draw(generator: np.random.Generator, items: int, **law: Law) -> np.ndarray:
        return item_effects(law_of(generator, items, **law))

    return draw


def _inv(generator: np.random.Generator, items: int, r: float) -> np.ndarray:
    return inv_effects(laws.brittle(generator, items, r))


def _ends(law_of: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    def draw(generator: np.random.Generator, items: int, **law: Law) -> np.ndarray:
        marks = first(law_of(generator, items, **law)).astype(float)
        return np.round(marks @ weights_of(marks.shape[1])[0], 12)

    return draw


def _drifts(generator: np.random.Generator, runs: int, n: int, rate: float) -> Iterator[bool]:
    gaps = np.ones((n, 64))
    for _ in range(runs):
        found = drift(laws.drifting(generator, n, rate), gaps, 0.5)
        assert isinstance(found, Drift)
        yield _inside(found.interval, 1000 * rate)


def _recency_ends(w: float) -> float:
    shares = np.array([w**i for i in range(4, -1, -1)]) / sum(w**i for i in range(5))
    return float(shares[[0, -1]].mean() - shares[1:-1].mean())


# The month at which knowledge fades: a set, inverted by simulation.


def _fading(generator: np.random.Generator, runs: int, n: int, **law: Law) -> Iterator[bool]:
    """n: facts; the truth lies in the set when its own p exceeds α."""
    months, step, before, after = law["months"], law["step"], law["before"], law["after"]
    for _ in range(runs):
        right, asked = laws.dated(generator, months, n // months, step, before, after)
        controls = Rate(int(generator.binomial(law["controls"], after)), law["controls"])
        yield p_of_step(Dated(right, asked, controls), step, generator) > ALPHA


ESTIMATES: dict[str, Estimate] = {
    "order.D.tie_flipper": _effects(_beyond_repeats(laws.tie_flipper), lambda epsilon: 0.0),
    "order.D.item_biased": _effects(_beyond_repeats(laws.item_biased), lambda b: b),
    "order.D.position_biased": _effects(_beyond_repeats(laws.position_biased), lambda b: b * b),
    "edit.CC": _rates(_cc, lambda r: (1 - r) ** 4),
    "edit.INV": _effects(_inv, lambda r: r),
    "memory.drop": _pairs(_drop, lambda q: (1 - q, 0.0)),
    "memory.drop.noisy": _pairs(_noisy_drop, lambda p, q: (p * (1 - q), q * (1 - p))),
    "evidence.Q.recency": _effects(_ends(laws.recency_weighted), _recency_ends),
    "evidence.Q.middle_blind": _effects(_ends(laws.middle_blind), lambda d: d),
    "evidence.L.recency": _pairs(_lean, _lean_shares),
    "documents.accuracy": _rates(_attribution, lambda q: 1 - q),
    "documents.D": _effects(_beyond_repeats(laws.misattributes), lambda q: 0.8 * q * q),
    "consistency.drift": Estimate(_drifts, lambda n, **law: None),
    "consistency.same": _pairs(_served, lambda differ: (differ / 2, differ / 2)),
    "knowledge.fades": Estimate(_fading, lambda n, **law: None),
    "knowledge.follows": _rates(_share, lambda p: p),
    "failure.share": _rates(_share, lambda p: p),
}
