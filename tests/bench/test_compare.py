"""Ratios and goals from made-up figures, worked by hand."""

import pytest

from bench import compare
from bench.contest import Absent, Compare, Cost, NearTruth, Peak, Row, SameTop, Shown, Speed, Start, Taken, WithinFloor


def row(
    compared: Compare, goal: float | None = 1.0, ours: tuple[str, ...] = ("us",), peers: tuple[str, ...] = ("them",)
) -> Row:
    return Row("row", "work", "peer", "contest", ours, peers, compared, goal)


def taken(seconds: float, peak: int = 0, **extra: object) -> Taken:
    return Taken(seconds, seconds, peak, extra)


@pytest.mark.parametrize(
    ("compared", "us", "them", "ratio"),
    [
        (Speed("tokens/s"), taken(0.5), taken(2.0), 4.0),
        (Cost(), taken(3.0), taken(2.0), 1.5),
        (SameTop(2), taken(1, effects=[0.1, -5, 3, 0]), taken(1, effects=[0.1, 0, 4, -2]), 0.5),
        (WithinFloor(), taken(1, effects=[0.1, 0.2], floor=0.02), taken(1, effects=[0.1, 0.23]), 1.5),
    ],
)
def test_ratios(compared: Compare, us: Taken, them: Taken, ratio: float) -> None:
    assert compare.figures(row(compared), {"us": us, "them": them}).ratio == pytest.approx(ratio)


def test_effects_are_held_against_the_truth() -> None:
    shown: dict[str, Shown] = {
        "us": taken(1, effects=[0.1, 9, 0.25, 9], floor=0.1),
        "them": taken(1, effects=[0.0, 0, 0.6, 0]),
        "exact": taken(1, effects=[0.1, 0.2]),
    }
    figures = compare.figures(row(NearTruth("exact", 2)), shown)
    assert (figures.ours, figures.theirs, figures.ratio) == pytest.approx((0.05, 0.4, 0.5))
    shown["exact"] = Absent("no float64")
    figures = compare.figures(row(NearTruth("exact", 2)), shown)
    assert (figures.ours, figures.ratio, figures.reason) == (None, None, "exact is not there to compare with")


def test_memory_is_held_against_its_limit() -> None:
    figures = compare.figures(row(Peak(4 * 10**9), peers=()), {"us": taken(9.0, 3 * 10**9)})
    assert (figures.ours, figures.theirs, figures.ratio) == (3.0, 4.0, 0.75)


def test_a_start_is_counted_without_the_import() -> None:
    shown: dict[str, Shown] = {"us": taken(5.0), "them": taken(2.0), "import": taken(4.0)}
    assert compare.figures(row(Start("import")), shown).ratio == 0.5
    shown["import"] = Absent("no torch")
    assert compare.figures(row(Start("import")), shown).reason == "no torch"


def test_our_fastest_meets_their_fastest() -> None:
    shown: dict[str, Shown] = {"us": taken(2.0), "us too": taken(1.0), "them": taken(4.0), "they": taken(3.0)}
    both = row(Speed("x"), ours=("us", "us too"), peers=("them", "they"))
    assert compare.figures(both, shown).ratio == 3.0


def test_one_of_ours_is_enough_but_every_peer_must_have_run() -> None:
    shown: dict[str, Shown] = {
        "us": taken(2.0),
        "us too": Absent("no int8"),
        "them": taken(4.0),
        "they": Absent("no pip"),
    }
    assert compare.figures(row(Speed("x"), ours=("us", "us too")), shown).ratio == 2.0
    both = compare.figures(row(Speed("x"), peers=("them", "they")), shown)
    assert (both.ours, both.theirs, both.ratio, both.reason) == (0.5, None, None, "they: no pip")


@pytest.mark.parametrize("compared", [Speed("x"), Cost(), SameTop(1), WithinFloor(), Peak(5)])
def test_an_absent_side_makes_no_figure(compared: Compare) -> None:
    figures = compare.figures(row(compared), {"us": Absent("not built"), "them": taken(1.0)})
    assert (figures.ours, figures.ratio, figures.reason) == (None, None, "us: not built")


@pytest.mark.parametrize("floor", [None, 0.0, "small"])
def test_effects_need_a_printed_floor(floor: object) -> None:
    shown = {"us": taken(1, effects=[0.1], floor=floor), "them": taken(1, effects=[0.1])}
    assert compare.figures(row(WithinFloor()), shown).reason == "our side printed no noise floor"


@pytest.mark.parametrize(
    ("compared", "ratio", "met"),
    [
        (Speed("x"), 1.2, True),
        (Speed("x"), 1.19, False),
        (Cost(), 1.2, True),
        (Cost(), 1.21, False),
        (Peak(1), 1.3, False),
        (SameTop(3), 0.9, False),
        (WithinFloor(), 0.9, True),
        (Speed("x"), None, None),
    ],
)
def test_goals(compared: Compare, ratio: float | None, met: bool | None) -> None:
    assert compare.reaches(row(compared, 1.2), ratio) is met


def test_a_row_without_a_goal_is_not_judged() -> None:
    assert compare.reaches(row(Speed("x"), None), 0.1) is None
