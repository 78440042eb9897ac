"""Two one-sided tests: the only way in which anything here is called the same."""

from whybox.statistics.effects import Effects, p_mean_above, p_mean_below
from whybox.statistics.paired import Pairs, p_harm_above, p_harm_below


def p_same(pairs: Pairs, margin: float) -> float:
    """p of "the rates differ by less than the margin", which is the larger p of both sides.

    At .05 it says that the 90 % interval lies inside ±margin.
    """
    return max(p_harm_below(pairs, margin), p_harm_below(pairs.turned, margin))


def p_other(pairs: Pairs, margin: float) -> float:
    """p of "the rates differ by more than the margin", in either direction."""
    return min(p_harm_above(pairs, margin), p_harm_above(pairs.turned, margin))


def p_mean_same(effects: Effects, margin: float) -> float:
    """p of "the mean effect lies inside ±margin"."""
    return max(p_mean_below(effects, margin), p_mean_above(effects, -margin))


def p_mean_other(effects: Effects, margin: float) -> float:
    """p of "the mean effect lies outside ±margin"."""
    return min(p_mean_above(effects, margin), p_mean_below(effects, -margin))
