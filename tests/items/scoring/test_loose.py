"""An amount in words without a number is a value: another one than the right one, or the right one itself."""

from decimal import Decimal

import pytest

from whybox.items.case import Case
from whybox.items.scoring import number_scorer
from whybox.items.scoring.folding import fold_text
from whybox.items.scoring.loose import VAGUE, loose_amounts

HALF, ONE, MORE, TWO = Decimal("0.5"), Decimal(1), Decimal("1.5"), Decimal(2)
READ = [
    ("only for a month", ONE, "month"),
    ("a full year", ONE, "year"),
    ("a year and a half", MORE, "year"),
    ("half a day", HALF, "day"),
    ("half an hour", HALF, "hour"),
    ("an hour", ONE, "hour"),
    ("within a second", ONE, "second"),
    ("a fortnight", TWO, "week"),
    ("a decade", Decimal(10), "year"),
    ("a couple of weeks", TWO, "week"),
    ("several days", VAGUE, "day"),
    ("a few weeks", VAGUE, "week"),
    ("the next few days", VAGUE, "day"),
    ("a day or two", VAGUE, "day"),
    ("半个月", HALF, "month"),
    ("半年内", HALF, "year"),
    ("两三天", VAGUE, "day"),
    ("十几天", VAGUE, "day"),
    ("20多天", VAGUE, "day"),
    ("几小时", VAGUE, "hour"),
]
NO_AMOUNT = [
    "Wait a minute.",
    "a second document",
    "a day-long trip",
    "a quarter of it",
    "a page of it, a person, an item",
    "上半年",
    "需要几天？",
]


@pytest.mark.parametrize(("text", "value", "unit"), READ)
def test_it_is_read(text: str, value: Decimal, unit: str) -> None:
    assert [amount for amount, _, _ in loose_amounts(fold_text(text))] == [(value, unit)]


@pytest.mark.parametrize("text", NO_AMOUNT)
def test_this_is_none(text: str) -> None:
    assert not list(loose_amounts(fold_text(text)))


@pytest.mark.parametrize(
    "text",
    [
        "a year and a half, or 7 days",
        "7 days, or a month",
        "It takes 7 days. It may take a month.",
        "A refund is granted for a year and a half, with a 7-day refund available for 2023-2024.",
        "A refund is granted for 18 months, with a 7-day refund available for 2023-2024.",
        "7 days or a few weeks",
        "It takes 7 days. Some say several weeks.",
    ],
)
def test_beside_the_right_value_it_is_another_one(text: str) -> None:
    assert not number_scorer("7 days").score(text).right


@pytest.mark.parametrize(
    "text",
    [
        "7 days",
        "7 days (a week)",
        "You can call 7 times a day; it takes 7 days.",
        "It takes 30 days for exchanges, with 7 days for refunds.",
        "Wait a minute: it takes 7 days.",
        "It takes 7 days. A second document is not needed.",
    ],
)
def test_what_does_not_answer_leaves_the_right_one(text: str) -> None:
    assert number_scorer("7 days").score(text).right


@pytest.mark.parametrize(
    ("right", "text", "is_right"),
    [
        ("1 week", "It takes a week.", True),
        ("1 week", "It takes a week and 3 days.", False),
        ("1 week", "It takes more than a week.", False),
        ("1 week", "It takes a week and a half.", False),
        ("1 hour", "In an hour.", True),
        ("2 weeks", "a fortnight", True),
        ("1 day", "Three times a day.", False),
        ("1年", "一年半", False),
        ("6 months", "6 months (half a year)", True),
        ("18 months", "18 months, or a year and a half", True),
    ],
)
def test_a_definite_one_can_be_right(right: str, text: str, is_right: bool) -> None:
    assert number_scorer(right).score(text).right is is_right


@pytest.mark.parametrize(
    ("text", "may"),
    [
        ("A refund is only available for a month.", True),
        ("只有半个月。", True),
        ("Several weeks.", True),
        ("A refund is only available for a person.", False),
        ("You can call once a week.", False),
    ],
)
def test_it_is_a_legal_answer(text: str, may: bool) -> None:
    data = {
        "id": "r",
        "prompt": [{"role": "user", "parts": [{"name": "doc", "text": "7 days."}, {"name": "q", "text": "How long?"}]}],
        "answer": {"right": "7 days", "kind": "number"},
    }
    assert Case.from_data(data).filled().may_answer(text) is may
