"""Outcomes beyond right and not right: which candidate, which span, hedged, abstained, cut off; and any text at all."""

import pickle
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from whybox.errors import CaseError
from whybox.items.lenient import is_number
from whybox.items.scoring import (
    AbstainScorer,
    OneValueScorer,
    Scorer,
    Table,
    bounds_in,
    choice_scorer,
    lenient_number_scorer,
    name_scorer,
    number_scorer,
    tables,
    text_scorer,
    word_scorer,
)
from whybox.items.scoring.finders import NumberCandidate

DAYS = number_scorer("7 days", ["30 days"])
TIAN = number_scorer("7天", ["30天"])


@pytest.mark.parametrize(
    ("text", "outcome", "candidate", "matched"),
    [
        ("A refund takes 30 days.", "wrong", "30 days", "30 days"),
        ("It takes **7**  days, not 30.", "right", "7 days", "7**  days"),
        ("It takes seven days.", "right", "7 days", "seven days"),
        ("7 or 30 days", "hedged", None, "7 or 30 days"),
        ("7 or 30 days?\nAnswer: 30 days", "wrong", "30 days", "30 days"),
        ("Perhaps 30 days.\nAnswer:\n7 days", "right", "7 days", "7 days"),
        ("not 7 days", "invalid", None, None),
        ("not 7 or 30 days", "invalid", None, None),
        ("neither 7 nor 30 days", "invalid", None, None),
        ("not only 7 days", "right", "7 days", "7 days"),
        ("instead of 30 days it takes 7 days", "right", "7 days", "7 days"),
        ("It isn't 30 days; it's 7 days.", "right", "7 days", "7 days"),
        ("30 days is wrong. 7 days.", "right", "7 days", "7 days"),
        ("The documents do not say.", "abstain", None, "do not say"),
        ("It is blue.", "invalid", None, None),
        ("within seven (7) days", "right", "7 days", "7) days"),
        ("within 7 (seven) days", "right", "7 days", "seven) days"),
        ("There is no information about refunds.", "abstain", None, "no information"),
        ("I cannot help with that.", "abstain", None, "cannot help"),
        ("not 30, not 14, but 7 days", "right", "7 days", "7 days"),
        ("７\u200b days", "right", "7 days", "７\u200b days"),
    ],
)
def test_outcome_and_span(text: str, outcome: str, candidate: str | None, matched: str | None) -> None:
    score = DAYS.score(text)
    assert (score.outcome, score.candidate) == (outcome, candidate)
    assert (None if score.span is None else text[slice(*score.span)]) == matched


@pytest.mark.parametrize(
    ("text", "outcome", "matched"),
    [
        ("退款需要三十天。", "wrong", "三十天"),
        ("不是三十天，而是七天", "right", "七天"),
        ("不是7天或30天", "invalid", None),
        ("文中没有提到退款时间。", "abstain", "没有提到"),
        ("答案：7 天", "right", "7 天"),
    ],
)
def test_chinese_outcomes(text: str, outcome: str, matched: str | None) -> None:
    score = TIAN.score(text)
    assert score.outcome == outcome
    assert (None if score.span is None else text[slice(*score.span)]) == matched


SEVEN = [
    ("7", "right", "7", ()),
    ("17", "invalid", None, ()),
    ("7 or 8", "hedged", "7 or 8", ()),
    ("not 7", "invalid", None, ("negated",)),
    ("7.0", "right", "7.0", ()),
    ("-7", "invalid", None, ()),
    ("$7.00", "right", "$7.00", ()),
    ("70%", "invalid", None, ()),
]


@pytest.mark.parametrize("words", [True, False])
@pytest.mark.parametrize(("text", "outcome", "matched", "flags"), SEVEN)
def test_gold_seven(text: str, outcome: str, matched: str | None, flags: tuple[str, ...], words: bool) -> None:
    score = number_scorer("7", ["8"], words=words).score(text)
    assert (score.outcome, score.flags) == (outcome, flags)
    assert (None if score.span is None else text[slice(*score.span)]) == matched


