import csv
import io

import pytest

from whybox.report.numbers import csv_text, exact, interval, number, percent


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-1.9591, "−1.96"),
        (0.176, "0.176"),
        (1 / 22, "0.0455"),
        (123.4, "123"),
        (12345.0, "12,300"),
        (999.7, "1,000"),
        (0.0, "0"),
        (0.0000320, "3.20 × 10⁻⁵"),
        (-0.00011, "−0.000110"),
        (2.0, "2.00"),
    ],
)
def test_three_significant_digits_and_a_true_minus(value: float, text: str) -> None:
    assert number(value) == text


def test_signs_intervals_and_shares() -> None:
    assert number(0.176, signed=True) == "+0.176"
    assert number(0.0, signed=True) == "0"
    assert interval((-2.1, -1.83)) == "[−2.10, −1.83]"
    assert [percent(x) for x in (0.4516, 1.0, 0.0, 0.0004, 0.0122)] == ["45.2 %", "100 %", "0 %", "< 0.1 %", "1.22 %"]


def test_exact_cells_keep_ascii_and_say_nothing_for_nothing() -> None:
    assert [exact(-1.9591446), exact(None), exact(7), exact("x")] == ["-1.95914", "", "7", "x"]


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-2+3", "@SUM(A1)", "\tx", '=HYPERLINK("http://x")'])
def test_cells_that_a_spreadsheet_would_run_become_text(cell: str) -> None:
    line = csv_text(["a"], [[cell]]).splitlines()[1]
    assert line.startswith("\"'")
    assert next(csv.reader(io.StringIO(line))) == ["'" + cell]


def test_numbers_stay_numbers_and_quotes_are_doubled() -> None:
    assert csv_text(["a", "b"], [["-1.5", 'x,"y"']]) == 'a,b\r\n-1.5,"x,""y"""\r\n'
