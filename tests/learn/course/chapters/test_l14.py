"""Chapter 14: dilution worked out and measured, places and turns with intervals, plans and gates."""

import numpy as np
import pytest

from tests.learn.course.driving import (
    assert_whole,
    chapter,
    computations,
    failed,
    figure,
    right_numbers,
    run,
)
from tests.learn.course.grounds import number, on_smollm2
from whybox.learn.course.chapter import Computed
from whybox.learn.course.chapters import l14, l14_once
from whybox.statistics.gates import RateAtLeast
from whybox.statistics.intervals import Rate

WORDS, COMPUTED = chapter("l14"), computations("l14")
PLACEMENT = COMPUTED.tasks["placement"]
RIGHT = """
def order(item, run, k):
    return [(place - run) % k for place in range(k)]
"""


@pytest.mark.model
@pytest.mark.thorough
def test_the_chapter_is_whole() -> None:
    assert_whole(WORDS, COMPUTED, on_smollm2())


@pytest.mark.model
def test_what_is_measured_now_fits_what_was_measured_once() -> None:
    """The two questions are the first of the sixty, and greedy answers repeat."""
    placed = on_smollm2().once(l14._placed)
    now = np.array([one.right for one in placed]).reshape(l14.ITEMS, l14.PLACES)
    assert (now == l14_once.places()[: l14.ITEMS]).all()
    assert [one.depth for one in placed[: l14.PLACES]] == [0, 0.25, 0.5, 0.75, 1]


@pytest.mark.model
def test_share_falls_and_lift_rises() -> None:
    """The sentence says so; the first share is that of case R."""
    rows = COMPUTED.tables["filler"](on_smollm2())
    shares, lifts = [number(row[1]) for row in rows], [number(row[2]) for row in rows]
    assert [row[0] for row in rows] == [57, 100, 200, 500, 1000]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] == pytest.approx(0.0472, abs=0.001)
    assert lifts[0] < 0.5 < 1 < lifts[-1]


def test_right_answers() -> None:
    ground = on_smollm2()
    (asked,) = [one for one in WORDS.exercises if one.id == "advantage"]
    assert asked.kind == "numbers"
    assert right_numbers(asked, COMPUTED, ground) == pytest.approx((7.013, 4.615), abs=5e-4)
    assert figure(Computed(figure="context.thinned", take=None), COMPUTED, ground) == pytest.approx(0.0010989, abs=5e-8)
    assert [number(row[1]) for row in COMPUTED.tables["calculator"](ground)] == pytest.approx(
        [0.1, 0.0108911, 0.0010989, 0.00011], abs=5e-7
    )
    assert COMPUTED.answers["shape"](ground) == ("u",)
    assert COMPUTED.answers["verdicts"](ground) == ("pass", "inconclusive", "fail", "inconclusive")


def test_runs_that_were_made_once() -> None:
    """Counts as the tables tell them; Q and L by hand from them."""
    marks = l14_once.places()
    assert marks.shape == (60, 5)
    assert marks.sum(axis=0).tolist() == [32, 11, 10, 9, 36]
    q = (32 + 36) / 120 - (11 + 10 + 9) / 180
    assert COMPUTED.figures["l14.ends"]()[0] == pytest.approx(q)  # type: ignore[index]
    assert COMPUTED.figures["l14.lean"]()[0] == pytest.approx(4 / 60)  # type: ignore[index]
    assert l14_once.WITH_RULE[0] < l14_once.WITH_RULE[-1] == l14_once.WITHOUT_RULE[-1]


def test_exact_gates_at_their_edges() -> None:
    """59 of 59 and no fewer show 95 %."""
    assert [l14.verdict(RateAtLeast(0.95), (Rate(n, n),)) for n in (58, 59)] == ["inconclusive", "pass"]


@pytest.mark.parametrize("seed", range(4))
def test_a_plan_that_is_right(seed: int) -> None:
    assert failed(run(PLACEMENT, RIGHT, seed)) == ""
    by_item = RIGHT.replace("(place - run) % k", "(place - run - item) % k")
    assert failed(run(PLACEMENT, by_item, seed)) == ""


def ordered(body: str) -> str:
    return f"import numpy as np\n\ndef order(item, run, k):\n    {body}\n"


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("return np.random.default_rng(0).permutation(k)", "every passage at every place"),
        ("return np.random.default_rng((item, run)).permutation(k)", "equally often"),
        ("return [*range(1, run + 1), 0, *range(run + 1, k)]", "within an item"),
        ("return [0] * k", "every passage once"),
        ("return list(range(k - 1))", "shape"),
        ("return [place * (run + 1) % k for place in range(k)]", "every passage once"),
        ("return [(place + run * (2 + place % 2)) % k for place in range(k)]", "every passage once"),
    ],
)
def test_plans_that_are_wrong(body: str, told: str) -> None:
    assert told in failed(run(PLACEMENT, ordered(body)))


def test_the_mirrored_square_is_as_good() -> None:
    assert failed(run(PLACEMENT, ordered("return [(run - place) % k for place in range(k)]"))) == ""
