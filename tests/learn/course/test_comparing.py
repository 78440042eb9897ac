"""Remarks name the shape or the first differing place."""

import numpy as np

from whybox.learn.course.comparing import equal, found, unlike

TRIED = ("two rows", "两行")
X = np.arange(6.0).reshape(2, 3)


def test_equal_holds_within_the_tolerance_only() -> None:
    assert equal(TRIED, X + 4e-10, X).holds
    assert not equal(TRIED, X + 6e-10, X).holds


def test_the_first_differing_place_is_told() -> None:
    came = X.copy()
    came[1, 1:] = 7
    remark = equal(TRIED, came, X)
    assert (remark.en, remark.zh) == ("two rows: expected 4 at [1, 1], found 7", "两行：[1, 1] 处应为 4，得到 7")


def test_a_single_number_has_no_place() -> None:
    assert equal(TRIED, np.array(2.0), np.array(2.0)).holds
    assert equal(TRIED, np.array(3.0), np.array(2.0)).en == "two rows: expected 2, found 3"


def test_shapes_and_kinds_are_told() -> None:
    assert equal(TRIED, X.T, X).en == "two rows: expected shape 2 × 3, found 3 × 2"
    assert equal(TRIED, np.array(["a"]), X).en == "two rows: expected numbers, found <U1"


def test_nan_and_infinity_fit_only_themselves() -> None:
    holed = np.array([np.nan, -np.inf, 1.0])
    assert equal(TRIED, holed, holed).holds
    assert not equal(TRIED, np.zeros(3), holed).holds
    assert not equal(TRIED, holed, np.zeros(3)).holds


def test_a_mistake_is_named_where_it_was_made() -> None:
    assert not unlike(("twice", "两倍"), 2 * X, 2 * X).holds
    assert unlike(("twice", "两倍"), X, 2 * X).holds
    assert unlike(("twice", "两倍"), X.T, 2 * X).holds


def test_what_is_no_array() -> None:
    remark = found(("id 7 of 7", "id 7（词表 7）"), False, ("an exception", "被拒绝"), ("a row", "一行"))
    assert (remark.en, remark.zh) == (
        "id 7 of 7: expected an exception, found a row",
        "id 7（词表 7）：应被拒绝，得到一行",
    )


def test_what_holds_says_nothing_of_a_failure() -> None:
    for tried, came in ((("id 7 of 7", "id 7"), ("a row", "一行")), (("two seeds", "两个种子"), ("", ""))):
        remark = found(tried, True, ("an exception", "抛出异常"), came)
        assert remark == equal(tried, X, X)
