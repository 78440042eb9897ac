"""Names that documents state where they state the right one: `is Karl.` beside `is Ingrid.`, 是赵强。 beside 是李明。

What stands around the right name is its frame: a word, a mark or a sentence's end on either side, one of them a word.
"""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from whybox.items.scoring.folding import HAN, fold_text, is_han

_HAN_ITEM = rf"(?P<item>[{HAN}]{{2,6}}?)"
_LATIN_ITEM = r"(?P<item>[^\W\d_a-z][^\W_]*(?:['-][^\W_]+)*(?:[ \t][^\W\d_a-z][^\W_]*){0,2}?)"
_WORD_BEFORE = re.compile(r"(?P<word>[^\W_]+)[ \t]+\Z")
_WORD_BEHIND = re.compile(r"[ \t]+(?P<word>[^\W_]+)")


@lru_cache(maxsize=256)
def framed(name: str, texts: Sequence[str]) -> frozenset[str]:
    """Other names in the place of this one, folded; none for a word with a small letter, which may be any word."""
    if not name or not (is_han(name[0]) or name[0].isupper()):
        return frozenset()
    frames = {frame for text in texts for frame in (_frames_in_han if is_han(name[0]) else _frames)(name, text)}
    found = {fold_text(match["item"]) for frame in frames for text in texts for match in re.finditer(frame, text)}
    return frozenset(found - {fold_text(name)})


def _frames_in_han(name: str, text: str) -> Iterator[str]:
    """One character before, two behind; where there is none, that no character stands there."""
    for match in re.finditer(re.escape(name), text):
        before, behind = text[: match.start()][-1:], text[match.end() :][:2]
        opens, closes = not (before and is_han(before)), not (behind and is_han(behind[0]))
        if opens and closes:
            continue
        left = rf"(?<![{HAN}])" if opens else re.escape(before)
        right = rf"(?![{HAN}])" if closes else re.escape(behind)
        yield f"{left}{_HAN_ITEM}{right}"


def _frames(name: str, text: str) -> Iterator[str]:
    """A word before and a word behind; where a mark or an end stands there, any of them."""
    for match in re.finditer(rf"(?<![^\W_]){re.escape(name)}(?![^\W_])", text):
        before, behind = _WORD_BEFORE.search(text[: match.start()]), _WORD_BEHIND.match(text, match.end())
        if before is None and behind is None:
            continue
        left = r"(?:\A|(?<=[^\w \t])[ \t]*)" if before is None else rf"\b{re.escape(before['word'])}[ \t]+"
        right = r"(?=[ \t]*(?:[^\w \t'-]|\Z))" if behind is None else rf"(?=[ \t]+{re.escape(behind['word'])}\b)"
        yield f"{left}{_LATIN_ITEM}{right}"
