"""Reading a GGUF header forwards, every count held against the bytes that are left before anything is allocated."""

import mmap
from pathlib import Path
from struct import Struct

import numpy as np
from jaxtyping import Shaped

from whybox.errors import FormatError

_U64 = Struct("<Q")
_READ_AGAIN = "download the file again"


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
        """`count` numbers, read-only, in memory of their own."""
        start = self.take(count * dtype.itemsize, field)
        return np.frombuffer(self.data[start : self.at], dtype)

    def texts(self, count: int, field: str) -> tuple[str, ...]:
        """`count` strings; the loop is tight because a vocabulary has a quarter of a million of them."""
        data, at, size, unpack = self.data, self.at, len(self.data), _U64.unpack_from
        found: list[str] = []
        for index in range(count):
            start = at + 8
            if start > size or (at := start + unpack(data, at)[0]) > size:
                self.at = start - 8
                self.text(f"{field}[{index}]", size)  # reads the same string with care, and raises
            try:
                found.append(data[start:at].decode())
            except UnicodeDecodeError:
                utf8(data[start:at], self.path, f"{field}[{index}]")
        self.at = at
        return tuple(found)
