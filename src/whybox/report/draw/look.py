"""The three pictures of `look`: every head in one picture, one head's map, attention by segment and layer."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import assert_never

import numpy as np

from whybox.errors import UsageError
from whybox.report.document import Block, HeadMap, Lang, LookDocument, LookPayload, LookSegment, PromptToken
from whybox.report.draw.labels import Labels, shortened
from whybox.report.draw.palette import light, segment_fill, shares
from whybox.report.draw.rows import exact_pattern, pooled
from whybox.report.draw.scene import Box, Cells, Hatch, Mark, Scene, Shape, Words
from whybox.report.html.look_data import MARKS, colour_of, name_of
from whybox.report.html.look_figures import drawn_segments
from whybox.report.numbers import percent

EDGE = 24
TITLE = 18
TEXT = 13
SMALL = 11
TOP = 76  # below the title and the line under it
MOST_LABELS = 96
MOST_CELLS = 512
LABEL_ROOM = 112
STRIP = 10


@dataclass(frozen=True)
class ModelView:
    """Small maps of all heads."""


@dataclass(frozen=True)
class HeadAt:
    """The map of one head."""

    layer: int
    head: int


@dataclass(frozen=True)
class Budget:
    """Attention of the decision query by segment and layer."""


Picture = ModelView | HeadAt | Budget
Point = tuple[float, float]
Axes = tuple[Sequence[Block], Sequence[Block]]


def look_picture(document: LookDocument, payload: LookPayload, which: Picture, lang: Lang) -> Scene:
    """One of the pictures. UsageError for a head that the document does not have."""
    labels = Labels(lang)
    name = labels.told(name_of(document))
    match which:
        case ModelView():
            return _model_view(document, name, labels)
        case HeadAt():
            return _head(document, payload, which, name, labels)
        case Budget():
            return _budget(document, name, labels)
        case _:
            assert_never(which)


def _model_view(document: LookDocument, name: str, labels: Labels) -> Scene:
    layers = sorted({head.layer for head in document.heads})
    across = 1 + max(head.head for head in document.heads)
    cell = max(12, min(44, 960 // across - 4, 1400 // len(layers) - 4))
    step, left, top = cell + 4, EDGE + 28, TOP + 20
    classes = {(head.layer, head.head): head.classes for head in document.heads}
    marks: list[Mark] = []
    for row, layer in enumerate(layers):
        marks.append(_words(left - 8, top + row * step + cell / 2, str(layer), "end"))
    marks += [_words(left + head * step + cell / 2, top - 10, str(head), "middle") for head in range(across)]
    for small in document.maps.heads:
        x, y = left + small.head * step, top + layers.index(small.layer) * step
        marks += [
            Box(x, y, cell, cell, light("sunken")),
            Cells(x, y, cell, cell, shares(_values(small, document), 1.0)),
        ]
        letters = "".join(MARKS[found] for found in classes[small.layer, small.head])[:3]
        marks.append(Words(x + cell - 2, y + 8, letters, 10 if cell >= 24 else 8, light("ink"), "end", bold=True))
    bottom = top + len(layers) * step + 20
    width = max(left + across * step + EDGE, 480)
    marks += _scale(EDGE, bottom, "100 %", labels)
    found = [
        (MARKS[each.name], labels.say(f"look.class.{each.name}"), each.count) for each in document.classes if each.count
    ]
    counts = [f"{mark} {named} {count}".strip() for mark, named, count in found]
    lines = _wrapped(counts, int((width - 2 * EDGE) / 7))
    marks += [_words(EDGE, bottom + 28 + 18 * i, line) for i, line in enumerate(lines)]
    title = labels.say("draw.grid", name=name)
    return _scene(width, bottom + 40 + 18 * len(lines), title, labels.say("look.grid.axes"), marks, labels)


def _values(small: HeadMap, document: LookDocument) -> np.ndarray:
    """The small map with NaN where nothing is seen."""
    shape = (len(document.maps.rows), len(document.maps.columns))
    values = np.full(shape, np.nan)
    for row, line in enumerate(small.values):
        values[row, : len(line)] = [np.nan if value is None else value for value in line]
    return values


def _head(document: LookDocument, payload: LookPayload, at: HeadAt, name: str, labels: Labels) -> Scene:
    found = [small for small in document.maps.heads if (small.layer, small.head) == (at.layer, at.head)]
    if not found:
        raise UsageError(f"there is no layer {at.layer}, head {at.head} to draw", "see the head table: whybox look … ")
    pattern = exact_pattern(document, payload, at.layer, at.head)
    if pattern is None:
        values, rows, columns = _values(found[0], document), document.maps.rows, document.maps.columns
    else:
        values, size = pooled(pattern, MOST_CELLS)
        rows, columns = _blocks(len(pattern), size), _blocks(pattern.shape[1], size)
    return _map(
        document, values, (rows, columns), labels.say("draw.head", name=name, layer=at.layer, head=at.head), labels
    )


def _blocks(count: int, size: int) -> tuple[Block, ...]:
    starts = range(0, count, size)
    return tuple(Block(start=s, end=min(s + size, count), label=f"#{s}") for s in starts)


def _map(document: LookDocument, values: np.ndarray, axes: Axes, title: str, labels: Labels) -> Scene:
    rows, columns = axes
    keys = document.key_tokens or document.tokens
    size = rows[0].end - rows[0].start
    labelled = size == 1 and max(len(rows), len(columns)) <= MOST_LABELS
    cell = max(720 / max(len(rows), len(columns)), 13 if labelled else 0.5)
    left = EDGE + STRIP + 4 + (LABEL_ROOM if labelled else 0)
    wide, high = cell * len(columns), cell * len(rows)
    most = float(np.nanmax(values)) or 1.0
    marks: list[Mark] = [Box(left, TOP, wide, high, light("sunken")), Hatch(left, TOP, wide, high, light("line"))]
    marks.append(Cells(left, TOP, wide, high, shares(values, most)))
    marks += _strip(document, document.tokens, rows, (left - STRIP - 3, TOP), cell, down=True)
    marks += _strip(document, keys, columns, (left, TOP + high + 3), cell, down=False)
    foot = TOP + high + STRIP + 8
    if labelled:
        beside, middles = left - STRIP - 8, [(i + 0.5) * cell for i in range(max(len(rows), len(columns)))]
        marks += [_label(labels, t, (beside, TOP + y), False) for t, y in zip(document.tokens, middles, strict=False)]
        marks += [_label(labels, t, (left + x, foot), True) for t, x in zip(keys, middles, strict=False)]
    bottom = foot + (LABEL_ROOM if labelled else 0) + 24
    marks += _scale(EDGE, bottom, percent(most), labels)
    queries = labels.say("look.rows" if document.direction == "causal" else "look.rows.plain")
    said = f"{queries} ↓ · {labels.say('look.columns')} →"
    note = " · " + labels.say("draw.pooled", n=size) if size > 1 else ""
    return _scene(max(left + wide + EDGE, 480), bottom + 36, title, said + note, marks, labels)


def _label(labels: Labels, token: PromptToken, place: Point, upright: bool) -> Words:
    part = f" {token.part}/{token.of}" if token.of > 1 else ""
    text = shortened(labels.token(token.text, token.id), 14 - len(part)) + part
    return Words(*place, text, SMALL, light("quiet" if part else "ink"), "end", upright=upright)


def _strip(
    document: LookDocument,
    tokens: Sequence[PromptToken],
    blocks: Sequence[Block],
    corner: Point,
    cell: float,
    down: bool,
) -> list[Mark]:
    """A stripe of the segments' colours along an axis, with letters where there is room."""
    owners = [tokens[min(block.start, len(tokens) - 1)].segment for block in blocks]
    colours = colour_of(document.segments)
    edges = [i for i in range(len(owners)) if i == 0 or owners[i] != owners[i - 1]] + [len(owners)]
    marks: list[Mark] = []
    for start, end in pairwise(edges):
        place, long = start * cell, max((end - start) * cell - 1, 0.5)
        x, y = (corner[0], corner[1] + place) if down else (corner[0] + place, corner[1])
        size = (STRIP, long) if down else (long, STRIP)
        marks.append(Box(x, y, size[0], size[1], segment_fill(colours[owners[start]])))
        if long >= 12:
            letter = document.segments[owners[start]].letter
            middle = (x + size[0] / 2, y + size[1] / 2)
            marks.append(Words(*middle, letter, 9, light("surface"), "middle", bold=True))
    return marks


