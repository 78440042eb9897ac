"""What each id stands for: its bytes, and whether it steers the model instead of spelling text."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from whybox.text import byte_level

SPACE_MARK = "▁"  # U+2581, a space in SentencePiece vocabularies
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>")
_LOOKS_LIKE_CONTROL = re.compile(r"<\|.*\|>|<｜.*｜>|<(?:start|end)_of_\w+>|<unused\d+>|<(?:pad|mask|bos|eos)>")


class Spelling(StrEnum):
    """How a vocabulary entry spells bytes."""

    BYTE_LEVEL = "byte level"
    SPACE_MARK = "▁ for a space, <0xXX> for a byte"
    WORD_PIECE = "## continues a word"


@dataclass(frozen=True)
class Control:
    """A control token as text: the blanks that it swallows on either side belong to it."""

    text: str
    id: int
    strip_left: bool = False
    strip_right: bool = False


def looks_like_control(text: str) -> bool:
    """Whether a token is written like a control token; some files forget to mark theirs as such."""
    return _LOOKS_LIKE_CONTROL.fullmatch(text) is not None


@dataclass(frozen=True)
class Vocabulary:
    """`literal` ids (control and added tokens) are spelled exactly as written, the others by the rule of `spelling`."""

    tokens: Sequence[str]
    spelling: Spelling
    controls: tuple[Control, ...]
    literal: frozenset[int]
    control_ids: frozenset[int] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "control_ids", frozenset(control.id for control in self.controls))

    def token_bytes(self, token: int) -> bytes:
        """The bytes of one id; an invalid UTF-8 sequence is normal, characters are cut across ids."""
        text = self.tokens[token]
        if token in self.literal:
            return text.encode("utf-8", "surrogatepass")
        match self.spelling:
            case Spelling.BYTE_LEVEL:
                return byte_level.to_bytes(text)
            case Spelling.SPACE_MARK:
                return _space_mark_bytes(text)
            case Spelling.WORD_PIECE:
                return text.removeprefix("##").encode()


def _space_mark_bytes(text: str) -> bytes:
    byte = _BYTE_TOKEN.fullmatch(text)
    return bytes([int(byte[1], 16)]) if byte else text.replace(SPACE_MARK, " ").encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Match:
    """Characters start … end of a text that spell one token."""

    start: int
    end: int
    id: int


class Finder:
    """Leftmost, longest occurrences of a set of tokens in a text."""

    def __init__(self, controls: Sequence[Control]) -> None:
        self.controls = tuple(controls)
        self._controls: Mapping[str, Control] = {control.text: control for control in controls if control.text}
        lengths: dict[str, set[int]] = {}
        for text in self._controls:
            lengths.setdefault(text[0], set()).add(len(text))
        self._lengths = {first: sorted(found, reverse=True) for first, found in lengths.items()}
        self._first = re.compile("[" + re.escape("".join(lengths)) + "]") if lengths else None

    def find(self, text: str) -> Iterator[Match]:
        """Matches in order, not overlapping; swallowed blanks included."""
        position = 0
        while self._first and (hit := self._first.search(text, position)):
            control = self._longest(text, hit.start())
            if control is None:
                position = hit.start() + 1
                continue
            match = _with_blanks(text, control, hit.start(), position)
            yield match
            position = match.end

    def _longest(self, text: str, start: int) -> Control | None:
        candidates = (text[start : start + length] for length in self._lengths[text[start]])
        return next((self._controls[candidate] for candidate in candidates if candidate in self._controls), None)


def _with_blanks(text: str, control: Control, start: int, floor: int) -> Match:
    end = start + len(control.text)
    while control.strip_left and start > floor and text[start - 1].isspace():
        start -= 1
    while control.strip_right and end < len(text) and text[end].isspace():
        end += 1
    return Match(start, end, control.id)
