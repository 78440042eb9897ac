import pytest

from whybox.report.html.scale import Scale, scale_over


def test_values_become_places_in_percent() -> None:
    scale = Scale(-4.0, 4.0, 0.0, 100.0)
    assert [scale.at(v) for v in (-4.0, 0.0, 2.0, 99.0)] == [0, 50, 75, 100]
    assert Scale(0.0, 10.0, 90.0, 10.0).at(10.0) == 10


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (-4.3, 1.9, ["−4", "−2", "0"]),
        (0.0, 0.011, ["0", "0.005", "0.010"]),
        (-120.0, 300.0, ["0", "200"]),
    ],
)
def test_ticks_are_round(low: float, high: float, labels: list[str]) -> None:
    assert [tick.label for tick in Scale(low, high).ticks(4)] == labels


def test_the_axis_holds_zero_every_value_and_room_on_both_sides() -> None:
    scale = scale_over([-4.0, -1.0], room=0.25)
    assert (scale.low, scale.high) == (-4.0, 1.0)
    assert (scale_over([]).low, scale_over([]).high) == (-1.0, 1.0)
    assert scale_over([3.0, 5.0]).low == 0
