"""Slots in case texts: `{name}` is filled, `{{` and `}}` are literal braces, any other brace is a mistake."""

import re
from collections.abc import Iterator, Mapping

_PIECE = re.compile(r"(?P<open>\{\{)|(?P<close>\}\})|\{(?P<slot>[A-Za-z_]\w*)\}|(?P<stray>[{}])")


def slots_in(text: str) -> Iterator[str]:
    """Names of the slots of a text, in order, repeats included."""
    return (match["slot"] for match in _PIECE.finditer(text) if match["slot"])


def stray_brace(text: str) -> int | None:
    """Where a brace stands that is neither a slot nor doubled; None when there is none."""
    return next((match.start() for match in _PIECE.finditer(text) if match["stray"]), None)


def fill(text: str, values: Mapping[str, str]) -> str:
    """The text with every slot replaced and doubled braces made single. KeyError on a slot without value."""

    def piece(match: re.Match[str]) -> str:
        if match["slot"]:
            return values[match["slot"]]
        return match[0][0]

    return _PIECE.sub(piece, text)


def escape(text: str) -> str:
    """Text from elsewhere made literal: `fill(escape(text), …) == text`."""
    return text.replace("{", "{{").replace("}", "}}")
