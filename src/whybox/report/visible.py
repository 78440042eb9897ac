"""Text that was not written for a screen, made visible: spaces, line ends, control and direction characters."""

import re
import unicodedata

_BEGUN = re.compile(r"\\(?:x[0-9A-F]?|u[0-9a-f]{0,3})?\Z")
_BYTES = re.compile(r"(?:\\x[0-9A-F]{2})+\Z")
_PICTURES = {" ": "·", "\n": "⏎", "\r": "␍", "\t": "⇥", "\x7f": "␡"}


def visible(text: str) -> str:
    """Every character shows: space ·, newline ⏎, tab ⇥; other control, format and direction characters as \\u….

    A terminal gets no escape sequence and a page no hidden reordering from text that came from elsewhere.
    """
    return "".join(_PICTURES.get(c) or _hidden(c) or c for c in text)


def calm(text: str) -> str:
    """Like `visible`, but spaces, newlines and the joiners of scripts and emoji stay: for text that is read."""
    return "".join(c if c in " \n\u200c\u200d" else _PICTURES.get(c) or _hidden(c) or c for c in text)


def one_line(text: str) -> str:
    """Like `calm`, with line ends shown instead of made: for a cell, a list or a sentence."""
    return calm(text).replace("\n", "⏎")


def shortened(text: str, most: int) -> str:
    """At most `most` characters; what is cut is marked by an ellipsis, and no escape (`\\xF0`) is cut in two."""
    return text if len(text) <= most else _BEGUN.sub("", text[: most - 1]) + "…"


def ended(text: str) -> str:
    """Bytes at the end that begin a character and do not finish it (an answer that its limit cut) as an ellipsis."""
    return _BYTES.sub("…", text)


def _hidden(c: str) -> str:
    if ord(c) < 0x20:
        return chr(0x2400 + ord(c))
    if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
        return f"\\u{ord(c):04x}"
    return ""