def _budget(document: LookDocument, name: str, labels: Labels) -> Scene:
    colours = colour_of(document.segments)
    places = drawn_segments(document.segments)
    drawn = [document.segments[i] for i in places]
    fills = [light("null") if _grey(document.segments[i]) else segment_fill(colours[i]) for i in places]
    layers = len(document.layers)
    wide, high, left = max(480.0, layers * 18.0), 280.0, EDGE + 48
    below = np.zeros(layers)
    marks: list[Mark] = [Box(left, TOP, wide, high, light("null"))]
    for segment, fill in zip(drawn, fills, strict=True):
        above = below + np.array(segment.share_by_layer)
        marks.append(Shape(_steps(below, above, (left, TOP, wide, high)), fill))
        below = above
    marks += [_words(left - 8, TOP + high * (1 - share), f"{100 * share:g} %", "end") for share in (0.0, 0.5, 1.0)]
    each, foot = wide / layers, TOP + high + 14
    shown = range(0, layers, max(1, round(layers / 15)))
    marks += [_words(left + each * (i + 0.5), foot, str(i), "middle") for i in shown]
    marks.append(_words(left + wide, TOP + high + 34, labels.say("look.budget.x") + " →", "end"))
    for i, (segment, fill) in enumerate(zip(drawn, fills, strict=True)):
        y = TOP + high + 60 + 24 * i
        ink = light("quiet" if _grey(segment) else "surface")
        marks += [Box(left, y - 9, 18, 18, fill), Words(left + 9, y, segment.letter, 11, ink, "middle", bold=True)]
        marks.append(Words(left + 28, y, labels.told(segment.name), TEXT, light("ink")))
        marks.append(Words(left + 300, y, percent(segment.share), TEXT, light("ink"), "end"))
    height = TOP + high + 60 + 24 * len(drawn) + 24
    title = labels.say("draw.budget", name=name)
    whose = "look.budget.decision" if document.decision.position is not None else "look.budget.mean"
    said = f"{labels.say(whose)}: {labels.say('look.budget.y')}"
    return _scene(left + wide + EDGE, height, title, said, marks, labels)


