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
    for character in data.decode("utf-8", "surrogateescape"):  # a byte without a character comes as U+DC80 … U+DCFF
        escaped = "\udc80" <= character <= "\udcff"
        shown = f"\\x{ord(character) - 0xDC00:02X}" if escaped else character
        width = 1 if escaped else len(character.encode())
        start = len(first)
        first += [length] * width
        length += len(shown)
        last += [length] * width
        whole += [(start, start + width)] * width
        text.append(shown)
    return View("".join(text), tuple(first), tuple(last), tuple(whole))


def readable(text: str) -> str:
    """A text for a label: line break ⏎, tab ⇥, other control characters as their pictures, U+FFFD by name."""
    return text.translate(_PICTURES)


_PICTURES = {code: chr(0x2400 + code) for code in range(32)} | {
    0x09: "⇥",
    0x0A: "⏎",
    0x7F: "␡",
    0xFFFD: "U+FFFD",
}
