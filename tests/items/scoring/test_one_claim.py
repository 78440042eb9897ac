"""An answer that states its value and another one of the same unit is not right; what denies the other one is."""

import pytest

from whybox.items.scoring import (
    CandidateScorer,
    Scorer,
    choice_scorer,
    lenient_number_scorer,
    name_scorer,
    number_scorer,
)

KNOWN, UNKNOWN = number_scorer("7 days", ["30 days"]), number_scorer("7 days")
TIAN, ONLY_TIAN = number_scorer("7天", ["30天"]), number_scorer("7天")
SEVEN = number_scorer("7")

TWO_VALUES = [
    "It takes 7 days. Some say 30 days.",
    "Some say 30 days. It takes 7 days.",
    "It takes 7 days. You wait 30 days.",
    "7 days, 30 days",
    "7 days, 30 days for exchanges",
    "It takes 7 days. It may take up to 30 days.",
    "It takes 7 days. Others say thirty days.",
    "Officially 7 days; in practice 30 days.",
    "It takes 7 days, and it takes longer than 30 days.",
]
TWO_VALUES_ZH = [
    "需要7天。有人说30天。",
    "7天，30天",
    "有人说是30天，也有人说是7天。",
    "官方说法是7天；实际上要30天。",
    "需要7天，也可能要30天。",
    "七天，有时三十天",
]
# Of something else, as far as the words tell: hedged only where a case knows the other value as an answer.
OTHER_SUBJECT = [
    (KNOWN, UNKNOWN, "A refund takes 7 days, an exchange takes 30 days."),
    (KNOWN, UNKNOWN, "A refund takes 7 days. Exchanges are accepted for 30 days."),
    (KNOWN, UNKNOWN, "Refunds take 7 days (exchanges: 30 days)."),
    (KNOWN, UNKNOWN, "The longest wait is 7 days, and the shortest one is 30 days."),
    (TIAN, ONLY_TIAN, "退款7天，换货30天"),
    (TIAN, ONLY_TIAN, "退款需要7天。换货需要30天。"),
    (TIAN, ONLY_TIAN, "换货要30天，退款只要7天。"),
]
CALCULATIONS = [
    ("35 dollars", "Each day costs 5 dollars, so 7 days cost 35 dollars."),
    ("35 dollars", "30 dollars plus a fee of 5 dollars, which makes 35 dollars."),
    ("7 days", "The form takes 3 days and the bank takes 4 days, so it takes 7 days."),
    ("35元", "每天5元，7天一共35元。"),
]
ONE_VALUE = [
    "not 30 but 7 days",
    "It is not 30 days but 7 days.",
    "It takes 7 days, not 30 days.",
    "7 days rather than 30 days",
    "7 days. It never takes 30 days.",
    "30 days? No: 7 days.",
    "30 days... sorry, 7 days.",
    "It takes 30 days. Correction: it takes 7 days.",
    "It takes 30 days. No, 7 days.",
    "It takes 30 days, I mean 7 days.",
    "The longest wait is 7 days.",
    "It takes 7 days at most.",
    "7 days is the shortest of all.",
    "7 days (168 hours), that is one week",
    "7 days. Seven days, to be exact.",
    "7 or 30 days? Answer: 7 days",
    "Some say 30 days.\nAnswer: 7 days",
    "Send the form within 3 hours; the refund takes 7 days.",
    "It takes 7 days and costs 30 dollars.",
    "30 days is wrong. It takes 7 days.",
]
ONE_VALUE_ZH = [
    "不是30天，是7天",
    "不是30天，而是7天。",
    "需要7天，而不是30天。",
    "30天……不对，是7天。",
    "30天？不，7天。",
    "要30天，更正：7天。",
    "最长7天",
    "不超过7天",
    "7天，也就是一周",
    "有人说30天。\n答案：7天",
    "三小时内提交，7天后到账。",
    "30天是错的，应该是7天。",
]
# Values that no case lists, where the sentence itself says that they are not claimed now.
NOT_CLAIMED = [
    "Is it 30 days? It takes 7 days.",
    "It used to be 30 days, now it is 7 days.",
    "Previously 30 days; now 7 days.",
    "The shop opened 30 days ago. It takes 7 days.",
    "It takes 7 days, which is less than 30 days.",
    "It takes 7 days, which is longer than 3 days.",
]
NOT_CLAIMED_ZH = [
    "以前是30天，现在是7天。",
    "原来要30天，现在要7天。",
    "是30天吗？需要7天。",
    "30天前开业，退款要7天。",
    "7天，少于30天",
]


@pytest.mark.parametrize("text", TWO_VALUES)
@pytest.mark.parametrize("scorer", [KNOWN, UNKNOWN], ids=["known", "unknown"])
def test_two_values_are_not_right_however_they_are_worded(scorer: Scorer, text: str) -> None:
    assert scorer.score(text).outcome in ("hedged", "invalid")


@pytest.mark.parametrize("text", TWO_VALUES_ZH)
@pytest.mark.parametrize("scorer", [TIAN, ONLY_TIAN], ids=["known", "unknown"])
def test_two_values_are_not_right_in_chinese(scorer: Scorer, text: str) -> None:
    assert scorer.score(text).outcome in ("hedged", "invalid")


@pytest.mark.parametrize("text", ONE_VALUE)
@pytest.mark.parametrize("scorer", [KNOWN, UNKNOWN], ids=["known", "unknown"])
def test_denied_and_corrected_values_leave_the_right_one(scorer: Scorer, text: str) -> None:
    assert scorer.score(text).right