def _grey(segment: LookSegment) -> bool:
    return segment.kind in ("template", "bos", "sink")


def _steps(
    low: np.ndarray, high: np.ndarray, box: tuple[float, float, float, float]
) -> tuple[tuple[float, float], ...]:
    """A closed outline with a flat piece for each layer."""
    left, top, wide, tall = box
    edges = left + wide * np.arange(len(low) + 1) / len(low)
    upper = [(x, top + tall * (1 - y)) for i, y in enumerate(high) for x in (edges[i], edges[i + 1])]
    lower = [(x, top + tall * (1 - y)) for i, y in enumerate(low) for x in (edges[i], edges[i + 1])]
    return tuple((float(x), float(y)) for x, y in [*upper, *reversed(lower)])


def _scale(x: float, y: float, most: str, labels: Labels) -> list[Mark]:
    """0 … most, and what the colours are."""
    steps = shares(np.linspace(0, 1, 64)[None, :] ** 2, 1.0)
    marks: list[Mark] = [_words(x, y, "0"), Cells(x + 14, y - 6, 140, 12, steps), _words(x + 162, y, most)]
    return [*marks, _words(x + 214, y, labels.say("look.scale"))]


def _words(x: float, y: float, text: str, anchor: str = "start") -> Words:
    return Words(x, y, text, SMALL, light("quiet"), anchor)  # type: ignore[arg-type]


def _wrapped(pieces: Sequence[str], most: int) -> list[str]:
    """The pieces in lines of about so many characters."""
    lines = [""]
    for piece in pieces:
        longer = f"{lines[-1]} · {piece}" if lines[-1] else piece
        if len(longer) <= most:
            lines[-1] = longer
        else:
            lines.append(piece)
    return lines


def _scene(width: float, height: float, title: str, said: str, marks: Sequence[Mark], labels: Labels) -> Scene:
    """The frame of every picture: title, a line under it, and a notice where labels are ids."""
    head: list[Mark] = [Words(EDGE, 32, shortened(title, int(width / 9)), TITLE, light("ink"), bold=True)]
    head.append(Words(EDGE, 54, said, TEXT, light("quiet")))
    if labels.missing:
        head.append(Words(EDGE, height + 4, labels.say("draw.ids", n=labels.missing), SMALL, light("quiet")))
        height += 24
    return Scene(width, height, light("ground"), (*head, *marks), title)
