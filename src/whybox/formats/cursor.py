"""Reading a GGUF header forwards, every count held against the bytes that are left before anything is allocated."""

import mmap
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from struct import Struct
from typing import overload

import numpy as np
from jaxtyping import Shaped

from whybox.errors import FormatError

_U64 = Struct("<Q")
_READ_AGAIN = "download the file again"


class Strings(Sequence[str]):
    """An array of strings that stays in the file, in bounds already; each is decoded when it is asked for.

    `bounds[i]` is where the 8-byte length of string i lies; the last bound is where the array ends.
    """

    def __init__(self, data: mmap.mmap, bounds: "array[int]", path: Path, field: str) -> None:
        self._data, self._bounds, self._path, self._field = data, bounds, path, field

    def __len__(self) -> int:
        return len(self._bounds) - 1

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(len(self))))
        at = range(len(self))[index]
        return self._text(at, self._bounds[at], self._bounds[at + 1])

    def __iter__(self) -> Iterator[str]:
        data = self._data
        for index, (start, end) in enumerate(pairwise(self._bounds)):
            try:
                yield data[start + 8 : end].decode()
            except UnicodeDecodeError:
                yield self._text(index, start, end)

    def __repr__(self) -> str:
        return f"<{len(self)} strings of {self._field}>"

    def _text(self, index: int, start: int, end: int) -> str:
        return utf8(self._data[start + 8 : end], self._path, f"{self._field}[{index}]")


def utf8(raw: bytes, path: Path, field: str) -> str:
    """UTF-8 text, or a FormatError that names the field."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise FormatError(path, field, "UTF-8 text", f"byte 0x{raw[error.start]:02x} at {error.start}") from None


class Cursor:
    """A position in a mapped file that can only move forwards, and never past its end."""

    def __init__(self, data: mmap.mmap, path: Path) -> None:
        self.data, self.path, self.at = data, path, 0

    @property
    def left(self) -> int:
        """Bytes between the position and the end of the file."""
        return len(self.data) - self.at

    def take(self, size: int, field: str) -> int:
        """Where the next `size` bytes start, after making sure that they are there."""
        if size > self.left:
            raise FormatError(self.path, field, f"{size} bytes at {self.at}", f"{self.left} left", _READ_AGAIN)
        self.at += size
        return self.at - size

    def number(self, form: Struct, field: str) -> int | float:
        """One little-endian number."""
        value: int | float = form.unpack_from(self.data, self.take(form.size, field))[0]
        return value

    def count(self, form: Struct, field: str, each: int, most: int) -> int:
        """A count of things that take at least `each` bytes: at most `most`, and no more than the file can hold."""
        value = int(self.number(form, field))
        limit = min(self.left // each, most)
        if value > limit:
            raise FormatError(self.path, field, f"at most {limit} ({self.left} bytes are left)", str(value))
        return value

    def text(self, field: str, most: int) -> str:
        """A string of at most `most` bytes: a 64-bit length, then UTF-8."""
        size = self.count(_U64, f"length of {field}", each=1, most=most)
        start = self.take(size, field)
        return utf8(self.data[start : start + size], self.path, field)

    def numbers(self, dtype: np.dtype[np.generic], count: int, field: str) -> Shaped[np.ndarray, " n"]:
        """`count` numbers, as a read-only view of the file."""
        start = self.take(count * dtype.itemsize, field)
        return np.frombuffer(self.data, dtype, count, start)

    def strings(self, count: int, field: str) -> Strings:
        """`count` strings, walked once to find their bounds, none decoded."""
        data, at, size, unpack = self.data, self.at, len(self.data), _U64.unpack_from
        bounds = array("Q", [at])
        for index in range(count):
            if at + 8 > size or (at := at + 8 + unpack(data, at)[0]) > size:
                self._string_outside(field, index, bounds[-1])
            bounds.append(at)
        self.at = at
        return Strings(data, bounds, self.path, field)

    def _string_outside(self, field: str, index: int, at: int) -> None:
        self.at = at
        self.take(8, f"length of {field}[{index}]")
        self.take(_U64.unpack_from(self.data, at)[0], f"{field}[{index}]")

    def expect(self, field: str, raw: bytes, found: str) -> None:
        """Exactly these bytes next."""
        start = self.take(len(raw), field)
        if self.data[start : self.at] != raw:
            raise FormatError(self.path, field, repr(raw.decode()), found)
