"""Text made comparable, with the way back: every folded character knows its place in the original.

NFKC, case folding, zero-width characters and markdown marks removed, blanks between CJK characters removed. Signs that
NFKC would melt into a neighbouring number (7½ → 71⁄2, 7² → 72, ⒈7 → 1.7) are kept apart.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

CJK = r"\u2e80-\u2fff\u3001-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff0c“”‘’"
HAN = r"\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"

_DASHES = dict.fromkeys("\u2010\u2011\u2012\u2013\u2212\ufe63\uff0d", "-")
# The full-width comma parts clauses and never digits, so it must not become the ASCII one.
_KEPT = {**_DASHES, "’": "'", "，": "，"}

_STRUCK = re.compile(r"~~[^~\n]+~~")
_MARKS = re.compile(
    r"(?<![0-9*])\*+|\*+(?![0-9*])"  # a star between two digits is arithmetic
    r"|`+"
    r"|(?<!\w)_+|_+(?!\w)"  # an underscore inside a word is part of it
    r"|^[ \t]*(?:#+|>(?![ \t]*[$€£¥]?[0-9]))[ \t]*",  # before a number it says more than
    re.MULTILINE,
)
# $7$ is a formula, $7 a price; \text{…} and \boxed{…} only dress what they hold.
_FORMULA = re.compile(r"\$[^$\n]{1,80}\$(?![0-9])")
_FORMULA_MARKS = re.compile(r"\\(?:text|textbf|mathrm|boxed)\{")
# Letters behind a cluster of this length are judged by its end alone; endless accents stay cheap.
_LONGEST = 32
_CJK_BLANK = re.compile(rf"(?<=[{CJK}])[ \t]+(?=[{CJK}])")


@dataclass(frozen=True)
class Folded:
    """Folded text; `starts[i]`, `ends[i]` bound the original characters that folded character i came from."""

    text: str
    starts: tuple[int, ...]
    ends: tuple[int, ...]
    original: str

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Offsets in the original of the folded range [start, end)."""
        return self.starts[start], self.ends[end - 1]

    def written(self, index: int) -> str:
        """The original characters behind one folded character, case as written."""
        return self.original[self.starts[index] : self.ends[index]]

    def as_written(self) -> str:
        """Folded text with its capitals: as long as `text`, sign for sign."""
        pairs = zip(self.text, self.starts, self.ends, strict=True)
        return "".join(self.original[start] if end == start + 1 else letter for letter, start, end in pairs)

    def without(self, pattern: re.Pattern[str]) -> "Folded":
        """The same text with every match removed."""
        gone = {i for match in pattern.finditer(self.text) for i in range(*match.span())}
        return self._kept([i for i in range(len(self.text)) if i not in gone])

    def without_ends(self, pattern: re.Pattern[str]) -> "Folded":
        """The same text with the first and last character of every match removed, as of a pair of signs."""
        gone = {i for match in pattern.finditer(self.text) for i in (match.start(), match.end() - 1)}
        return self._kept([i for i in range(len(self.text)) if i not in gone])

    def blanked(self, pattern: re.Pattern[str]) -> "Folded":
        """The same text with every match turned into blanks."""
        return replace(self, text=pattern.sub(lambda match: " " * len(match[0]), self.text))

    def _kept(self, indices: list[int]) -> "Folded":
        return Folded(
            "".join(self.text[i] for i in indices),
            tuple(self.starts[i] for i in indices),
            tuple(self.ends[i] for i in indices),
            self.original,
        )


def fold(text: str) -> Folded:
    """Fold text for matching, keeping the map to the original characters."""
    letters: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for start, end in _clusters(text):
        piece = _folded_cluster(text[start:end])
        letters.append(piece)
        starts.extend([start] * len(piece))
        ends.extend([end] * len(piece))
    raw = Folded("".join(letters), tuple(starts), tuple(ends), text)
    plain = raw.blanked(_STRUCK).without(_MARKS).without_ends(_FORMULA).without(_FORMULA_MARKS)
    return plain.without(_CJK_BLANK)


def fold_text(text: str) -> str:
    """Only the folded characters, for candidates whose offsets nobody needs."""
    return fold(text).text


def _clusters(text: str) -> Iterator[tuple[int, int]]:
    """Shortest pieces that normalise independently of each other: a letter with its accents, a Hangul syllable."""
    start = 0
    for i in range(1, len(text)):
        if not _melts(text[max(start, i - _LONGEST) : i], text[i]):
            yield start, i
            start = i
    if text:
        yield start, len(text)


def _melts(cluster: str, letter: str) -> bool:
    if letter.isascii():
        return False
    if unicodedata.combining(letter):
        return True
    joined = unicodedata.normalize("NFKC", cluster + letter)
    return joined != unicodedata.normalize("NFKC", cluster) + unicodedata.normalize("NFKC", letter)


def _folded_cluster(cluster: str) -> str:
    if cluster.isascii():
        return cluster.lower()
    if cluster in _KEPT:
        return _KEPT[cluster]
    if len(cluster) == 1:
        special = _folded_sign(cluster)
        if special is not None:
            return special
    plain = unicodedata.normalize("NFKC", cluster).casefold()
    return unicodedata.normalize("NFKC", plain)


def _folded_sign(sign: str) -> str | None:
    """Zero-width signs vanish, foreign digits become ASCII, compound number signs stay whole or become a blank."""
    if unicodedata.category(sign) == "Cf":
        return ""
    digit = unicodedata.decimal(sign, None)
    if digit is not None:
        return str(digit)
    if not any(letter.isdigit() for letter in unicodedata.normalize("NFKC", sign)):
        return None
    tag = unicodedata.decomposition(sign).split(" ")[0]
    return sign if tag in ("<fraction>", "<super>", "<sub>") else " "


def is_han(letter: str) -> bool:
    """Whether a character is a Chinese character (not CJK punctuation)."""
    return bool(re.match(rf"[{HAN}]", letter))


def is_word(letter: str) -> bool:
    """Whether a character continues a Latin word or a number: letters and digits, but not CJK, which has no blanks."""
    return letter.isalnum() and not re.match(rf"[{CJK}]", letter)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether [start, end) has no Latin letter or digit touching a Latin or numeric end of its own."""
    left_free = start == 0 or not (is_word(text[start - 1]) and is_word(text[start]))
    right_free = end == len(text) or not (is_word(text[end]) and is_word(text[end - 1]))
    return left_free and right_free
