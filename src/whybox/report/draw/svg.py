"""A scene as SVG: text stays text, cells are small embedded images. No script, nothing is loaded."""

import base64
import struct
import zlib
from typing import assert_never
from xml.sax.saxutils import escape, quoteattr

import numpy as np
from jaxtyping import UInt8

from whybox.report.draw.scene import Box, Cells, Hatch, Mark, Scene, Shape, Words

FAMILY = "system-ui, 'DejaVu Sans', 'Noto Sans', 'Noto Sans CJK SC', 'PingFang SC', 'Microsoft YaHei', sans-serif"
FINEST = 4  # pixels of a cell: viewers that smooth images then blur an edge, not a cell


def svg_text(scene: Scene) -> str:
    """The whole file. Text from elsewhere is escaped."""
    size = f'width="{scene.width:g}" height="{scene.height:g}" viewBox="0 0 {scene.width:g} {scene.height:g}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-family={quoteattr(FAMILY)}>'
    ground = f'<rect width="100%" height="100%" fill="{scene.ground}"/>'
    marks = "\n".join(
        [*(_pattern(mark.fill) for mark in scene.marks if isinstance(mark, Hatch)), *map(_mark, scene.marks)]
    )
    return f"{head}\n<title>{escape(scene.title)}</title>\n{ground}\n{marks}\n</svg>\n"


def _pattern(colour: str) -> str:
    how = 'width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"'
    return f'<defs><pattern id="hatch" {how}><path d="M0 0V5" stroke="{colour}"/></pattern></defs>'


def _mark(mark: Mark) -> str:
    match mark:
        case Box():
            paint = f'fill="none" stroke="{mark.fill}"' if mark.line else f'fill="{mark.fill}"'
            return f'<rect x="{mark.x:g}" y="{mark.y:g}" width="{mark.width:g}" height="{mark.height:g}" {paint}/>'
        case Shape():
            points = " ".join(f"{x:.2f},{y:.2f}" for x, y in mark.points)
            return f'<polygon points="{points}" fill="{mark.fill}"/>'
        case Words():
            return _words(mark)
        case Cells():
            return _cells(mark)
        case Hatch():
            box = f'x="{mark.x:g}" y="{mark.y:g}" width="{mark.width:g}" height="{mark.height:g}"'
            return f'<rect {box} fill="url(#hatch)"/>'
        case _:
            assert_never(mark)


def _words(words: Words) -> str:
    place = f'x="{words.x:g}" y="{words.y:g}"'
    turned = f' transform="rotate(-90 {words.x:g} {words.y:g})"' if words.upright else ""
    weight = ' font-weight="600"' if words.bold else ""
    look = f'font-size="{words.size:g}" fill="{words.fill}" text-anchor="{words.anchor}"{weight}'
    return f'<text {place} dy="0.35em" {look}{turned} xml:space="preserve">{escape(words.text)}</text>'


def _cells(cells: Cells) -> str:
    data = base64.b64encode(small_png(np.repeat(np.repeat(cells.colours, FINEST, 0), FINEST, 1))).decode()
    box = f'x="{cells.x:g}" y="{cells.y:g}" width="{cells.width:g}" height="{cells.height:g}"'
    how = 'preserveAspectRatio="none" image-rendering="pixelated"'
    return f'<image {box} {how} href="data:image/png;base64,{data}"/>'


def small_png(colours: UInt8[np.ndarray, "rows columns 4"]) -> bytes:
    """A PNG of 8-bit RGBA pixels, after the PNG specification (third edition): IHDR, one IDAT, IEND."""
    rows, columns, _ = colours.shape
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), colours.reshape(rows, -1)], axis=1)
    header = struct.pack(">IIBBBBB", columns, rows, 8, 6, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines.tobytes(), 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in chunks)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
