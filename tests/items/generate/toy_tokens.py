"""A toy tokenizer for the tests: pieces of three letters, single digits, single Chinese characters, single signs."""

import re
from collections.abc import Sequence
from itertools import pairwise

from whybox.items.generate import Encoded

_PIECE = re.compile(r" ?[A-Za-z]{1,3}|[0-9]|\s|[^\sA-Za-z0-9]")


def pieces(text: str) -> list[str]:
    return _PIECE.findall(text)


def count_tokens(text: str) -> int:
    return len(pieces(text))


def encode(before: str, passage: str, after: str) -> Encoded:
    """The three parts between a head and a tail, joined by line ends that belong to no part."""
    ids: list[int] = [1, 2]
    spans = {}
    for name, text in (("before", before), ("passage", passage), ("after", after)):
        start = len(ids)
        ids.extend(_id(piece) for piece in pieces(text))
        spans[name] = (start, len(ids))
        ids.append(0)
    return Encoded(tuple(ids), spans)


def _id(piece: str) -> int:
    return 3 + sum(ord(letter) << (16 * i) for i, letter in enumerate(piece))


def strictly_rising(values: Sequence[float]) -> bool:
    return all(a < b for a, b in pairwise(values))
