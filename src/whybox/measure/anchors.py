"""Tokens at which a text pauses: delimiters, line ends, control tokens."""

import unicodedata

from whybox.text.prompt import Prompt, Token


def anchors(prompt: Prompt) -> frozenset[int]:
    """Positions of tokens of punctuation or line ends alone, and of control tokens; the first key is left out."""
    return frozenset(place for place, token in enumerate(prompt.tokens) if place and is_anchor(token))


def is_anchor(token: Token) -> bool:
    """Whether a token is nothing but a pause."""
    return token.control or (token.of == 1 and is_pause(token.text))


def is_pause(text: str) -> bool:
    """Whether a token's text is punctuation or line ends alone."""
    written = text.strip(" \t")
    return bool(written) and all(c in "\r\n" or unicodedata.category(c)[0] == "P" for c in written)
