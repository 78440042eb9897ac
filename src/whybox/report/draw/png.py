"""A scene as PNG, drawn by Pillow at twice its size."""

from functools import cache
from io import BytesIO
from typing import assert_never

from PIL import Image, ImageDraw, ImageFont, features

from whybox.report.draw.fonts import Face, face_for, needs_shaping
from whybox.report.draw.scene import Box, Cells, Hatch, Scene, Shape, Words

SHARP = 2
ALIGN = {"start": "lm", "middle": "mm", "end": "rm"}


def png_bytes(scene: Scene) -> bytes:
    """The whole file."""
    image = Image.new("RGB", (round(scene.width * SHARP), round(scene.height * SHARP)), scene.ground)
    pen = ImageDraw.Draw(image)
    for mark in scene.marks:
        match mark:
            case Box():
                _box(pen, mark)
            case Shape():
                pen.polygon([(x * SHARP, y * SHARP) for x, y in mark.points], fill=mark.fill)
            case Words():
                _words(image, pen, mark)
            case Cells():
                _cells(image, mark)
            case Hatch():
                _hatch(image, mark)
            case _:
                assert_never(mark)
    file = BytesIO()
    image.save(file, "PNG", optimize=True)
    return file.getvalue()


def writable(text: str) -> bool:
    """Whether an installed font has every character of a text, and what draws it can join its letters."""
    return face_for(text) is not None and (not needs_shaping(text) or bool(features.check("raqm")))


def _box(pen: ImageDraw.ImageDraw, box: Box) -> None:
    corners = [box.x * SHARP, box.y * SHARP, (box.x + box.width) * SHARP - 1, (box.y + box.height) * SHARP - 1]
    corners[2:] = max(corners[0], corners[2]), max(corners[1], corners[3])
    if box.line:
        pen.rectangle(corners, outline=box.fill, width=SHARP)
    else:
        pen.rectangle(corners, fill=box.fill)


def _hatch(image: Image.Image, hatch: Hatch) -> None:
    width, height = round(hatch.width * SHARP), round(hatch.height * SHARP)
    lines = Image.new("L", (width, height), 0)
    pen = ImageDraw.Draw(lines)
    for x in range(-height, width, 7 * SHARP):
        pen.line([(x, height), (x + height, 0)], fill=255, width=SHARP)
    corner = (round(hatch.x * SHARP), round(hatch.y * SHARP))
    image.paste(Image.new("RGB", lines.size, hatch.fill), corner, lines)


def _words(image: Image.Image, pen: ImageDraw.ImageDraw, words: Words) -> None:
    face = face_for(words.text, words.bold)
    if face is None:
        return
    font = _font(face, round(words.size * SHARP))
    place = (words.x * SHARP, words.y * SHARP)
    if not words.upright:
        pen.text(place, words.text, fill=words.fill, font=font, anchor=ALIGN[words.anchor])
        return
    width, height = round(font.getlength(words.text)) + 2, round(words.size * SHARP * 1.5)
    line = Image.new("L", (width, height), 0)
    ImageDraw.Draw(line).text((1, height / 2), words.text, fill=255, font=font, anchor="lm")
    turned = line.rotate(90, expand=True)
    above = {"start": 1.0, "middle": 0.5, "end": 0.0}[words.anchor]
    corner = (round(place[0] - height / 2), round(place[1] - above * width))
    image.paste(Image.new("RGB", turned.size, words.fill), corner, turned)


def _cells(image: Image.Image, cells: Cells) -> None:
    size = (max(1, round(cells.width * SHARP)), max(1, round(cells.height * SHARP)))
    drawn = Image.fromarray(cells.colours).resize(size, Image.Resampling.NEAREST)
    image.paste(drawn, (round(cells.x * SHARP), round(cells.y * SHARP)), drawn)


@cache
def _font(face: Face, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(str(face.path), size, index=face.index)
