"""Failure: what undoes it, and shares of causes."""

import pytest

from whybox.statistics.behaviour.failure import Step, shares, unexplained
from whybox.statistics.intervals import Rate, wilson


@pytest.mark.parametrize(
    ("right", "retries", "shams", "undoes"),
    [
        (5, 0, (0, 0, 0, 1, 0), True),
        (4, 1, (3, 0, 0, 0, 0), True),
        (3, 0, (0, 0, 0, 0, 0), False),
        (5, 2, (0, 0, 0, 0, 0), False),
        (5, 0, (4, 0, 0, 0, 0), False),
    ],
)
def test_a_step_undoes_what_retries_and_shams_do_not(
    right: int, retries: int, shams: tuple[int, ...], undoes: bool
) -> None:
    step = Step(Rate(right, 5), Rate(retries, 5), tuple(Rate(hits, 5) for hits in shams))
    assert step.undoes is undoes
    assert step.noise is (retries > 1)


def test_nothing_run_undoes_nothing() -> None:
    assert Step(Rate(0, 0), Rate(0, 5), ()).undoes is False


def test_shares_always_say_what_stayed_open() -> None:
    found = shares(["order", "knowledge", "order", "not-determined"])
    assert [(share.code, share.rate) for share in found] == [
        ("order", Rate(2, 4)),
        ("knowledge", Rate(1, 4)),
        ("not-determined", Rate(1, 4)),
    ]
    assert found[0].interval == wilson(Rate(2, 4))
    assert [share.code for share in shares([])] == ["not-determined"]
    assert shares([])[0].interval is None
    assert unexplained(["order", "not-determined"]) == Rate(1, 2)
