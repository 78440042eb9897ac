"""GGUF, versions 2 and 3, little endian: a header reader that trusts nothing, and tensors read from the memory map.

Layout: magic, version, count of tensors, count of pairs · pairs (key, type, value) · tensor table (name, dimensions
from the fastest axis, type, offset) · padding · data. Source: ggml-org/ggml, docs/gguf.md.
"""

import math
import mmap
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from struct import Struct
from types import MappingProxyType

import numpy as np
from jaxtyping import Shaped, UInt8

from whybox.errors import FormatError, UnsupportedError
from whybox.formats.blocks import GGUF_TYPES, REFUSED_CODES, Rows, TensorType, decode_rows
from whybox.formats.cursor import Cursor
from whybox.formats.folder import GGUF_MAGIC, HEAD_BYTES, describe, inside, mapped, released, sha256_of
from whybox.formats.tensors import (
    TensorInfo,
    TypeShare,
    find,
    require_disjoint,
    require_inside,
    require_present,
    type_shares,
)

MOST_PAIRS = 1 << 16
MOST_TENSORS = 1 << 17
MOST_PARTS = 1 << 12
MOST_KEY_BYTES = 65_535
MOST_NAME_BYTES = 256
MOST_TEXT_BYTES = 1 << 24
MOST_NESTED = 1 << 12
MOST_NUMBERS = 1 << 26
MOST_DEPTH = 4
MOST_DIMENSIONS = 4
MOST_ALIGNMENT = 1 << 20
MOST_ELEMENTS = 1 << 63
DEFAULT_ALIGNMENT = 32

_U32, _U64 = Struct("<I"), Struct("<Q")
_TEXT, _ARRAY, _BOOL = 8, 9, 7
# Metadata types by their number in the file: each is both a struct letter and a NumPy type.
_SCALARS: Mapping[int, str] = MappingProxyType(
    {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", _BOOL: "B", 10: "Q", 11: "q", 12: "d"}
)
_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.DOTALL)


