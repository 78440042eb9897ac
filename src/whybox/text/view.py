"""Bytes as characters: the map between both, and labels that never show half a character as rubbish."""

from dataclasses import dataclass

Range = tuple[int, int]


@dataclass(frozen=True)
class View:
    """text: the bytes as UTF-8, a byte that belongs to no character written `\\xF0`.

    first, last: for each byte the characters of `text` that stand for it, first … last (end excluded).
    whole: for each byte the bytes start … end of the character that holds it.
    """

    text: str
    first: tuple[int, ...]
    last: tuple[int, ...]
    whole: tuple[Range, ...]

    def characters(self, place: Range) -> Range:
        """Characters touched by the bytes start … end; an empty place touches none."""
        start, end = place
        if start < end:
            return self.first[start], self.last[end - 1]
        here = self.first[start] if start < len(self.first) else len(self.text)
        return here, here

    def cut(self, place: Range) -> list[Range]:
        """The characters (as byte ranges) of which the place holds a part only."""
        start, end = place
        if start >= end:
            return []
        ends = dict.fromkeys((self.whole[start], self.whole[end - 1]))
        return [(first, last) for first, last in ends if first < start or last > end]


def view(data: bytes) -> View:
    """The view of any bytes, valid UTF-8 or not.

    b"a\\xf0" → text `a\\xF0`, first (0, 1), last (1, 5).
    """
    text: list[str] = []
    first: list[int] = []
    last: list[int] = []
    whole: list[Range] = []
    length = 0
    for piece in _pieces(data):
        shown = piece.decode() if _valid(piece) else f"\\x{piece[0]:02X}"
        start = len(first)
        first += [length] * len(piece)
        length += len(shown)
        last += [length] * len(piece)
        whole += [(start, start + len(piece))] * len(piece)
        text.append(shown)
    return View("".join(text), tuple(first), tuple(last), tuple(whole))


def _pieces(data: bytes) -> list[bytes]:
    """Whole characters, and single bytes where there is none."""
    found: list[bytes] = []
    place = 0
    while place < len(data):
        try:
            valid, stop = data[place:].decode(), len(data)
        except UnicodeDecodeError as error:
            stop = place + error.start
            valid = data[place:stop].decode()
        found += [character.encode() for character in valid]
        if stop < len(data):
            found.append(data[stop : stop + 1])
            stop += 1
        place = stop
    return found


def _valid(piece: bytes) -> bool:
    return len(piece) > 1 or piece[0] < 0x80


def readable(text: str) -> str:
    """A text for a label: line break ⏎, tab ⇥, other control characters as their pictures, U+FFFD by name."""
    return text.translate(_PICTURES)


_PICTURES = {code: chr(0x2400 + code) for code in range(32)} | {
    0x09: "⇥",
    0x0A: "⏎",
    0x7F: "␡",
    0xFFFD: "U+FFFD",
}
