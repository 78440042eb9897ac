"""Answers as people write them, and one clear error for what is none."""

import re
from contextlib import suppress

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from whybox.errors import UsageError
from whybox.learn.course.answers import Answer, alike, number, read
from whybox.learn.course.chapter import Chosen, Code, Matched, Numbers
from whybox.learn.course.grading import near

BOTH = {"en": "x", "zh": "x"}
OPTIONS = [{"id": name, "say": BOTH} for name in ("a", "b", "c")]
NUMBERS = Numbers.model_validate(
    {"kind": "numbers", "id": "n", "ask": BOTH, "fields": [{"say": BOTH, "figure": "worked.scores[0]"}] * 2}
)
ONE, SOME, ORDER = (
    Chosen.model_validate({"kind": kind, "id": "c", "ask": BOTH, "options": OPTIONS, "right": "r"})
    for kind in ("one", "some", "order")
)
MATCH = Matched.model_validate(
    {"kind": "match", "id": "m", "ask": BOTH, "items": OPTIONS[:2], "options": OPTIONS, "right": "r"}
)
CODE = Code.model_validate({"kind": "code", "id": "k", "ask": BOTH, "starter": "", "task": "t"})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (".67", 0.67), ("0.67", 0.67), ("−2", -2), ("1,048,576", 1_048_576), ("1.3e9", 1.3e9), ("1/32", 1 / 32),
        ("62 %", 0.62), ("62%", 0.62), ("7.", 7), ("+3", 3), ("1，048", 1048), ("5e-22", 5e-22),
    ],
)  # fmt: skip
def test_numbers(text: str, value: float) -> None:
    assert number(text) == pytest.approx(value, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("0.67 0.24", ("0.67", "0.24")), (".67,.24", (".67", ".24")), ("0.67, 0.24", ("0.67", "0.24")),
        ("0.67，0.24", ("0.67", "0.24")), ("0.67、0.24", ("0.67", "0.24")), ("1,048,576, 7", ("1,048,576", "7")),
        ("62 %; 30 %", ("62%", "30%")), ("−1，−2", ("−1", "−2")), ("1\n2", ("1", "2")),
    ],
)  # fmt: skip
def test_two_numbers_however_they_are_parted(text: str, said: tuple[str, str]) -> None:
    assert read(NUMBERS, text).said in (said, tuple(each.replace("−", "-") for each in said))
    assert len(read(NUMBERS, text).numbers) == 2


def test_which_answers_are_alike() -> None:
    assert alike(SOME, ("a", "b"), ("b", "a"))
    assert not alike(ORDER, ("a", "b"), ("b", "a"))
    assert not alike(NUMBERS, ("1", "2"), ("1", "3"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "x",
        "nan",
        "inf",
        "1,2",
        "0x10",
        "1/0",
        "1e999",
        ".",
        "--1",
        "1 + 1",
        "e5",
        "/2",
        "./3",
        "-.e1",
        "%",
        "5" * 5_000,
        "1/" + "9" * 400,
    ],
)
def test_no_numbers(text: str) -> None:
    with pytest.raises(UsageError, match="number"):
        number(text)


@drawn(st.text("0123456789./e+-−%,，_ ²½٣xyz", max_size=9) | st.from_regex(r"[.,/e+−%0-9]{1,6}", fullmatch=True))
def test_any_text_is_a_number_or_one_clear_error(text: str) -> None:
    for question in (NUMBERS, ONE, SOME, ORDER, MATCH):
        with suppress(UsageError):
            read(question, text)
    with suppress(UsageError):
        assert abs(number(text)) < 1e300
        assert re.search(r"\d", text)


@pytest.mark.parametrize(
    ("question", "given", "said"),
    [
        (NUMBERS, "1 2", ("1", "2")), (NUMBERS, "1；2", ("1", "2")), (NUMBERS, [1, 2.5], ("1", "2.5")),
        (ONE, "b", ("b",)), (ONE, "2", ("b",)), (SOME, "a, c", ("a", "c")), (SOME, ["c"], ("c",)),
        (MATCH, "c a", ("c", "a")), (MATCH, {"b": "a", "a": "1"}, ("a", "a")), (CODE, "x = 1", ("x = 1",)),
    ],
)  # fmt: skip
def test_what_is_read(question: Numbers | Chosen | Matched | Code, given: Answer, said: tuple[str, ...]) -> None:
    assert read(question, given).said == said


@pytest.mark.parametrize(
    ("question", "given", "cause"),
    [
        (NUMBERS, "1", "n: expected 2 numbers, found 1"), (NUMBERS, "", "n: expected 2 numbers, found 0"),
        (NUMBERS, {"a": "1"}, "n: expected 2 numbers"), (NUMBERS, "1 x", "'x' is not a number"),
        (ONE, "d", "c: there is no option 'd'"), (ONE, "4", "no option '4'"), (ONE, "a b", "expected one option"),
        (SOME, "a a", "twice"), (SOME, "", "no option is named"), (ORDER, "a b", "expected all 3 options, found 2"),
        (MATCH, "a", "expected 2 options, found 1"), (MATCH, {"a": "b"}, "an option for each item"),
        (ONE, "1" * 5_000, "no option"), (CODE, " ", "nothing in it"), (CODE, ["x"], "nothing in it"),
    ],
)  # fmt: skip
def test_what_is_no_answer(question: Numbers | Chosen | Matched | Code, given: Answer, cause: str) -> None:
    with pytest.raises(UsageError, match=cause):
        read(question, given)


def test_numbers_are_right_to_half_of_the_last_digit_on_both_sides() -> None:
    assert near(0.67, 0.6652, 2)
    assert near(0.665, 0.66, 2)
    assert near(0.66, 0.665, 2)
    assert not near(0.66, 0.6652, 2)
    assert not near(0.68, 0.6652, 2)
    assert near(16_777_216, 16_777_216, 0)
    assert not near(16_777_217, 16_777_216, 0)


def test_what_is_to_be_ordered_is_mixed() -> None:
    listed = read(ORDER, "1 2 3").said
    assert sorted(listed) == ["a", "b", "c"]
    assert listed != ("a", "b", "c")