@pytest.mark.parametrize("text", ["7 or 8", "seven or eight", "7或8", "1, 2, 3, 4, 5, 6, 7, 8, 9", "6、7、8", "5 to 7"])
def test_printing_everything_is_not_right_even_where_no_other_value_is_known(text: str) -> None:
    score = number_scorer("7").score(text)
    assert score.outcome == "hedged"
    assert "7" in score.several
    assert len(score.several) > 1


@pytest.mark.parametrize("text", ["7 or 9 days", "7 to 9 days", "It takes 7 days or 9 days."])
def test_a_choice_is_not_made_by_one_of_several_values(text: str) -> None:
    contents = {"A": "3 days", "B": "7 days"}
    assert choice_scorer("B", ("A", "B"), contents).score("7 days").right
    assert choice_scorer("B", ("A", "B"), contents).score(text).outcome == "hedged"


@pytest.mark.parametrize("text", ["7", "seven (7)", "7 or seven", "On page 3, 7 is named.", "7, not 8", "3 weeks or 7"])
def test_one_value_is_right_beside_what_is_no_alternative(text: str) -> None:
    assert number_scorer("7").score(text).outcome == "right"


def test_number_words_are_read_only_where_declared() -> None:
    assert number_scorer("7").score("seven").outcome == "right"
    assert number_scorer("7", words=False).score("seven").outcome == "invalid"


def test_a_cut_text_without_an_answer_is_an_error_and_with_one_is_not() -> None:
    assert DAYS.score("A refund is", "length").outcome == "error"
    assert DAYS.score("A refund is", "length").flags == ("truncated",)
    assert DAYS.score("A refund takes 7 days and", "length").outcome == "right"
    assert DAYS.score("A refund is", "stop").outcome == "invalid"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("The depot keeps parcels for 48 days.\nThe depot", "invalid"),
        ("38天。20", "invalid"),
        ("It takes 48 days. It", "invalid"),
        ("It takes 48 days", "error"),  # 48 days and a half?
        ("The depot has 48 shelves.\nThe", "error"),
        ("It takes 4.", "error"),
    ],
)
def test_another_value_whose_sentence_ended_is_given_and_not_cut(text: str, outcome: str) -> None:
    assert DAYS.score(text, "length").outcome == outcome


def test_no_content_is_an_error_and_empty_content_is_invalid() -> None:
    assert DAYS.score(None).flags == ("no-content",)
    assert DAYS.score(None).outcome == "error"
    assert DAYS.score("").outcome == "invalid"


def test_abstention_expected_and_a_value_given_is_wrong_with_that_value() -> None:
    scorer = AbstainScorer(DAYS)
    assert scorer.score("The text does not say.").outcome == "right"
    assert (scorer.score("30 days").outcome, scorer.score("30 days").candidate) == ("wrong", "30 days")
    assert scorer.score("7 days").outcome == "wrong"


def test_a_letter_against_its_own_content_is_a_conflict() -> None:
    scorer = choice_scorer("B", contents={"A": "3 days", "B": "7 days", "C": "30 days"})
    conflict = scorer.score("B) 30 days")
    assert (conflict.outcome, conflict.flags) == ("invalid", ("conflict",))
    assert scorer.score("30 days").candidate == "C"
    assert "content-only" in scorer.score("seven days").flags
    assert scorer.score("A refund takes a while.").outcome == "invalid"


def test_the_longer_candidate_owns_its_words() -> None:
    scorer = word_scorer("New York", ["New York State"])
    assert scorer.score("in New York State").candidate == "New York State"
    assert scorer.score("in New\nYork").outcome == "right"


def test_names_keep_their_kind_where_only_the_kind_differs() -> None:
    scorer = name_scorer("Velmora depot", ["Velmora office"])
    assert scorer.score("the Velmora office").candidate == "Velmora office"
    assert scorer.score("Velmora").outcome == "invalid"