@pytest.mark.parametrize("text", ONE_VALUE_ZH)
@pytest.mark.parametrize("scorer", [TIAN, ONLY_TIAN], ids=["known", "unknown"])
def test_denied_and_corrected_values_leave_the_right_one_in_chinese(scorer: Scorer, text: str) -> None:
    assert scorer.score(text).right


@pytest.mark.parametrize(
    ("scorer", "text"), [*((UNKNOWN, t) for t in NOT_CLAIMED), *((ONLY_TIAN, t) for t in NOT_CLAIMED_ZH)]
)
def test_what_is_asked_past_or_compared_is_no_second_value(scorer: Scorer, text: str) -> None:
    assert scorer.score(text).right


@pytest.mark.parametrize(("known", "unknown", "text"), OTHER_SUBJECT)
def test_a_value_of_something_else_hedges_only_as_a_known_answer(known: Scorer, unknown: Scorer, text: str) -> None:
    assert (known.score(text).outcome, unknown.score(text).outcome) == ("hedged", "right")


@pytest.mark.parametrize(("right", "text"), CALCULATIONS)
def test_the_steps_of_a_calculation_are_no_second_value(right: str, text: str) -> None:
    assert number_scorer(right).score(text).right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("It takes 7 days. Some say 2 weeks.", False),
        ("It takes 7 days. Maybe two months.", False),
        ("It takes 7 days. Some say one week.", True),
        ("It takes 7 days. Some say 30.", False),
        ("It takes 7 days. Others think it is 7.", True),
        ("It takes 7 days. Some say rule 30 is unfair.", True),
    ],
)
def test_what_others_say_counts_in_any_unit_and_without_one(text: str, right: bool) -> None:
    assert UNKNOWN.score(text).right == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("需要7天。有人说两周。", False),
        ("需要7天。也许30。", False),
        ("需要7天。有人说一周。", True),
    ],
)
def test_what_others_say_counts_in_any_unit_and_without_one_in_chinese(text: str, right: bool) -> None:
    assert ONLY_TIAN.score(text).right == right


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("The answer is 7. Some say 9.", False),
        ("是7。有人说9。", False),
        ("4 + 3 = 7", True),
        ("It has 7 apples and 9 pears.", True),
    ],
)
def test_a_number_without_unit_stands_beside_what_others_say(text: str, right: bool) -> None:
    assert SEVEN.score(text).right == right


def test_the_second_value_is_named() -> None:
    score = UNKNOWN.score("It takes 7 days. Some say 30 days.")
    assert (score.outcome, score.several) == ("hedged", ("7 days", "30 days"))
    assert KNOWN.score("30 days. Some say 9 days.").candidate == "30 days"


def test_a_correction_turns_a_right_answer_too() -> None:
    assert KNOWN.score("It takes 7 days. No, 30 days.").candidate == "30 days"
    assert KNOWN.score("It takes 7 days. No fee is due after 7 days.").right
    assert KNOWN.score("It takes 7 days. No, not 30 days.").right
    assert name_scorer("Velmora", ["Tanrik"]).score("Tanrik... sorry, Velmora.").right
    assert name_scorer("维岚仓库", ["青岑仓库"]).score("青岑仓库，不对，是维岚仓库。").right


WHOLE_AND_CUT = [
    (SEVEN, "The result is 7", False),
    (SEVEN, "The result is 7.", False),
    (SEVEN, "The result is 7 ", False),
    (SEVEN, "The result is 7,", False),
    (SEVEN, "**7**", True),
    (SEVEN, "7\n", True),
    (SEVEN, "seven", False),
    (SEVEN, "7 is it", True),
    (UNKNOWN, "It takes 7", False),
    (UNKNOWN, "7", False),
    (UNKNOWN, "It takes 7 days", True),
    (UNKNOWN, "It takes 7 d", False),
    (UNKNOWN, "It takes 7 day", True),
    (number_scorer("7 minutes"), "7 m", False),
    (number_scorer("7 minutes"), "7 min", True),
    (number_scorer("7 dollars"), "It costs $7", False),
    (number_scorer("7 dollars"), "It costs $7 a", True),
    (number_scorer("7个"), "共7个", False),
    (ONLY_TIAN, "需要7天", True),
    (ONLY_TIAN, "七", False),
    (number_scorer("七"), "是七", False),
    (number_scorer("七"), "是七。", True),
    (lenient_number_scorer("7 days"), "It takes 7", False),
]


@pytest.mark.parametrize(("scorer", "text", "whole"), WHOLE_AND_CUT)
def test_a_value_at_the_cut_end_counts_only_where_no_more_of_it_can_follow(
    scorer: CandidateScorer, text: str, whole: bool
) -> None:
    assert scorer.score(text, "stop").right or not whole or text.endswith("d")
    score = scorer.score(text, "length")
    assert score.right == whole
    if not whole:
        assert (score.outcome, score.flags) == ("error", ("truncated",))


def test_a_wrong_value_at_the_cut_end_is_not_known_either() -> None:
    assert KNOWN.score("It takes 30", "length").outcome == "error"
    assert KNOWN.score("It takes 7 days, not 3", "length").right


def test_other_kinds_are_cut_too() -> None:
    assert choice_scorer("B", contents={"A": "7 days", "B": "75 days"}).score("7", "length").outcome == "error"
    assert choice_scorer("B").score("B", "length").right
    assert name_scorer("Velmora").score("Velmora", "length").right
    assert name_scorer("Velmora").score("Velmora-", "length").outcome == "error"
    assert name_scorer("Room 7").score("Room 7", "length").outcome == "error"
