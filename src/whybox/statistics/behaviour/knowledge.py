"""Conflict and boundary: does the text win over what the weights hold, and does the target know what it does not know?

answers [item dose]: what an answer follows, FOLLOWS_TEXT, FOLLOWS_PRIOR, NEITHER, or LOST.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer
from scipy.stats import hmean

from whybox.statistics.calls import LOST
from whybox.statistics.intervals import Rate, wilson
from whybox.statistics.unknown import Unknown

NEITHER, FOLLOWS_TEXT, FOLLOWS_PRIOR = 0, 1, 2
KNOWN = 4  # of five closed runs that must agree before a prior counts as known


def prior(closed_runs: Sequence[Hashable | None]) -> Hashable | None:
    """The answer that at least four of five closed runs gave; None where no prior is held (None: a lost call)."""
    counted = Counter(answer for answer in closed_runs if answer is not None).most_common(1)
    return counted[0][0] if counted and counted[0][1] >= KNOWN else None


def followed(answers: Integer[np.ndarray, "..."], what: int) -> Rate:
    """How often what came back follows the text (CB, where the text is wrong and the prior right) or the prior (PB)."""
    return Rate(int((answers == what).sum()), int((answers != LOST).sum()))


def memorised(answers: Integer[np.ndarray, "..."]) -> Rate:
    """M_R: answers from the prior, of those from prior or text."""
    held = int((answers == FOLLOWS_PRIOR).sum())
    return Rate(held, held + int((answers == FOLLOWS_TEXT).sum()))


@dataclass(frozen=True)
class Boundary:
    """declined: unanswerable questions that were declined. over_refusal: answerable ones that were.

    overall: right of all answerable. attempted: right of those that were tried. balance: harmonic mean of both.
    """

    declined: Rate
    over_refusal: Rate
    overall: Rate
    attempted: Rate
    balance: float | Unknown


def boundary(answerable: Sequence[str], unanswerable: Sequence[str]) -> Boundary:
    """From the outcomes of both kinds of question, as scorers name them; errors are left out of every rate."""
    asked = Counter(answerable)
    n = len(answerable) - asked["error"]
    overall, attempted = Rate(asked["right"], n), Rate(asked["right"], n - asked["abstain"])
    missing = Counter(unanswerable)
    declined = Rate(missing["abstain"], len(unanswerable) - missing["error"])
    return Boundary(declined, Rate(asked["abstain"], n), overall, attempted, _balance(overall, attempted))


def _balance(overall: Rate, attempted: Rate) -> float | Unknown:
    shares = overall.share, attempted.share
    if shares[0] is None or shares[1] is None:
        return Unknown("nothing was attempted")
    return float(hmean([shares[0], shares[1]])) if min(shares[0], shares[1]) > 0 else 0.0


def hardest_tier(tiers: Sequence[Rate], least: float) -> int | None:
    """The last tier, from easy to hard, up to which the lower bound of accuracy stays at or above `least`."""
    found: int | None = None
    for tier, rate in enumerate(tiers):
        bounds = wilson(rate)
        if bounds is None or bounds[0] < least:
            return found
        found = tier
    return found
