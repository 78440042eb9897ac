"""Laws of targets whose behaviour is known by construction, drawn as tables of outcomes [item arm run].

Each says what a probe must recover. Items are independent, so many runs may be drawn as one long table.
"""

import numpy as np

from whybox.statistics.designs import orders

Table = np.ndarray


def tie_flipper(generator: np.random.Generator, items: int, epsilon: float, arms: int = 4, runs: int = 2) -> Table:
    """Each call flips with ε: F = F₀ = 2ε(1 − ε), D = 0."""
    return generator.binomial(1, epsilon, (items, arms, runs))


def item_biased(generator: np.random.Generator, items: int, b: float, k: int = 4, runs: int = 2) -> Table:
    """A share b of the items always answers with the first unit: D = b (every order of a square starts otherwise)."""
    firsts = np.broadcast_to(orders(k)[:, 0][None, :, None], (items, len(orders(k)), runs))
    biased = generator.random((items, 1, 1)) < b
    return np.where(biased, firsts, k)


def position_biased(generator: np.random.Generator, items: int, b: float, k: int = 4, runs: int = 2) -> Table:
    """Per call the first unit with probability b, else the right one: D = b², F₀ = 2b(1 − b)(k − 1)/k."""
    rows = orders(k)
    right = generator.integers(k, size=(items, 1, 1))
    firsts = np.broadcast_to(rows[:, 0][None, :, None], (items, len(rows), runs))
    return np.where(generator.random(firsts.shape) < b, firsts, right)


def brittle(generator: np.random.Generator, items: int, r: float, runs: int = 2) -> Table:
    """Any edit changes the answer of an item with r, for good. Arms: base, DIR, three INV: CC = (1 − r)⁴.

    DIR's own answer is 1, the base's 0; a broken answer is 2.
    """
    broken = generator.random((items, 5, 1)) < r
    broken[:, 0] = False
    meant = np.array([0, 1, 0, 0, 0])[None, :, None]
    return np.broadcast_to(np.where(broken, 2, meant), (items, 5, runs)).copy()


def forgets_at(generator: np.random.Generator, items: int, after: int, q: float, depths: tuple[int, ...]) -> Table:
    """Obeys up to turn t₀, then with probability q at each depth anew: [item depth run]."""
    chance = np.where(np.array(depths) <= after, 1.0, q)
    return (generator.random((items, len(depths), 1)) < chance[None, :, None]).astype(int)


def recency_weighted(generator: np.random.Generator, items: int, w: float, k: int = 5) -> Table:
    """Passage j is picked with probability ∝ w^(k − j), right where it is the right one: marks [item place run]."""
    weights = w ** np.arange(k - 1, -1, -1.0)
    return (generator.random((items, k, 1)) < (weights / weights.sum())[None, :, None]).astype(int)


def middle_blind(generator: np.random.Generator, items: int, d: float, k: int = 5) -> Table:
    """Right at both ends, inside with 1 − d: Q = d, L = 0."""
    chance = np.full(k, 1 - d)
    chance[[0, -1]] = 1.0
    return (generator.random((items, k, 1)) < chance[None, :, None]).astype(int)


def honest(generator: np.random.Generator, items: int, p: float, arms: int = 5, runs: int = 1) -> Table:
    """Right for a share p of the items, in all arms: every effect is 0."""
    return np.broadcast_to(generator.random((items, 1, 1)) < p, (items, arms, runs)).astype(int)


def misattributes(generator: np.random.Generator, items: int, q: float, k: int = 3, runs: int = 2) -> Table:
    """Names the first document's source with probability q, else the right one, source 0: accuracy 1 − q(k − 1)/k."""
    rows = orders(k)
    firsts = np.broadcast_to(rows[:, 0][None, :, None], (items, len(rows), runs))
    return np.where(generator.random(firsts.shape) < q, firsts, 0)


def drifting(generator: np.random.Generator, items: int, rate: float, positions: int = 64) -> Table:
    """Whether each position's most likely token is another: [item q]."""
    return generator.random((items, positions)) < rate


def dated(
    generator: np.random.Generator, months: int, a_month: int, step: int, before: float, after: float
) -> tuple[Table, Table]:
    """Right and asked facts of every month: λ before the step, γ from it on."""
    asked = np.full(months, a_month)
    return generator.binomial(asked, np.where(np.arange(months) < step, before, after)), asked
