"""Arrays as bytes between parent and child: names, kinds and shapes as JSON, then the numbers. Nothing is executed.

What a child sends is not trusted: kinds come from a list, and shapes must account for every byte.
"""

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

KINDS = "biufcUS"
HEAD = 8
STEP = 64
"""Arrays begin at multiples of this, so that they can be used where they lie."""


def pack(arrays: Mapping[str, np.ndarray]) -> Iterator[bytes | memoryview]:
    """Piece by piece: length of the header, the header, the numbers in C order. TypeError for arrays of objects."""
    entries = [[name, array.dtype.str, list(array.shape)] for name, array in arrays.items()]
    if loose := [name for name, array in arrays.items() if array.dtype.kind not in KINDS]:
        raise TypeError(f"{loose[0]}: expected an array of numbers, found one of {arrays[loose[0]].dtype}")
    header = json.dumps(entries).encode()
    header += b" " * _gap(HEAD + len(header))
    yield len(header).to_bytes(HEAD, "little")
    yield header
    for array in arrays.values():
        yield np.ascontiguousarray(array).reshape(-1).view(np.uint8).data if array.nbytes else b""
        yield b"\0" * _gap(array.nbytes)


def unpack(data: bytes | memoryview) -> dict[str, np.ndarray]:
    """The arrays, where they lie. ValueError for bytes that are not what `pack` makes."""
    try:
        start = HEAD + int.from_bytes(data[:HEAD], "little")
        entries = json.loads(bytes(data[HEAD:start]))
        if not isinstance(entries, list):
            raise ValueError(f"expected a list, found {type(entries).__name__}")
        return _arrays(entries, data, start)
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as problem:
        raise ValueError(f"these bytes are no arrays: {problem}") from problem


def _arrays(entries: list[Any], data: bytes | memoryview, start: int) -> dict[str, np.ndarray]:
    arrays = {}
    for name, kind, shape in entries:
        dtype = np.dtype(str(kind))
        if dtype.kind not in KINDS or any(type(size) is not int or size < 0 for size in shape):
            raise ValueError(f"{name}: {kind} {shape}")
        count = math.prod(shape)
        values = np.frombuffer(data, dtype, count, start) if count else np.empty(0, dtype)
        arrays[str(name)] = values.reshape(shape)
        start += values.nbytes + _gap(values.nbytes)
    if start != len(data):
        raise ValueError(f"{start} bytes told, {len(data)} came")
    return arrays


def _gap(size: int) -> int:
    return -size % STEP
