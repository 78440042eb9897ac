"""Figures of a run: estimates as intervals on one axis, rates along an axis. Places in percent, as everywhere."""

from collections.abc import Sequence
from dataclasses import dataclass

from whybox.report.document import CurveRow, EstimateRow
from whybox.report.estimate_line import points
from whybox.report.html.figures import Span, span
from whybox.report.html.scale import Scale, Tick, scale_over

MOST_ROWS = 14
LONGEST, ONE_LINE = 12, 34  # characters of a label, and of all of them side by side
# A line between two points says that there is something between them.
ORDERED = ("position", "place", "turns", "dose", "passages", "documents", "month")


@dataclass(frozen=True)
class ForestRow:
    """An estimate. dot, whisker, null, floor: None where unknown. told: the same in words."""

    row: EstimateRow
    dot: float | None
    whisker: Span | None
    null: float | None
    floor: float | None
    told: str


@dataclass(frozen=True)
class Forest:
    rows: list[ForestRow]
    ticks: list[Tick]
    zero: float


@dataclass(frozen=True)
class RateCurve:
    """Rates with their intervals: three paths and the labels of both axes. line: empty where the axis has no order.

    x_lines: 2 where the labels are so long that every second one stands below.
    """

    row: CurveRow
    line: str
    whiskers: str
    dots: str
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    x_lines: int = 1


def forest(rows: Sequence[EstimateRow]) -> Forest | None:
    """Shares on one axis of points; None where no estimate is a share."""
    shares = [row for row in rows if row.unit in ("share", "difference")][:MOST_ROWS]
    known = [value for row in shares for value in _values(row)]
    if not known:
        return None
    scale = scale_over(known, 2.0, 98.0)
    return Forest([_forest_row(row, scale) for row in shares], in_points(scale), scale.at(0.0))


def _values(row: EstimateRow) -> list[float]:
    return [v for v in (row.estimate, *(row.interval or ()), row.null_95, row.floor) if v is not None]


def _forest_row(row: EstimateRow, scale: Scale) -> ForestRow:
    told = "—" if row.estimate is None else points(row.estimate) + (" %" if row.unit == "share" else "")
    if row.interval is not None:
        told += f" [{points(row.interval[0])}, {points(row.interval[1])}]"
    return ForestRow(
        row,
        None if row.estimate is None else scale.at(row.estimate),
        span(scale, *row.interval) if row.interval else None,
        None if row.null_95 is None else scale.at(row.null_95),
        None if row.floor is None else scale.at(row.floor),
        told,
    )


def in_points(scale: Scale) -> list[Tick]:
    """Ticks of an axis of shares, as points."""
    by_points = Scale(100 * scale.low, 100 * scale.high, scale.start, scale.end)
    return by_points.ticks(5)


def rate_curve(row: CurveRow) -> RateCurve | None:
    """None where no point has a call."""
    known = [(i, p.hits / p.n, p.interval) for i, p in enumerate(row.points) if p.n and p.interval]
    if not known:
        return None
    across = Scale(0.0, float(max(len(row.points) - 1, 1)), 5.0, 95.0)
    up = Scale(0.0, 1.0, 96.0, 5.0)
    places = [(across.at(float(i)), up.at(rate), up.at(low), up.at(high)) for i, rate, (low, high) in known]
    every = max(1, len(row.points) // 8)
    x_ticks = [Tick(across.at(float(i)), p.label) for i, p in enumerate(row.points) if i % every == 0]
    return RateCurve(
        row,
        " ".join(f"{x},{y}" for x, y, _, _ in places) if row.axis in ORDERED else "",
        "".join(f"M{x} {low}V{high}" for x, _, low, high in places),
        "".join(f"M{x} {y}h0" for x, y, _, _ in places),
        x_ticks,
        [Tick(up.at(share), f"{100 * share:.0f}") for share in (0.0, 0.5, 1.0)],
        2 if sum(min(len(tick.label), LONGEST) + 1 for tick in x_ticks) > ONE_LINE else 1,
    )
