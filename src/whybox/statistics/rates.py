"""Exact one-sided tests of one rate against a limit. Intervals are for showing; these decide."""

from scipy.stats import binomtest

from whybox.statistics.intervals import Rate


def p_rate_above(rate: Rate, limit: float) -> float:
    """p of "the rate is above the limit": P(K ≥ k) at the limit; 1 when nothing was counted."""
    return float(binomtest(rate.hits, rate.n, limit, "greater").pvalue) if rate.n else 1.0


def p_rate_below(rate: Rate, limit: float) -> float:
    """p of "the rate is below the limit": P(K ≤ k) at the limit; 1 when nothing was counted."""
    return float(binomtest(rate.hits, rate.n, limit, "less").pvalue) if rate.n else 1.0
