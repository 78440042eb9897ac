"""Texts of a picture: as they are where an installed font covers them, else ids with a notice."""

import unicodedata
from dataclasses import dataclass

from whybox.report.document import Lang
from whybox.report.draw.png import writable
from whybox.report.visible import one_line, visible
from whybox.report.words import say


@dataclass
class Labels:
    """Writes what can be written, and counts the tokens that it named by id. English where no font has Chinese."""

    lang: Lang
    missing: int = 0

    def say(self, key: str, **values: object) -> str:
        """A sentence of the catalogue."""
        said = say(key, self.lang, **values)
        return said if writable(said) else say(key, "en", **values)

    def told(self, text: str) -> str:
        """A name from elsewhere; what no font has becomes its escape."""
        calm = one_line(text)
        return calm if writable(calm) else calm.encode("ascii", "backslashreplace").decode()

    def token(self, text: str, number: int) -> str:
        """The text of a token with its spaces visible, else `#id`."""
        shown = visible(text)
        if shown and writable(shown):
            return shown
        self.missing += 1
        return f"#{number}"


def shortened(text: str, most: int) -> str:
    """At most so many columns, wide characters counted twice; the cut is marked."""
    if sum(map(_columns, text)) <= most:
        return text
    kept, used = "", 1
    for character in text:
        used += _columns(character)
        if used > most:
            break
        kept += character
    return kept + "…"


def _columns(character: str) -> int:
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