@dataclass(frozen=True, eq=False)
class GgufFile:
    """An opened GGUF file, or all the parts of a split one."""

    path: Path
    metadata: Mapping[str, object] = field(repr=False)
    tensors: Mapping[str, TensorInfo] = field(repr=False)
    _maps: Mapping[Path, mmap.mmap] = field(repr=False)

    def raw(self, name: str) -> UInt8[np.ndarray, "bytes"]:
        """The bytes of a tensor as they lie in the file: a read-only view of the memory map.

        FormatError where the file has become shorter than that.
        """
        tensor = find(self.tensors, name, self.path)
        data = self._maps[tensor.file]
        require_present(tensor, data)
        return np.frombuffer(data, np.uint8, tensor.nbytes, tensor.offset)

    def read(self, name: str, rows: Rows | None = None) -> Shaped[np.ndarray, "..."]:
        """The values of a tensor, read-only, row-major: float32 (F32: a view of the map), integers as they are.

        rows: some entries of the first axis alone.
        """
        tensor = find(self.tensors, name, self.path)
        return decode_rows(self.raw(name), _TYPE_BY_NAME[tensor.type], tensor.shape, rows)

    def release(self) -> None:
        """Lets what was read of the file go from memory; it is read again when it is asked for."""
        released(self._maps.values())

    def types(self) -> list[TypeShare]:
        """(type, count, bytes) of the types really present, largest first."""
        return type_shares(self.tensors)

    def digest(self) -> str:
        """sha256 of the file; of a split file, that of the sorted `sha256  name` lines of its parts."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return sha256_of(self._maps)


_TYPE_BY_NAME: Mapping[str, TensorType] = MappingProxyType({kind.name: kind for kind in GGUF_TYPES.values()})


@dataclass(frozen=True)
class _Part:
    path: Path
    data: mmap.mmap
    metadata: Mapping[str, object]
    tensors: tuple[TensorInfo, ...]


def open_gguf(path: str | Path) -> GgufFile:
    """Opens a GGUF file and checks its whole header; any part of a split file opens all of them.

    Raises FormatError (field, expected, found), UnsupportedError (version, byte order, tensor type), ModelNotFound.
    """
    path = Path(path)
    first = _open_part(path)
    parts = [first] if _split(first, "split.count", 1) == 1 else _open_all(first)
    tensors: dict[str, TensorInfo] = {}
    for part in parts:
        _merge(tensors, part)
    maps = {part.path: part.data for part in parts}
    return GgufFile(path, MappingProxyType(dict(parts[0].metadata)), MappingProxyType(tensors), MappingProxyType(maps))


def _merge(tensors: dict[str, TensorInfo], part: _Part) -> None:
    for tensor in part.tensors:
        if tensor.name in tensors:
            raise FormatError(part.path, f"tensor {tensor.name!r}", "one tensor of that name", "a second one")
        tensors[tensor.name] = tensor


# Split files


def _split(part: _Part, key: str, default: int) -> int:
    return _whole_number(part.metadata, key, default, part.path)


def _whole_number(metadata: Mapping[str, object], key: str, default: int, path: Path) -> int:
    value = metadata.get(key, default)
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise FormatError(path, key, "a whole number", repr(value)[:80])


def _open_all(opened: _Part) -> list[_Part]:
    """The parts of a split file, in order, each in the folder of the one that was opened."""
    count = _split(opened, "split.count", 1)
    found = _PART.fullmatch(opened.path.name)
    if found is None or int(found["count"]) != count or not 1 < count <= MOST_PARTS:
        expected = f"NAME-00001-of-{count:05d}.gguf, as split.count says" if count <= MOST_PARTS else "fewer parts"
        raise FormatError(opened.path, "file name", expected, opened.path.name, "keep the names of the parts")
    parts = [_open_numbered(opened, found["stem"], number, count) for number in range(count)]
    total, promised = sum(len(part.tensors) for part in parts), _split(parts[0], "split.tensors.count", 0)
    if total != promised:
        raise FormatError(parts[0].path, "split.tensors.count", f"{total}, what the parts hold", str(promised))
    return parts


def _open_numbered(opened: _Part, stem: str, number: int, count: int) -> _Part:
    name = f"{stem}-{number + 1:05d}-of-{count:05d}.gguf"
    part = opened
    if name != opened.path.name:
        part = _open_part(inside(opened.path.parent, name, f"part {number + 1} of {count}"))
    for key, expected in (("split.no", number), ("split.count", count)):
        found = _split(part, key, 0)
        if found != expected:
            raise FormatError(part.path, key, str(expected), str(found))
    return part


# One file


def _open_part(path: Path) -> _Part:
    data = mapped(path, "a GGUF file")
    cursor = Cursor(data, path)
    tensor_count, pair_count = _read_start(cursor)
    metadata = _read_pairs(cursor, pair_count)
    table = [_read_tensor(cursor, index) for index in range(tensor_count)]
    tensors = _placed(table, cursor, _alignment(metadata, path))
    require_inside(tensors, path, len(data))
    require_disjoint(tensors, path)
    return _Part(path, data, metadata, tensors)


def _read_start(cursor: Cursor) -> tuple[int, int]:
    head = cursor.data[:HEAD_BYTES]
    if not head.startswith(GGUF_MAGIC):
        raise FormatError(cursor.path, "magic", "'GGUF'", describe(head), "open a .gguf file or a safetensors folder")
    cursor.take(len(GGUF_MAGIC), "magic")
    version = int(cursor.number(_U32, "version"))
    if version & 0xFFFF == 0 and version:
        raise UnsupportedError(f"{cursor.path}: big-endian GGUF is not read", "convert it to little endian")
    if version not in (2, 3):
        raise UnsupportedError(f"{cursor.path}: GGUF version {version} is not read, only 2 and 3", "convert it again")
    # The smallest tensor entry is 24 bytes, the smallest pair 13.
    tensors = cursor.count(_U64, "tensor count", each=24, most=MOST_TENSORS)
    return tensors, cursor.count(_U64, "metadata count", each=13, most=MOST_PAIRS)


def _read_pairs(cursor: Cursor, count: int) -> Mapping[str, object]:
    pairs: dict[str, object] = {}
    for index in range(count):
        key = cursor.text(f"metadata key {index}", MOST_KEY_BYTES)
        if key in pairs:
            raise FormatError(cursor.path, f"metadata key {key!r}", "one pair of that key", "a second one")
        pairs[key] = _read_value(cursor, int(cursor.number(_U32, f"type of {key}")), key)
    return pairs


def _read_value(cursor: Cursor, code: int, field: str, depth: int = 0) -> object:
    if code == _TEXT:
        return cursor.text(field, MOST_TEXT_BYTES)
    if code == _ARRAY:
        return _read_array(cursor, field, depth + 1)
    value = cursor.number(Struct("<" + _scalar(cursor, code, field)), field)
    return _truth(cursor, int(value), field) if code == _BOOL else value


def _read_array(cursor: Cursor, field: str, depth: int) -> tuple[object, ...] | Shaped[np.ndarray, " n"]:
    """Strings and arrays become tuples, numbers read-only arrays."""
    if depth > MOST_DEPTH:
        raise FormatError(cursor.path, field, f"arrays nested at most {MOST_DEPTH} deep", "deeper ones")
    code = int(cursor.number(_U32, f"element type of {field}"))
    if code == _TEXT:
        return cursor.texts(cursor.count(_U64, f"length of {field}", each=8, most=MOST_ELEMENTS), field)
    if code == _ARRAY:
        count = cursor.count(_U64, f"length of {field}", each=12, most=MOST_NESTED)
        return tuple(_read_array(cursor, f"{field}[{index}]", depth + 1) for index in range(count))
    dtype = np.dtype("<" + _scalar(cursor, code, field))
    count = cursor.count(_U64, f"length of {field}", each=dtype.itemsize, most=MOST_NUMBERS)
    values = cursor.numbers(dtype, count, field)
    return _truths(cursor, values, field) if code == _BOOL else values


def _scalar(cursor: Cursor, code: int, field: str) -> str:
    if code not in _SCALARS:
        raise FormatError(cursor.path, f"type of {field}", "a metadata type from 0 to 12", str(code))
    return _SCALARS[code]


def _truth(cursor: Cursor, value: int, field: str) -> bool:
    if value > 1:
        raise FormatError(cursor.path, field, "a truth value, 0 or 1", str(value))
    return value == 1


def _truths(cursor: Cursor, values: UInt8[np.ndarray, " n"], field: str) -> Shaped[np.ndarray, " n"]:
    _truth(cursor, int(values.max(initial=0)), field)
    return values.view(np.bool_)


def _alignment(metadata: Mapping[str, object], path: Path) -> int:
    value = _whole_number(metadata, "general.alignment", DEFAULT_ALIGNMENT, path)
    if value.bit_count() == 1 and value <= MOST_ALIGNMENT:
        return value
    raise FormatError(path, "general.alignment", f"a power of two up to {MOST_ALIGNMENT}", str(value))


# Tensors


@dataclass(frozen=True)
class _Entry:
    """A row of the tensor table, its offset still relative to the start of the data."""

    name: str
    shape: tuple[int, ...]
    kind: TensorType
    offset: int


def _read_tensor(cursor: Cursor, index: int) -> _Entry:
    name = cursor.text(f"name of tensor {index}", MOST_NAME_BYTES)
    whose = f"of tensor {name!r}"
    axes = cursor.count(_U32, f"dimension count {whose}", each=8, most=MOST_DIMENSIONS)
    widths = [int(cursor.number(_U64, f"dimension {axis} {whose}")) for axis in range(axes)]
    if 0 in widths or math.prod(widths) >= MOST_ELEMENTS:
        shown = " × ".join(map(str, widths))
        raise FormatError(cursor.path, f"dimensions {whose}", "a product from 1 to 2^63 − 1", shown)
    kind = _tensor_type(cursor, int(cursor.number(_U32, f"type {whose}")), name)
    row = widths[0] if widths else 1
    if row % kind.values:
        expected = f"a multiple of {kind.values}, the block of {kind.name}"
        raise FormatError(cursor.path, f"row length {whose}", expected, str(row))
    return _Entry(name, tuple(reversed(widths)), kind, int(cursor.number(_U64, f"offset {whose}")))


def _tensor_type(cursor: Cursor, code: int, name: str) -> TensorType:
    if code in GGUF_TYPES:
        return GGUF_TYPES[code]
    label = REFUSED_CODES.get(code, "unknown")
    raise UnsupportedError(
        f"{cursor.path}: tensor type {code} ({label}) is not implemented; first used by {name!r}",
        f"implemented: {', '.join(kind.name for kind in GGUF_TYPES.values())}",
    )


def _placed(table: Sequence[_Entry], cursor: Cursor, alignment: int) -> tuple[TensorInfo, ...]:
    """The table with absolute offsets: data start at the next multiple of the alignment after the header."""
    start = -(-cursor.at // alignment) * alignment
    for entry in table:
        if entry.offset % alignment:
            expected = f"a multiple of the alignment {alignment}"
            raise FormatError(cursor.path, f"offset of tensor {entry.name!r}", expected, str(entry.offset))
    return tuple(
        TensorInfo(e.name, e.shape, e.kind.name, e.kind.nbytes(e.shape), start + e.offset, cursor.path) for e in table
    )