@pytest.mark.parametrize(
    ("right", "text", "outcome"),
    [
        ("no", "No, it is not.", "right"),
        ("是", "不是。", "wrong"),
        ("K7Q-19", "K7Q-190", "invalid"),
        ("Germany", "It was Germany.", "right"),
    ],
)
def test_text_kind_picks_its_scorer_by_the_answer(right: str, text: str, outcome: str) -> None:
    assert text_scorer(right).score(text).outcome == outcome


def test_a_number_answer_without_number_is_refused() -> None:
    with pytest.raises(CaseError, match="expected a number, found 'soon'"):
        NumberCandidate.parse("soon")


def test_an_unlisted_unit_stands_for_itself() -> None:
    scorer = number_scorer("7 parcels", ["9 parcels"])
    assert scorer.score("It keeps 7 parcels.").outcome == "right"
    assert scorer.score("It keeps 7 boxes.").outcome == "invalid"


@pytest.mark.parametrize("table", tables(), ids=lambda table: table.name)
def test_scorers_travel_to_other_processes(table: Table) -> None:
    there = pickle.loads(pickle.dumps(table.scorer))
    for text in (*table.must, *table.must_not):
        assert there.score(text) == table.scorer.score(text)


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        ("7 days", True),
        ("七天", True),
        ("-3", True),
        ("$7", True),
        ("K7Q-19", False),
        ("Room 7", False),
        ("Paris", False),
    ],
)
def test_is_number(answer: str, number: bool) -> None:
    assert is_number(answer) == number


