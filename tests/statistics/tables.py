"""Every table that a design can give, with its probability: exact coverage and error rates by enumeration."""

from collections.abc import Callable, Iterator

from scipy import stats


def pairs_tables(n: int, worse: float, better: float) -> Iterator[tuple[int, int, float]]:
    """(worse, better, probability) of n pairs, all tables down to 1e-10."""
    for b in range(n + 1):
        of_b = float(stats.binom.pmf(b, n, worse))
        if of_b < 1e-10:
            continue
        share = better / (1 - worse)
        for c in range(n - b + 1):
            if (weight := of_b * float(stats.binom.pmf(c, n - b, share))) > 1e-10:
                yield b, c, weight


def coverage(
    tables: Iterator[tuple[int, int, float]], interval: Callable[[int, int], tuple[float, float] | None], truth: float
) -> float:
    """Probability that the interval of a table holds the truth."""
    total = 0.0
    for b, c, weight in tables:
        bounds = interval(b, c)
        assert bounds is not None
        total += weight * (bounds[0] - 1e-12 <= truth <= bounds[1] + 1e-12)
    return total
