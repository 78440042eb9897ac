"""Which installed font can write a text: from the fonts' own tables of characters, without a font library."""

import os
import struct
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDERS = (
    "~/.fonts", "~/.local/share/fonts", "/usr/share/fonts", "/usr/local/share/fonts",
    "/System/Library/Fonts", "/Library/Fonts", "~/Library/Fonts", "C:/Windows/Fonts",
)  # fmt: skip
# Asked first, in this order; any other font only where these cannot write a text.
PREFERRED = (
    "DejaVuSans.ttf", "NotoSans-Regular.ttf", "LiberationSans-Regular.ttf", "segoeui.ttf", "Arial.ttf", "arial.ttf",
    "Helvetica.ttc", "NotoSansCJK-Regular.ttc", "NotoSansSC-Regular.otf", "PingFang.ttc", "msyh.ttc", "msgothic.ttc",
    "NotoSansArabic-Regular.ttf", "NotoEmoji-Regular.ttf", "seguisym.ttf", "Arial Unicode.ttf", "unifont.ttf",
)  # fmt: skip
BOLD = {
    "DejaVuSans.ttf": "DejaVuSans-Bold.ttf",
    "LiberationSans-Regular.ttf": "LiberationSans-Bold.ttf",
    "NotoSansCJK-Regular.ttc": "NotoSansCJK-Bold.ttc",
}
SUFFIXES = (".ttf", ".otf", ".ttc")
MOST_FILES = 2_000


@dataclass(frozen=True)
class Face:
    """A font file; `index` is the place in a collection."""

    path: Path
    index: int = 0


def face_for(text: str, bold: bool = False) -> Face | None:
    """The first font that has every character of the text; None where this machine has none."""
    wanted = frozenset(map(ord, text))
    for path in installed():
        if wanted <= characters(path):
            return Face(_bold_of(path) if bold else path)
    return None


def needs_shaping(text: str) -> bool:
    """Whether letters join, stack or run from right to left."""
    return any(unicodedata.bidirectional(c) in ("R", "AL") or unicodedata.category(c) == "Mn" for c in text)


@cache
def installed() -> tuple[Path, ...]:
    """Font files of this machine, the preferred ones first."""
    found = {path.name: path for path in _walk()}
    first = [found[name] for name in PREFERRED if name in found]
    rest = sorted(path for name, path in found.items() if name not in PREFERRED)
    return (*first, *rest)


def _walk() -> Iterator[Path]:
    count = 0
    for folder in FOLDERS:
        for root, _, names in os.walk(Path(folder).expanduser()):
            for name in sorted(names):
                if name.lower().endswith(SUFFIXES) and count < MOST_FILES:
                    count += 1
                    yield Path(root) / name


def _bold_of(path: Path) -> Path:
    bold = path.with_name(BOLD.get(path.name, path.name))
    return bold if bold.exists() else path


@cache
def characters(path: Path) -> frozenset[int]:
    """Code points that a font (the first of a collection) can draw as outlines; empty for what cannot be read."""
    try:
        return frozenset(_read(path.read_bytes()))
    except (OSError, struct.error, IndexError, ValueError):
        return frozenset()


def _read(data: bytes) -> set[int]:
    start = struct.unpack_from(">I", data, 12)[0] if data[:4] == b"ttcf" else 0
    count = struct.unpack_from(">H", data, start + 4)[0]
    entries = [struct.unpack_from(">4sIII", data, start + 12 + 16 * i) for i in range(count)]
    tables = {tag: place for tag, _, place, _ in entries}
    if b"glyf" not in tables and b"CFF " not in tables:
        return set()
    place = tables[b"cmap"]
    found: set[int] = set()
    for i in range(struct.unpack_from(">H", data, place + 2)[0]):
        platform, _, offset = struct.unpack_from(">HHI", data, place + 4 + 8 * i)
        if platform in (0, 3):
            found |= _subtable(data, place + offset)
    return found


def _subtable(data: bytes, place: int) -> set[int]:
    """Formats 4 and 12 of the cmap table (OpenType specification): the two that Unicode fonts have."""
    match struct.unpack_from(">H", data, place)[0]:
        case 4:
            return _segments(data, place)
        case 12:
            groups = struct.unpack_from(">I", data, place + 12)[0]
            spans = [struct.unpack_from(">III", data, place + 16 + 12 * i) for i in range(groups)]
            return {code for first, last, _ in spans for code in range(first, min(last, 0x10FFFF) + 1)}
        case _:
            return set()


def _segments(data: bytes, place: int) -> set[int]:
    count = struct.unpack_from(">H", data, place + 6)[0] // 2
    at = place + 14
    ends = struct.unpack_from(f">{count}H", data, at)
    starts = struct.unpack_from(f">{count}H", data, at + 2 * count + 2)
    deltas = struct.unpack_from(f">{count}H", data, at + 4 * count + 2)
    offsets_at = at + 6 * count + 2
    offsets = struct.unpack_from(f">{count}H", data, offsets_at)
    found: set[int] = set()
    for i, (first, last, delta, offset) in enumerate(zip(starts, ends, deltas, offsets, strict=True)):
        if first == 0xFFFF:
            continue
        if offset == 0:
            found |= {code for code in range(first, last + 1) if (code + delta) & 0xFFFF}
            continue
        glyphs = offsets_at + 2 * i + offset
        found |= {c for c in range(first, last + 1) if struct.unpack_from(">H", data, glyphs + 2 * (c - first))[0]}
    return found
