"""Classes from a row of the table: each threshold from both sides."""

import pytest

from whybox.measure import thresholds
from whybox.measure.classes import CLASSES, classes_of

EDGE = 1e-6


@pytest.mark.parametrize(
    ("column", "least", "name"),
    [
        ("sink", thresholds.SINK, "sink"),
        ("previous", thresholds.PREVIOUS, "previous"),
        ("self", thresholds.DIAGONAL, "diagonal"),
        ("local", thresholds.LOCAL, "local"),
        ("duplicate", thresholds.DUPLICATE, "duplicate"),
        ("stripe", thresholds.STRIPE, "vertical stripe"),
        ("entropy_norm", thresholds.FLAT, "flat"),
    ],
)
def test_above_its_threshold_and_not_at_it(column: str, least: float, name: str) -> None:
    assert classes_of({column: least + EDGE}) == (name,)
    assert classes_of({column: least}) == ("mixed",)
    assert classes_of({column: None}) == ("mixed",)


def test_induction_needs_ten_times_its_control() -> None:
    assert classes_of({"induction": 0.5, "induction_control": 0.05}) == ("induction",)
    assert classes_of({"induction": 0.5, "induction_control": 0.051}) == ("mixed",)


def test_an_anchor_needs_twice_the_share_of_its_tokens() -> None:
    assert classes_of({"anchor": 0.5, "anchor_tokens": 0.24}) == ("global anchor",)
    assert classes_of({"anchor": 0.5, "anchor_tokens": 0.25}) == ("mixed",)
    assert classes_of({"anchor": 0.3, "anchor_tokens": 0.1}) == ("mixed",)


def test_a_head_may_have_several_and_a_window_binds() -> None:
    assert classes_of({"sink": 0.5, "local": 0.7}, window_bound=True) == ("sink", "local", "window-bound")
    assert len({each.name for each in CLASSES}) == len(CLASSES) == 11
