"""Where an answer stands in a text, and what an outcome is worth."""

import numpy as np
import pytest

from whybox.cause.decision import Decision, Reading, mention, place_of, read_at, shared
from whybox.items.scoring import number_scorer


@pytest.mark.parametrize(
    ("text", "answer", "place"),
    [
        ("within 7 days.", "7 days", 7),
        ("17 days, then 7 days", "7 days", 14),
        ("17 days", "7 days", None),
        ("7 daysoff", "7 days", None),
        ("退款在7天内", "7天", 3),
        ("Velmoran", "Velmora", None),
        ("", "x", None),
    ],
)
def test_an_answer_is_never_found_inside_a_longer_word_or_number(text: str, answer: str, place: int | None) -> None:
    assert mention(text, answer) == place


def test_the_metric_is_a_difference_of_logits() -> None:
    decision = Decision("own", "", (1, 2), right=(0, 9), wrong=(2,), answer_row=1)
    found = read_at(np.array([1.0, 0.0, 3.0]), decision)
    assert found.ld == -2.0
    assert found.right - found.wrong == pytest.approx(-2.0)
    assert np.exp(found.right) == pytest.approx(np.e / (np.e + 1 + np.e**3))
    assert decision.row == 1
    assert decision.flags == ()


def test_effects_are_differences_of_readings() -> None:
    assert Reading(1.0, -2.0, -3.0).less(Reading(0.5, -1.0, -1.0)) == Reading(0.5, -1.0, -2.0)


def test_shared_ids() -> None:
    assert shared((1, 2, 3), (1, 2, 4)) == 2
    assert shared((1, 2), (1, 2, 4)) == 2
    assert shared((), (1,)) == 0


RIGHT, WRONG = "7 days", "30 days"


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("A refund takes 7 days. Exchanges take 30 days.", 15),  # both: where the first is stated
        ("Exchanges take 30 days, refunds 7 days.", 15),
        ("It takes 30 days, not 7 days.", 9),
        ("It is not 30 days but 7 days.", 22),  # right: never where the other is denied
        ("It has a 30-day limit.", 9),
        ("Nobody knows.", None),
    ],
)
def test_where_the_answer_stands(text: str, place: int | None) -> None:
    score = number_scorer(RIGHT, (WRONG,)).score(text)
    assert place_of(text, score, RIGHT, WRONG) == place