SCORERS = [table.scorer for table in tables()]
FRAGMENTS = st.sampled_from(
    [
        "7",
        "30",
        " days",
        "天",
        "七",
        "not ",
        "不是",
        "**",
        "~~",
        "½",
        "Answer:",
        "\n",
        "B",
        "(",
        "{",
        '"days"',
        "no",
        "。",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(st.one_of(FRAGMENTS, st.text(max_size=3)), max_size=24).map("".join))


@settings(deadline=None)
@given(text=TEXTS, scorer=st.sampled_from(SCORERS), cut=st.sampled_from([None, "stop", "length"]))
def test_any_text_gets_an_outcome_and_spans_stay_inside(text: str, scorer: Scorer, cut: str | None) -> None:
    score = scorer.score(text, cut)
    assert score.outcome in ("right", "wrong", "abstain", "hedged", "invalid", "error")
    if score.span is not None:
        start, end = score.span
        assert 0 <= start < end <= len(text)
    assert (score.outcome == "wrong") <= (score.candidate is not None)


@settings(deadline=None)
@given(value=st.integers(0, 10**6), other=st.integers(0, 10**6), tail=st.sampled_from(["", ".", " only.", "\n"]))
def test_a_number_matches_exactly_itself(value: int, other: int, tail: str) -> None:
    scorer = number_scorer(f"{value} days")
    assert scorer.score(f"It takes {value} days{tail}").outcome == "right"
    assert scorer.score(f"It takes {value:,} days{tail}").outcome == "right"
    assert scorer.score(f"It takes {other} days{tail}").right == (other == value)


AMOUNTS = st.tuples(st.integers(1, 400), st.sampled_from(["hours", "minutes", "weeks", "months", "years", "days"]))
JOINTS = st.sampled_from([" ", ", ", " and ", ", and ", " plus ", " or ", " (", " as well as ", " + "])


@settings(deadline=None)
@given(amount=AMOUNTS, joint=JOINTS, before=st.booleans())
def test_another_quantity_beside_a_right_one_is_never_right(amount: tuple[int, str], joint: str, before: bool) -> None:
    value, unit = amount
    other, own = f"{value} {unit}", "7 days"
    text = f"It takes {other}{joint}{own}." if before else f"It takes {own}{joint}{other}."
    says_it_again = (value, unit) in [(7, "days")] or (joint in (", ", " or ", " (") and amount in AGAIN)
    assert number_scorer(own).score(text).right == says_it_again


AGAIN = [(1, "weeks"), (168, "hours")]


@pytest.mark.parametrize(
    ("right", "text", "outcome"),
    [
        ("7 days and 12 hours", "It takes 7 days, 12 hours.", "right"),
        ("7 days and 12 hours", "It takes 7 days.", "invalid"),
        ("more than 7 days", "over 7 days", "right"),
        ("more than 7 days", "7 days", "invalid"),
        ("450 dollars", "450 dollars a month", "right"),
        ("2 days", "7 weeks and 2 days", "invalid"),
        ("7 km", "7 km/h", "invalid"),
    ],
)
def test_what_stands_around_a_number_belongs_to_its_value(right: str, text: str, outcome: str) -> None:
    assert number_scorer(right).score(text).outcome == outcome


def test_a_longer_name_is_another_answer() -> None:
    score = name_scorer("Anna Berg", ["Tom Stone"]).score("It is led by Anna Berg-Mann.")
    assert (score.outcome, score.candidate) == ("wrong", "anna berg-mann")
    assert name_scorer("李明").score("由李明华负责").candidate == "李明华"
    assert name_scorer("李明", follows="讲").score("由李明讲课").outcome == "right"


@pytest.mark.parametrize(
    ("text", "outcome"),
    [
        ("It takes 7 weeks.", "right"),
        ("7", "right"),
        ('{"weeks": 7}', "right"),
        ("7 weeks, not 7 days", "right"),
        ("7 weeks for 3 people", "right"),
        ("A repair takes 7 days. A repair takes 7 weeks.", "hedged"),
        ("7 weeks, and an exchange within a month", "hedged"),
        ('{"days": 7}', "invalid"),
        ('{"days": 7, "weeks": 7}', "hedged"),
        ("9 weeks", "invalid"),
    ],
)
def test_a_form_is_told_from_a_value_only_where_one_value_stands(text: str, outcome: str) -> None:
    assert OneValueScorer(lenient_number_scorer("7 weeks"), "7 weeks").score(text).outcome == outcome


def test_an_answer_may_be_worded_as_its_document_words_it() -> None:
    assert bounds_in("7 days", ("The shop is open 7 days a week.", "Pay in 9 days.")) == {"rate"}
    assert bounds_in("Anna", ("Anna sells more than 7 boats.",)) == frozenset()
    shop = number_scorer("7 days", allowed=frozenset({"rate"}))
    assert shop.score("We are open 7 days a week.").right
    assert not shop.score("more than 7 days").right


@pytest.mark.parametrize(
    "unit",
    [
        "7 days ",
        "Will ",
        "李明",
        "7 days and 4 hours ",
        "not 7 days or 30 days ",
        "7天或30天",
        "e" + "\u0301" * 50,
        "A or B, ",
        "{",
        "~~*",
    ],
)
def test_endless_repetition_stays_cheap(unit: str) -> None:
    text = unit * (4_000 // len(unit))
    for table in tables():
        start = process_time()
        table.scorer.score(text)
        assert process_time() - start < 2.0, table.name  # quadratic work takes far longer


def test_options_that_are_said_again_are_no_answer() -> None:
    scorer = choice_scorer("B", ("A", "B"), {"A": "30 days", "B": "7 days"})
    listed = "A) 30 days\nB) 7 days\n"
    assert scorer.score(f"{listed}\nThe answer is B) 7 days").right
    assert scorer.score(f"{listed}\nThe answer is A) 30 days").outcome == "wrong"
    assert scorer.score(f"{listed}The answer is:", "length").outcome == "error"
    assert scorer.score(listed).outcome == "invalid"
    assert scorer.score("A) 30 days and B) 7 days").outcome == "hedged"
    assert scorer.score("B) 7 days").right
    span = scorer.score(f"{listed}The answer is B").span
    assert span is not None
    assert f"{listed}The answer is B"[slice(*span)] == "B"
