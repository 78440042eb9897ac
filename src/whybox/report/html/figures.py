"""Geometry of the standard figures: plain numbers in percent, drawn as inline SVG by `figures.html.jinja`.

Colour says one thing: an effect is orange where it hurts the right answer, blue where it helps it, grey in the floor.
"""

from dataclasses import dataclass
from itertools import starmap

from whybox.report.document import Agreement, Cause, HeadRow, LensRow, Metric, SegmentInfo, SegmentRow
from whybox.report.html.scale import Scale, Tick, scale_over
from whybox.report.sentences import tone_of

MOST_SHAMS = 120
STRIP = 13.0  # percent of a curve's height above its points, where a label has room


@dataclass(frozen=True)
class Span:
    """From `x` over `width`, both in percent."""

    x: float
    width: float


@dataclass(frozen=True)
class Bar:
    """One effect: its bar, interval, null band and second mark; `tone` is hurts, helps, floor or undefined."""

    tone: str
    body: Span
    whisker: Span | None
    band: Span | None
    mark: float | None


@dataclass(frozen=True)
class EvidenceRow:
    row: SegmentRow
    info: SegmentInfo
    index: int
    share: float
    bar: Bar


@dataclass(frozen=True)
class Evidence:
    rows: list[EvidenceRow]
    ticks: list[Tick]
    zero: float
    left_out: int


@dataclass(frozen=True)
class Line:
    """The number line of the verdict: metric as it is, with the edit, and with each sham."""

    base: float
    after: float
    shams: list[float]
    ticks: list[Tick]
    zero: float
    after_helps: bool


@dataclass(frozen=True)
class Dot:
    x: float
    y: float
    tone: str


@dataclass(frozen=True)
class Curve:
    """decided: where the layer's label stands, in a strip above all points."""

    dots: list[Dot]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    zero: float
    decided: float | None


def span(scale: Scale, low: float, high: float) -> Span:
    """The stretch between two values, in either order."""
    left, right = sorted((scale.at(low), scale.at(high)))
    return Span(left, round(right - left, 3))


def bar(scale: Scale, effect: float | None, noise: float, row: SegmentRow | None = None) -> Bar:
    """The bar of an effect; with a row also its interval, null band and total effect."""
    return Bar(
        tone=tone_of(effect, noise),
        body=Span(scale.start, scale.end - scale.start) if effect is None else span(scale, 0.0, effect),
        whisker=span(scale, *row.direct_interval) if row and row.direct_interval else None,
        band=span(scale, row.null.low, row.null.high) if row and row.null else None,
        mark=scale.at(row.total) if row and row.total is not None else None,
    )


def evidence(rows: tuple[SegmentRow, ...], segments: tuple[SegmentInfo, ...], most: int) -> Evidence:
    """Segments in prompt order; beyond `most` only those with the largest direct effects are drawn."""
    by_name = {info.name: (index, info) for index, info in enumerate(segments)}
    ranked = sorted(rows, key=lambda row: -abs(row.direct or 0.0))[:most]
    kept = [row for row in rows if row in ranked]
    scale = scale_over([value for row in kept for value in _values_of(row)])
    largest = max((row.share or 0.0 for row in kept), default=0.0) or 1.0
    drawn = [
        EvidenceRow(
            row=row,
            info=by_name[row.name][1],
            index=by_name[row.name][0],
            share=round(100 * (row.share or 0.0) / largest, 3),
            bar=bar(scale, row.direct, row.noise, row),
        )
        for row in kept
    ]
    return Evidence(drawn, scale.ticks(6), scale.at(0.0), len(rows) - len(kept))


def verdict_line(cause: Cause, metric: Metric) -> Line | None:
    """Where the metric stands without the edit, with it, and with the shams; None if it was not measured."""
    if cause.after is None or cause.effect is None:
        return None
    shams = list(cause.shams.after[:MOST_SHAMS]) if cause.shams else []
    scale = scale_over([metric.base, cause.after, *shams], 4.0, 96.0, room=0.3)
    return Line(
        base=scale.at(metric.base),
        after=scale.at(cause.after),
        shams=[scale.at(value) for value in shams],
        ticks=scale.ticks(6),
        zero=scale.at(0.0),
        after_helps=cause.after > metric.noise,
    )


def lens_curve(rows: tuple[LensRow, ...], noise: float, decided_at: int | None) -> Curve | None:
    """LD after each layer; None where no row has one."""
    known = [(row.layer, row.ld) for row in rows if row.ld is not None]
    if not known:
        return None
    last = max(known[-1][0], 1)
    across = Scale(0.0, float(last), 1.5, 98.5)
    up = scale_over([ld for _, ld in known], 94.0, 6.0 if decided_at is None else STRIP)
    step = max(1, round(last / 6))
    return Curve(
        dots=[Dot(across.at(float(layer)), up.at(ld), tone_of(ld, noise)) for layer, ld in known],
        x_ticks=[Tick(across.at(float(layer)), str(layer)) for layer in range(0, last + 1, step)],
        y_ticks=up.ticks(5),
        zero=up.at(0.0),
        decided=None if decided_at is None else across.at(float(decided_at)),
    )


@dataclass(frozen=True)
class Cloud:
    """Share against effect, a dot for each head, one path a tone. strongest: None where it is the brightest as well."""

    paths: dict[str, str]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    zero: float
    brightest: Dot
    strongest: Dot | None


def shares(heads: tuple[HeadRow, ...], agreement: Agreement | None, noise: float) -> Cloud | None:
    """Attention share across, effect of cutting that very edge upwards; None where they were not compared."""
    known = [(head.share, head.effect) for head in heads if head.share is not None and head.effect is not None]
    if agreement is None or not known:
        return None
    across = scale_over([share for share, _ in known], 2.0, 97.0)
    up = scale_over([effect for _, effect in known], 93.0, 7.0)

    def dot(share: float, effect: float) -> Dot:
        return Dot(across.at(share), up.at(effect), tone_of(effect, noise))

    places: dict[str, list[str]] = {}
    for one in starmap(dot, known):
        places.setdefault(one.tone, []).append(f"M{one.x} {one.y}h0")
    same = (agreement.brightest_layer, agreement.brightest_head) == (
        agreement.strongest_layer,
        agreement.strongest_head,
    )
    return Cloud(
        paths={tone: "".join(found) for tone, found in places.items()},
        x_ticks=across.ticks(5),
        y_ticks=up.ticks(5),
        zero=up.at(0.0),
        brightest=dot(agreement.brightest_share, agreement.brightest_effect),
        strongest=None if same else dot(agreement.strongest_share, agreement.strongest_effect),
    )


def _values_of(row: SegmentRow) -> list[float]:
    null = (row.null.low, row.null.high) if row.null else ()
    single = [value for value in (row.direct, row.total) if value is not None]
    return [*single, *(row.direct_interval or ()), *null]
