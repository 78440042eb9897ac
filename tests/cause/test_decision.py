"""Where an answer stands in a text, and what an outcome is worth."""

import numpy as np
import pytest

from whybox.cause.answers import Asked
from whybox.cause.asking import Settings
from whybox.cause.decision import Decision, Reading, mention, place_of, read_at, shared
from whybox.items.case import Case
from whybox.items.scoring import number_scorer
from whybox.text.prompt import Prompt


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


CHOICE = "id: c\ntext: How long?\nanswer: {right: B, wrong: A, kind: choice, options: {A: 30 days, B: 7 days}}\n"


@pytest.mark.parametrize(
    ("text", "compared", "place"),
    [
        ("A refund takes 7 days.", ("7 days", "30 days"), 15),  # no letter: "A" opens a sentence
        ("A refund takes 30 days.", ("7 days", "30 days"), 15),
        ("B", ("B", "A"), 0),
        ("The answer is A.", ("B", "A"), 14),
        ("Nobody knows.", ("B", "A"), None),
    ],
)
def test_a_choice_answered_in_words_is_compared_in_words(
    text: str, compared: tuple[str, str], place: int | None
) -> None:
    asked = Asked(Case.parse(CHOICE).filled(), Prompt((), (), (), "", b""), "A", Settings())
    score = asked.score(text, stopped=True)
    assert asked.compared(score) == compared
    assert place_of(text, score, *compared) == place


def test_options_of_which_one_goes_on_as_the_other_are_compared_by_their_letters() -> None:
    case = Case.parse(CHOICE.replace("30 days", "7 days and more")).filled()
    asked = Asked(case, Prompt((), (), (), "", b""), "A", Settings())
    assert asked.compared(asked.score("It takes 7 days.", stopped=True)) == ("B", "A")
