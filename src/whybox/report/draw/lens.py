"""The picture of a logit lens: how far one token is above another, layer by layer, as it is and under changes."""

from collections.abc import Sequence
from itertools import pairwise

from whybox.report.document import Lang
from whybox.report.document.explore import Lens
from whybox.report.draw.labels import Labels, shortened
from whybox.report.draw.palette import light
from whybox.report.draw.scene import Box, Mark, Scene, Shape, Words
from whybox.report.numbers import number
from whybox.report.visible import visible

EDGE, TITLE, TEXT, SMALL = 24, 16, 13, 11
LEFT, TOP, WIDE, TALL, GAP = 88, 112, 640, 260, 26
DOT = 3.0
TICKS = 5  # layers from one label to the next
FILLS = ("seg-0", "seg-1")


def lens_picture(lens: Lens, lang: Lang) -> Scene:
    """One curve, or two; above zero the first token is ahead."""
    labels = Labels(lang)
    pair = {"first": _quoted(lens.first), "second": _quoted(lens.second)}
    title = labels.told(labels.say("lens.title", **pair))
    curves = [[row.ld for row in rows] for rows in (lens.base, lens.then) if rows is not None]
    low, high = min(0.0, *map(min, curves)), max(0.0, *map(max, curves))
    marks: list[Mark] = [
        Words(EDGE, 32, shortened(title, 88), TITLE, light("ink"), bold=True),
        Words(EDGE, 56, shortened(labels.told(labels.say("lens.axis", **pair)), 110), TEXT, light("quiet")),
    ]
    x = float(EDGE)
    for name, fill in zip(("lens.base", "lens.then"), FILLS[: len(curves)], strict=False):
        marks += [Box(x, 78, 12, 12, light(fill)), Words(x + 18, 84, labels.say(name), SMALL, light("quiet"))]
        x += 140
    for value in sorted({low, 0.0, high}):
        y = _y(value, low, high)
        line = light("strong" if value == 0 else "line")
        marks += [Box(LEFT, y, WIDE, 1, line), Words(LEFT - 8, y, number(value), SMALL, light("quiet"), "end")]
    for layer in range(0, len(lens.base), TICKS):
        middle = _x(layer, len(lens.base))
        marks.append(Words(middle, TOP + TALL + 18, str(layer), SMALL, light("quiet"), "middle"))
    for curve, fill in zip(curves, FILLS, strict=False):
        places = [(_x(i, len(curve)), _y(value, low, high)) for i, value in enumerate(curve)]
        marks += _line(places, light(fill))
    marks.append(Words(LEFT + WIDE, TOP + TALL + GAP + 12, labels.say("lens.layers"), SMALL, light("quiet"), "end"))
    return Scene(LEFT + WIDE + EDGE, TOP + TALL + GAP + 32, light("ground"), tuple(marks), title)


def _quoted(text: str) -> str:
    return f"“{visible(text)}”"


def _x(layer: int, count: int) -> float:
    return LEFT + 8 + (WIDE - 16) * layer / max(count - 1, 1)


def _y(value: float, low: float, high: float) -> float:
    return TOP + TALL * (high - value) / ((high - low) or 1.0)


def _line(places: Sequence[tuple[float, float]], fill: str) -> list[Mark]:
    """Thin bands from dot to dot."""
    bands: list[Mark] = [
        Shape(((ax, ay - 0.75), (bx, by - 0.75), (bx, by + 0.75), (ax, ay + 0.75)), fill)
        for (ax, ay), (bx, by) in pairwise(places)
    ]
    return [*bands, *(Box(x - DOT, y - DOT, 2 * DOT, 2 * DOT, fill) for x, y in places)]
