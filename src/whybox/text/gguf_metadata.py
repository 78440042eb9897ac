"""Typed access to the tokenizer's keys in GGUF metadata; a value of another type is refused by name."""

from collections.abc import Mapping, Sequence
from enum import IntEnum
from numbers import Integral
from typing import TypeVar

import numpy as np

from whybox.errors import FormatError

Metadata = Mapping[str, object]
T = TypeVar("T", str, int, float, bool)


class Kind(IntEnum):
    """`tokenizer.ggml.token_type`."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


def value(metadata: Metadata, key: str, kind: type[T]) -> T | None:
    """The value of `tokenizer.ggml.KEY`, None where the file has none."""
    found = metadata.get(f"tokenizer.ggml.{key}")
    if isinstance(found, np.generic):
        found = found.item()
    if found is None or isinstance(found, kind):
        return found
    raise _refusal(key, kind.__name__, found)


def flag(metadata: Metadata, key: str, default: bool) -> bool:
    """A boolean key, or what such files mean when they leave it out."""
    found = value(metadata, key, bool)
    return default if found is None else found


def items(metadata: Metadata, key: str, kind: type[T]) -> list[T]:
    """A list of one type, empty where the file has none."""
    found = metadata.get(f"tokenizer.ggml.{key}")
    if found is None:
        return []
    if isinstance(found, np.ndarray):
        found = found.tolist()
    if not isinstance(found, Sequence) or isinstance(found, (str, bytes)):
        raise _refusal(key, f"list of {kind.__name__}", found)
    for item in (found[0], found[-1]) if found else ():
        if not isinstance(item, Integral if kind is int else kind):
            raise _refusal(key, f"list of {kind.__name__}", item)
    return list(found)


def token_kinds(metadata: Metadata) -> list[int]:
    """Type of every token; in a file without the list all are normal."""
    count = len(items(metadata, "tokens", str))
    kinds = items(metadata, "token_type", int) or [int(Kind.NORMAL)] * count
    return _one_each(kinds, count, "token_type")


def token_scores(metadata: Metadata) -> list[float]:
    """Score of every token."""
    return _one_each(items(metadata, "scores", float), len(items(metadata, "tokens", str)), "scores")


def token_id(metadata: Metadata, key: str, count: int) -> int | None:
    """An id that must lie inside the vocabulary; absent, or −1 as some converters write, is None."""
    found = value(metadata, key, int)
    if found is None or found in (-1, 0xFFFFFFFF):
        return None
    if not 0 <= found < count:
        raise FormatError("GGUF", f"tokenizer.ggml.{key}", f"an id below {count}", str(found))
    return found


def _one_each(found: list[T], count: int, key: str) -> list[T]:
    if len(found) != count:
        raise FormatError("GGUF", f"tokenizer.ggml.{key}", f"{count} values, one a token", str(len(found)))
    return found


def _refusal(key: str, expected: str, found: object) -> FormatError:
    return FormatError("GGUF", f"tokenizer.ggml.{key}", expected, type(found).__name__)
