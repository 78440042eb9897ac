"""The picture of `size`: both curves over the context, side by side."""

from whybox.report.document import Lang, SizeDocument
from whybox.report.draw.labels import Labels, shortened
from whybox.report.draw.palette import light
from whybox.report.draw.scene import Box, Scene, Shape, Words
from whybox.report.draw.scene import Mark as Drawn
from whybox.report.size_chart import Chart, charts
from whybox.report.size_lines import asked, headline

EDGE, TITLE, TEXT, SMALL = 24, 16, 13, 11
WIDE, TALL, LEFT, GAP, TOP = 400, 240, 76, 36, 132
FILLS = ("seg-7", "seg-5")
HEIGHT = TOP + TALL + 76


def size_picture(document: SizeDocument, lang: Lang) -> Scene:
    """Weights and cache beside matrices and attention."""
    labels = Labels(lang)
    lang = lang if labels.say("size.title.curve") != "Over the context" else "en"  # where no font has Chinese
    title = labels.told(headline(document, lang))
    width = 2 * (EDGE + LEFT + WIDE) + GAP
    marks: list[Drawn] = [
        Words(EDGE, 32, shortened(title, int(width / 10.5)), TITLE, light("ink"), bold=True),
        Words(EDGE, 56, labels.told(asked(document, lang)), TEXT, light("quiet")),
    ]
    for place, chart in enumerate(charts(document, lang)):
        marks += _chart(chart, EDGE + LEFT + place * (LEFT + WIDE + GAP))
    end = width - EDGE
    marks.append(Words(end, HEIGHT - 20, labels.say("size.figure.axis"), SMALL, light("quiet"), "end"))
    return Scene(width, HEIGHT, light("ground"), tuple(marks), title)


def _chart(chart: Chart, left: float) -> list[Drawn]:
    """Title, legend, grid, areas, lines, ticks."""
    marks: list[Drawn] = [Words(left, 88, chart.title, TEXT, light("ink"), bold=True)]
    x = left
    for area, fill in zip(chart.areas, FILLS, strict=True):
        marks += [Box(x, 103, 12, 12, light(fill)), Words(x + 18, 109, area.name, SMALL, light("quiet"))]
        x += 40 + 9 * len(area.name)
    for tick in chart.y_ticks:
        y = _y(tick.at)
        marks += [Box(left, y, WIDE, 1, light("line")), Words(left - 8, y, tick.label, SMALL, light("quiet"), "end")]
    for area, fill in zip(chart.areas, FILLS, strict=True):
        marks.append(Shape(tuple((left + WIDE * each, _y(high)) for each, high in area.outline), light(fill)))
    if chart.limit:
        marks.append(Box(left, _y(chart.limit.at) - 1, WIDE, 3.5, light("surface")))
        marks += [Box(left + 8 * i, _y(chart.limit.at), 5, 1.5, light("warn")) for i in range(WIDE // 8)]
        marks.append(Words(x + 8, 109, chart.limit.label, SMALL, light("warn")))
    if chart.trained:
        marks.append(Box(left + WIDE * chart.trained.at, TOP, 1, TALL, light("strong")))
        place = left + WIDE * chart.trained.at - 4
        marks.append(Words(place, TOP + 8, chart.trained.label, SMALL, light("quiet"), "end"))
    for tick in chart.x_ticks:
        marks.append(Words(left + WIDE * tick.at, TOP + TALL + 16, tick.label, SMALL, light("quiet"), "middle"))
    return marks


def _y(share: float) -> float:
    return TOP + TALL * (1 - share)
