"""One line holds everything that an estimate must stand beside."""

from dataclasses import replace

import pytest

from whybox.report.estimate_line import Shown, limit, line, p_text, points
from whybox.statistics.unknown import Unknown

SHOWN = Shown("order effect", 0.04, (0.012, 0.069), 0.003, 0.021, 0.003, 0.006, 100, 8, 2)
RATE = replace(SHOWN, name="right", value=0.4, interval=(0.226, 0.612), unit="share")


def test_the_line() -> None:
    assert line(SHOWN, "en") == (
        "order effect 4.0 points [1.2, 6.9] · floor 0.3 · null 95 % 2.1 · p .003 (Holm .006)"
        " · n 100 items × 8 calls · 2 errors"
    )


def test_the_line_in_chinese() -> None:
    assert line(replace(SHOWN, name="顺序效应", errors=0), "zh") == (
        "顺序效应 4.0 个百分点 [1.2, 6.9] · 底噪 0.3 · 零分布 95 % 2.1 · p .003（Holm .006）"
        " · n 100 个样本 × 8 次调用 · 0 个错误"
    )


def test_a_floor_that_is_taken_off_says_so() -> None:
    assert "floor 0.3 (taken off)" in line(replace(SHOWN, net=True), "en")
    assert "底噪 0.3（已扣除）" in line(replace(SHOWN, net=True), "zh")
    assert "floor — (one run)" in line(replace(SHOWN, net=True, floor=Unknown("one run")), "en")


@pytest.mark.parametrize(
    ("interval", "adjusted", "said"),
    [((-0.336, 0.482), 0.002, True), ((-0.336, 0.482), 0.2, False), ((0.01, 0.2), 0.002, False), (None, 0.002, False)],
)
def test_a_test_that_rejects_beside_an_interval_that_holds_0_is_explained(
    interval: tuple[float, float] | None, adjusted: float, said: bool
) -> None:
    shown = replace(SHOWN, interval=interval, adjusted=adjusted)
    value = shown if interval else replace(shown, value=Unknown("no items"))
    assert ("how much, the interval says, and it holds 0" in line(value, "en")) == said


def test_what_is_missing_says_why() -> None:
    shown = replace(
        SHOWN, value=Unknown("no items"), interval=None, floor=Unknown("one run"), null_95=Unknown("no item differed")
    )
    assert line(replace(shown, p=None, adjusted=None, errors=1), "en") == (
        "order effect — (no items) · floor — (one run) · null — (no item differed) · n 100 items × 8 calls · 1 error"
    )


@pytest.mark.parametrize(
    ("p", "text"), [(0.0001, "< .001"), (0.0494, ".049"), (0.5, ".500"), (0.9999, "1"), (1.0, "1")]
)
def test_p_is_never_zero(p: float, text: str) -> None:
    assert p_text(p) == text


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0.0"), (-0.003, "−0.3"), (0.0001, "< 0.1"), (-0.0001, "> −0.1"), (1.0, "100.0")]
)
def test_points(share: float, text: str) -> None:
    assert points(share) == text


def test_a_rate_is_in_percent_and_a_difference_in_points() -> None:
    assert line(RATE, "en").startswith("right 40.0 % [22.6, 61.2] · ")
    assert line(RATE, "zh").startswith("right 40.0 % [22.6, 61.2] · ")
    assert [limit(0.9, "share", lang) for lang in ("en", "zh")] == ["90 %", "90 %"]
    assert [limit(0.05, "difference", lang) for lang in ("en", "zh")] == ["5 points", "5 个百分点"]
    assert limit(0.0005, "difference", "en") == "0.05 points", "a limit is said as it was set"
    assert limit(0.29, "share", "en") == "29 %"
