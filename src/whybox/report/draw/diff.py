"""The picture of `diff`: the error over positions beside its growth through the layers, logarithms upwards."""

from collections.abc import Sequence

from whybox.report.diff_scale import TICKS, height
from whybox.report.document import DiffDocument, Lang
from whybox.report.draw.labels import Labels, shortened
from whybox.report.draw.palette import light
from whybox.report.draw.scene import Box, Mark, Scene, Words
from whybox.report.text_diff import verdict_line

EDGE, TITLE, TEXT, SMALL = 24, 16, 13, 11
WIDE, TALL, LEFT, GAP, TOP = 400, 220, 56, 40, 112
MOST_BARS = 200
HEIGHT = TOP + TALL + 64


def diff_picture(document: DiffDocument, lang: Lang) -> Scene:
    """Both curves of the text where the runs are farthest apart; without a profile the verdict alone."""
    labels = Labels(lang)
    title = labels.told(verdict_line(document, lang if labels.say("diff.layer") != "layer" else "en"))
    width = 2 * (EDGE + LEFT + WIDE) + GAP
    sides = " ↔ ".join(f"{side.name} ({side.precision})" for side in document.sides)
    marks: list[Mark] = [
        Words(EDGE, 32, shortened(title, int(width / 10.5)), TITLE, light("ink"), bold=True),
        Words(EDGE, 56, shortened(labels.told(sides), int(width / 8)), TEXT, light("quiet")),
    ]
    profile = document.profile
    if profile is not None:
        curves = (
            (labels.say("diff.by_position", site=profile.site), labels.say("diff.position"), profile.by_position),
            (labels.say("diff.by_layer"), labels.say("diff.layer"), profile.by_layer),
        )
        for place, (name, axis, values) in enumerate(curves):
            marks += _curve(name, axis, values, EDGE + LEFT + place * (LEFT + WIDE + GAP))
    return Scene(width, HEIGHT, light("ground"), tuple(marks), title)


def _curve(name: str, axis: str, values: Sequence[float | None], left: float) -> list[Mark]:
    """Title, grid, a bar for every value, the ends of the axis."""
    marks: list[Mark] = [Words(left, TOP - 20, name, TEXT, light("ink"), bold=True)]
    for power, label in TICKS:
        y = TOP + TALL * (1 - height(10.0**power))
        marks += [Box(left, y, WIDE, 1, light("line")), Words(left - 8, y, label, SMALL, light("quiet"), "end")]
    step = max(1, -(-len(values) // MOST_BARS))
    shown = values[::step]
    each = WIDE / max(1, len(shown))
    for place, value in enumerate(shown):
        if value is not None and height(value):
            tall = TALL * height(value)
            marks.append(Box(left + place * each, TOP + TALL - tall, max(each - 1, 0.5), tall, light("seg-7")))
    for text, x, anchor in (("0", left, "start"), (f"{axis} {len(values) - 1}", left + WIDE, "end")):
        marks.append(Words(x, TOP + TALL + 16, text, SMALL, light("quiet"), anchor))  # type: ignore[arg-type]
    return marks
