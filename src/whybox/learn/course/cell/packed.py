"""Arrays as bytes between parent and child: names, kinds and shapes as JSON, then the numbers. Nothing is executed.

What a child sends is not trusted: kinds come from a list, and shapes must account for every byte.
"""

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

KINDS = "biufcUS"
HEAD = 8


def pack(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Length of the header in 8 bytes, the header, the numbers in C order. TypeError for arrays of objects."""
    entries, parts = [], []
    for name, array in arrays.items():
        if array.dtype.kind not in KINDS:
            raise TypeError(f"{name}: expected an array of numbers, found one of {array.dtype}")
        entries.append([name, array.dtype.str, list(array.shape)])
        parts.append(array.tobytes())
    header = json.dumps(entries).encode()
    return b"".join([len(header).to_bytes(HEAD, "little"), header, *parts])


def unpack(data: bytes) -> dict[str, np.ndarray]:
    """The arrays, of their own memory. ValueError for bytes that are not what `pack` makes."""
    try:
        start = HEAD + int.from_bytes(data[:HEAD], "little")
        entries = json.loads(data[HEAD:start])
        return _arrays(entries, data, start)
    except (KeyError, TypeError, ValueError, RecursionError, OverflowError) as problem:
        raise ValueError(f"these bytes are no arrays: {problem}") from problem


def _arrays(entries: list[Any], data: bytes, start: int) -> dict[str, np.ndarray]:
    arrays = {}
    for name, kind, shape in entries:
        dtype = np.dtype(str(kind))
        if dtype.kind not in KINDS or any(type(size) is not int or size < 0 for size in shape):
            raise ValueError(f"{name}: {kind} {shape}")
        count = math.prod(shape)
        values = np.frombuffer(data, dtype, count, start).copy() if count else np.empty(0, dtype)
        arrays[str(name)] = values.reshape(shape)
        start += count * dtype.itemsize
    if start != len(data):
        raise ValueError(f"{start} bytes told, {len(data)} came")
    return arrays
