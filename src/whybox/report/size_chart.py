"""The two curves of sizes over the context, as places between 0 and 1: for the page and for the picture alike."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from whybox.report.document import Lang, SizeDocument
from whybox.report.html.scale import Scale
from whybox.report.size_lines import scaled
from whybox.report.words import say

MOST_X_TICKS = 8
Place = tuple[float, float]


@dataclass(frozen=True)
class Area:
    """One quantity between two edges; xs run along the context, y upwards."""

    name: str
    low: tuple[Place, ...]
    high: tuple[Place, ...]

    @property
    def outline(self) -> tuple[Place, ...]:
        return (*self.high, *reversed(self.low))


@dataclass(frozen=True)
class Mark:
    """A labelled place on an axis, or a line across."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """Areas on top of one another, ticks of both axes, and lines: across at a height, upright at a context."""

    title: str
    areas: tuple[Area, ...]
    x_ticks: tuple[Mark, ...]
    y_ticks: tuple[Mark, ...]
    limit: Mark | None = None
    trained: Mark | None = None


def charts(document: SizeDocument, lang: Lang) -> tuple[Chart, Chart]:
    """Bytes of weights and cache; FLOPs of matrices and attention for a token."""
    memory = _stacked(
        document,
        say("size.figure.memory", lang, batch=f"{document.load.batch:,}"),
        (say("size.figure.weights", lang), say("size.figure.cache", lang)),
        [(float(document.weights.bytes), float(point.kv_bytes)) for point in document.curve],
        ("B", document.load.memory, lang),
    )
    matrices = float(document.flops.matrices)
    flops = _stacked(
        document,
        say("size.figure.flops", lang),
        (say("size.figure.matrices", lang), say("size.figure.attention", lang)),
        [(matrices, point.decode_flops - matrices) for point in document.curve],
        ("", None, lang),
    )
    return memory, flops


def _stacked(
    document: SizeDocument,
    title: str,
    names: tuple[str, str],
    values: Sequence[tuple[float, float]],
    unit: tuple[str, int | None, Lang],
) -> Chart:
    across = _places([point.context for point in document.curve])
    letter, limit, lang = unit
    most = max(low + high for low, high in values)
    shown = limit is not None and limit <= 2.5 * most
    top = max(most, limit or 0) * 1.04 if shown else most * 1.04
    floor = tuple((x, 0.0) for x in across)
    middle = tuple((x, low / top) for x, (low, _) in zip(across, values, strict=True))
    upper = tuple((x, (low + high) / top) for x, (low, high) in zip(across, values, strict=True))
    line = Mark(limit / top, say("size.figure.limit", lang, memory=scaled(limit, letter))) if limit and shown else None
    areas = (Area(names[0], floor, middle), Area(names[1], middle, upper))
    return Chart(
        title, areas, _x_ticks(document, across), _y_ticks(top, letter), line, _trained(document, across, lang)
    )


def _places(contexts: Sequence[int]) -> tuple[float, ...]:
    """By the logarithm, from 0 to 1; in the middle where there is one alone."""
    logs = [math.log2(context) for context in contexts]
    length = logs[-1] - logs[0]
    return tuple((each - logs[0]) / length if length else 0.5 for each in logs)


def _x_ticks(document: SizeDocument, across: Sequence[float]) -> tuple[Mark, ...]:
    """Labels that keep their distance, from the right: the longest context is always named."""
    marks: list[Mark] = []
    for point, at in reversed(list(zip(document.curve, across, strict=True))):
        if not marks or marks[-1].at - at >= 1 / MOST_X_TICKS:
            marks.append(Mark(at, _short(point.context)))
    return tuple(reversed(marks))


def _short(context: int) -> str:
    """4,096 as 4k, where it is a whole number of them."""
    return f"{context // 1024:,}k" if context >= 1024 and context % 1024 == 0 else f"{context:,}"


def _y_ticks(top: float, letter: str) -> tuple[Mark, ...]:
    ticks = Scale(0.0, top, 0.0, 100.0)
    step = _round(top / 4)
    return tuple(
        Mark(ticks.at(i * step) / 100, scaled(i * step, letter) if i else "0") for i in range(int(top / step) + 1)
    )


def _round(step: float) -> float:
    magnitude = 10.0 ** math.floor(math.log10(step))
    return next(factor * magnitude for factor in (1, 2, 2.5, 5, 10) if factor * magnitude >= step * 0.999)


def _trained(document: SizeDocument, across: Sequence[float], lang: Lang) -> Mark | None:
    """The trained context, where the curve goes beyond it."""
    trained = document.source.trained_context
    for point, at in zip(document.curve, across, strict=True):
        if point.context == trained and at < 1:
            return Mark(at, say("size.figure.trained", lang))
    return None
