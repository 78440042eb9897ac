"""Plain text → ids, each with the bytes of the text that it covers. No control token can come out of here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import NamedTuple, Protocol, runtime_checkable

import tokenizers

from whybox.errors import UnsupportedError


class Piece(NamedTuple):
    """One id and the bytes start … end of the text that it covers (empty for a space that the tokenizer adds)."""

    id: int
    start: int
    end: int


@runtime_checkable
class Codec(Protocol):
    """`opening` tells whether the run stands at the very start of the prompt (some tokenizers put a space there)."""

    def pieces(self, text: str, opening: bool) -> list[Piece]: ...

    def content(self) -> str:
        """All that decides which ids come out, as one text."""
        ...


@dataclass(frozen=True)
class LibraryCodec:
    """A tokenizer of the `tokenizers` library from which every control token was taken out.

    exact: the bytes of the ids must spell the text; without it (a tokenizer that normalises) the library's offsets
    count.
    """

    opening: tokenizers.Tokenizer
    inside: tokenizers.Tokenizer
    token_bytes: Callable[[int], bytes]
    exact: bool

    def pieces(self, text: str, opening: bool) -> list[Piece]:
        encoding = (self.opening if opening else self.inside).encode(text, add_special_tokens=False)
        data = text.encode()
        spans = spans_of([self.token_bytes(token) for token in encoding.ids], data)
        if spans is None and self.exact:
            raise UnsupportedError(
                f"the tokenizer's ids do not spell the text: {text[:40]!r}; its vocabulary lacks some byte values"
            )
        found = _spans_of_characters(text, encoding.offsets) if spans is None else spans
        return [Piece(token, start, end) for token, (start, end) in zip(encoding.ids, found, strict=True)]

    def content(self) -> str:
        """Both libraries as they write themselves."""
        inside = "" if self.inside is self.opening else self.inside.to_str()
        return f"{self.exact}\n{self.opening.to_str()}\n{inside}"


def spans_of(parts: Sequence[bytes], data: bytes) -> list[tuple[int, int]] | None:
    """Byte spans of `parts` laid end to end, if they spell `data` exactly, or after one added space; else None."""
    joined = b"".join(parts)
    if joined == data:
        extra = 0
    elif joined == b" " + data:
        extra = 1
    else:
        return None
    ends = list(accumulate(map(len, parts), initial=0))
    return [(max(start - extra, 0), max(end - extra, 0)) for start, end in pairwise(ends)]


def _spans_of_characters(text: str, offsets: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    places = [0, *accumulate(len(character.encode()) for character in text)]
    return [(places[start], places[end]) for start, end in offsets]
