"""Geometry of the figures of `look`: attention budget by layer, and the dilution curve. Places are percent."""

import math
from dataclasses import dataclass

from whybox.report.document import Dilution, LookSegment
from whybox.report.html.scale import Scale, Tick, scale_over

MOST_SEGMENTS = 8


@dataclass(frozen=True)
class Layered:
    """One segment of the budget: its step outline over the layers, between the segments below and above it."""

    index: int | None
    path: str
    middle: float


@dataclass(frozen=True)
class BudgetFigure:
    """Segments stacked from below, prompt order; `rest` counts those that were put together."""

    parts: list[Layered]
    ticks: list[Tick]
    rest: int


def drawn_segments(segments: tuple[LookSegment, ...]) -> list[int]:
    """Places of the segments that are drawn by themselves: those with most attention, in prompt order."""
    ranked = sorted(range(len(segments)), key=lambda i: -max(segments[i].share, segments[i].mean_share))
    most = MOST_SEGMENTS if len(segments) <= MOST_SEGMENTS else MOST_SEGMENTS - 1
    return sorted(ranked[:most])


def budget_figure(segments: tuple[LookSegment, ...], mean: bool) -> BudgetFigure:
    """The budget of the decision query, or the mean of all queries, layer by layer."""
    shares = [segment.mean_share_by_layer if mean else segment.share_by_layer for segment in segments]
    drawn = drawn_segments(segments)
    rest = [i for i in range(len(segments)) if i not in drawn]
    layers = list(zip(*shares, strict=True))
    stacked: list[tuple[int | None, list[float]]] = [(i, [layer[i] for layer in layers]) for i in drawn]
    if rest:
        stacked.append((None, [sum(layer[i] for i in rest) for layer in layers]))
    below = [0.0] * len(layers)
    parts = []
    for index, values in stacked:
        above = [low + value for low, value in zip(below, values, strict=True)]
        middle = 100 - 50 * (below[-1] + above[-1]) if layers else 0.0
        parts.append(Layered(index, _steps(below, above), round(middle, 2)))
        below = above
    return BudgetFigure(parts, _layer_ticks(len(layers)), len(rest))


def _steps(low: list[float], high: list[float]) -> str:
    """A closed outline with a flat piece for each layer, in a box of 100 × 100 with zero at its foot."""
    edges = [100 * i / len(low) for i in range(len(low) + 1)]
    upper = [f"{x:.2f},{100 - 100 * y:.2f}" for i, y in enumerate(high) for x in edges[i : i + 2]]
    lower = [f"{x:.2f},{100 - 100 * y:.2f}" for i, y in enumerate(low) for x in edges[i : i + 2]]
    return "M" + " ".join([*upper, *reversed(lower)]) + "Z"


def _layer_ticks(count: int) -> list[Tick]:
    step = max(1, round(count / 10))
    return [Tick(round(100 * (layer + 0.5) / count, 3), str(layer)) for layer in range(0, count, step)]


@dataclass(frozen=True)
class DilutionDot:
    x: float
    y: float
    beyond: bool


@dataclass(frozen=True)
class DilutionFigure:
    """Share over length, the length on a logarithmic axis; `trained`: where the trained context ends, if in sight."""

    dots: list[DilutionDot]
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    trained: float | None


def dilution_figure(dilution: Dilution) -> DilutionFigure:
    """The curve of one segment's share as filler makes the prompt longer."""
    lengths = [point.tokens for point in dilution.points]
    low, high = math.log10(min(lengths)), math.log10(max(lengths))
    across = Scale(low, high if high > low else low + 1.0, 2.0, 98.0)
    up = scale_over([100 * point.share for point in dilution.points], 96.0, 6.0)
    dots = [
        DilutionDot(across.at(math.log10(p.tokens)), up.at(100 * p.share), p.beyond_training) for p in dilution.points
    ]
    ticks = [Tick(across.at(math.log10(n)), f"{n:,}") for n in _round_lengths(lengths)]
    seen = low <= math.log10(dilution.trained) <= high
    return DilutionFigure(dots, ticks, up.ticks(4), across.at(math.log10(dilution.trained)) if seen else None)


def _round_lengths(lengths: list[int]) -> list[int]:
    """1, 2 and 5 times powers of ten that lie on the axis; only powers where those are many."""
    least, most = min(lengths), max(lengths)
    wide = most >= 100 * least
    steps = (1, 3) if wide else (1, 2, 5)
    return [m * 10**e for e in range(7) for m in steps if least <= m * 10**e <= most]


@dataclass(frozen=True)
class ClassRow:
    """One class: its mark, its rule, its heads, and the heads with the highest scores."""

    name: str
    mark: str
    rule: str
    count: int
    part: float
    best: list[tuple[int, str, float]]
