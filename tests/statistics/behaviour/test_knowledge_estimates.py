"""Knowledge: priors, conflicts, boundaries."""

import numpy as np
import pytest

from whybox.statistics.behaviour import knowledge
from whybox.statistics.behaviour.knowledge import FOLLOWS_PRIOR, FOLLOWS_TEXT, NEITHER
from whybox.statistics.calls import LOST
from whybox.statistics.intervals import Rate
from whybox.statistics.unknown import Unknown


def test_a_prior_takes_four_of_five() -> None:
    assert knowledge.prior(["Paris", "Paris", "Lyon", "Paris", "Paris"]) == "Paris"
    assert knowledge.prior(["Paris", "Paris", "Paris", "Lyon", None]) is None
    assert knowledge.prior([None] * 5) is None


def test_stubborn_and_gullible() -> None:
    answers = np.array([FOLLOWS_TEXT] * 6 + [FOLLOWS_PRIOR] * 3 + [NEITHER, LOST])
    assert knowledge.followed(answers, FOLLOWS_TEXT) == Rate(6, 10)
    assert knowledge.followed(answers, FOLLOWS_PRIOR) == Rate(3, 10)
    assert knowledge.memorised(answers) == Rate(3, 9)


def test_the_boundary_has_three_ways() -> None:
    found = knowledge.boundary(
        ["right"] * 6 + ["wrong", "hedged", "abstain", "abstain", "error"], ["abstain"] * 4 + ["wrong", "error"]
    )
    assert (found.declined, found.over_refusal) == (Rate(4, 5), Rate(2, 10))
    assert (found.overall, found.attempted) == (Rate(6, 10), Rate(6, 8))
    assert found.balance == pytest.approx(2 * 0.6 * 0.75 / 1.35)


def test_refusing_everything_is_no_success() -> None:
    """Trap: refusals counted as perfect."""
    found = knowledge.boundary(["abstain"] * 20, ["abstain"] * 20)
    assert found.declined == Rate(20, 20)
    assert found.over_refusal == Rate(20, 20)
    assert found.overall == Rate(0, 20)
    assert found.balance == Unknown("nothing was attempted")


def test_the_hardest_tier_stops_at_the_first_that_falls_short() -> None:
    tiers = [Rate(60, 60), Rate(58, 60), Rate(40, 60), Rate(60, 60)]
    assert knowledge.hardest_tier(tiers, 0.8) == 1
    assert knowledge.hardest_tier([Rate(10, 20)], 0.8) is None
    assert knowledge.hardest_tier([Rate(5, 5)], 0.8) is None  # five of five does not show it
