"""Numbers as texts print them."""

import pytest

from whybox.learn.printed import in_powers, printed, several


@pytest.mark.parametrize(
    ("text", "value", "half"),
    [
        ("0.0743", 0.0743, 0.00005),
        ("-1.9591", -1.9591, 0.00005),
        ("−0.5", -0.5, 0.05),
        ("7", 7, 0.5),
        ("1,048,576", 1_048_576, 0.5),
        ("5.2e-22", 5.2e-22, 0.05e-22),
        ("1e4", 1e4, 0.5e4),
    ],
)
def test_value_and_half_of_the_last_digit(text: str, value: float, half: float) -> None:
    found = printed(text)
    assert found.value == value
    assert found.half == pytest.approx(half)
    assert found.bounds == (value - found.half, value + found.half)


@pytest.mark.parametrize(
    ("text", "value", "same"),
    [
        ("0.33", 0.3302, True),
        ("0.26", 0.3057, False),
        ("22.6", 22.65, True),
        ("22.6", 22.651, False),
        ("10.7", 1.342, False),
        ("0.04", 0.0351, True),
    ],
)
def test_agreement_is_printing_the_same(text: str, value: float, same: bool) -> None:
    assert printed(text).agrees(value) is same


@pytest.mark.parametrize(
    ("like", "value", "written"),
    [
        ("0.0743", 0.07431, "0.0743"),
        ("-0.5", -0.4, "−0.4"),
        ("0.00", -0.001, "0.00"),
        ("1,048,576", 1048576.0, "1,048,576"),
        ("4096", 4096.0, "4096"),
        ("5.2e-22", 5.243e-22, "5.2 × 10⁻²²"),
        ("1e4", 12000.0, "1 × 10⁴"),
    ],
)
def test_another_number_in_the_same_form(like: str, value: float, written: str) -> None:
    assert printed(like).like(value) == written


@pytest.mark.parametrize("text", ["", "about 3", "1,04", "0x10", "1.2.3", "nan"])
def test_what_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="is no printed number"):
        printed(text)


def test_several_stand_side_by_side() -> None:
    assert [each.value for each in several("1 0.5 -2")] == [1, 0.5, -2]
    assert in_powers(-4.14e-16, 1) == "−4.1 × 10⁻¹⁶"
