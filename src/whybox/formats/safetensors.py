"""safetensors: one file, or a folder with an index over several; the header is checked here before a byte is read.

Layout: 64-bit length of the header · header (JSON: name → dtype, shape, data_offsets) · data. Offsets count from the
start of the data; spans lie side by side, without hole or overlap. Source: huggingface/safetensors, README.
"""

import math
import mmap
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from struct import Struct
from types import MappingProxyType

import numpy as np
from jaxtyping import Shaped, UInt8

from whybox.errors import FormatError, ModelNotFound, UnsupportedError
from whybox.formats.blocks import SAFETENSORS_TYPES, Rows, TensorType, decode_rows, stored
from whybox.formats.folder import HEAD_BYTES, describe, inside, is_folder, mapped, released, sha256_of
from whybox.formats.json_text import MOST_JSON_BYTES, parse_object, read_object
from whybox.formats.tensors import (
    TensorInfo,
    TypeShare,
    find,
    require_disjoint,
    require_inside,
    require_present,
    type_shares,
)

CONFIG = "config.json"
SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
MOST_DIMENSIONS = 8
MOST_NAME = 1024

_LENGTH = Struct("<Q")
_SHARD = re.compile(r"model-\d{5}-of-\d{5}\.safetensors")
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
# Eight-bit and packed floats of the format that have no decoder here.
_REFUSED = ("F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F6_E2M3", "F6_E3M2", "F4", "C64")


@dataclass(frozen=True, eq=False)
class SafetensorsFile:
    """An opened safetensors file, or a folder with all its shards and its config.json."""

    path: Path
    metadata: Mapping[str, object] = field(repr=False)
    tensors: Mapping[str, TensorInfo] = field(repr=False)
    _maps: Mapping[Path, mmap.mmap] = field(repr=False)
    _config: Path | None = field(repr=False)

    def raw(self, name: str) -> UInt8[np.ndarray, "bytes"]:
        """The bytes of a tensor as they lie in the file: a read-only view of the memory map.

        FormatError where the file has become shorter than that.
        """
        tensor = find(self.tensors, name, self.path)
        if tensor.nbytes == 0:
            return np.empty(0, np.uint8)
        data = self._maps[tensor.file]
        require_present(tensor, data)
        return np.frombuffer(data, np.uint8, tensor.nbytes, tensor.offset)

    def read(self, name: str, rows: Rows | None = None) -> Shaped[np.ndarray, "..."]:
        """The values of a tensor, read-only: floats as float32 (F32: a view of the map), integers as they are.

        rows: some entries of the first axis alone.
        """
        tensor = find(self.tensors, name, self.path)
        return decode_rows(self.raw(name), SAFETENSORS_TYPES[tensor.type], tensor.shape, rows)

    def release(self) -> None:
        """Lets what was read of the file go from memory; it is read again when it is asked for."""
        released(self._maps.values())

    def stored(self, name: str) -> Shaped[np.ndarray, "..."]:
        """The values in the type that the file gives them: F64 stays float64. BF16 is refused: NumPy lacks it."""
        tensor = find(self.tensors, name, self.path)
        return stored(self.raw(name), SAFETENSORS_TYPES[tensor.type], tensor.shape)

    def types(self) -> list[TypeShare]:
        """(type, number, bytes) of the types really present, largest first."""
        return type_shares(self.tensors)

    def digest(self) -> str:
        """sha256 of a lone file; with shards or a config.json, that of their sorted `sha256  name` lines."""
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return sha256_of([*self._maps] + ([self._config] if self._config else []))


def open_safetensors(path: str | Path) -> SafetensorsFile:
    """Opens a folder (one file, or an index with its shards) or a file; one shard of an index opens all of them.

    Raises FormatError (field, expected, found), UnsupportedError (pickles, dtypes), ModelNotFound.
    """
    path = Path(path)
    if is_folder(path):
        return _opened(path, path, _files_of(path))
    shard = _SHARD.fullmatch(path.name) is not None and (path.parent / INDEX).exists()
    if shard or path.name == INDEX:
        return _opened(path, path.parent, _indexed(path.parent))
    return _opened(path, path.parent, {path: None})


def _opened(path: Path, folder: Path, files: Mapping[Path, frozenset[str] | None]) -> SafetensorsFile:
    maps: dict[Path, mmap.mmap] = {}
    tensors: dict[str, TensorInfo] = {}
    for file, promised in files.items():
        maps[file] = mapped(file, "a safetensors file")
        found = _read_header(file, maps[file])
        _agree(file, promised, found)
        tensors |= {tensor.name: tensor for tensor in found}
    present = (folder / CONFIG).is_symlink() or (folder / CONFIG).exists()
    config = inside(folder, CONFIG, CONFIG) if present else None
    metadata = read_object(config, CONFIG) if config else {}
    return SafetensorsFile(
        path, MappingProxyType(dict(metadata)), MappingProxyType(tensors), MappingProxyType(maps), config
    )


# Which files


def _files_of(folder: Path) -> Mapping[Path, frozenset[str] | None]:
    """The weight files of a folder, each with the tensors that the index promises in it (None: no index)."""
    names = sorted(path.name for path in folder.glob("*.safetensors"))
    if SINGLE in names:
        return {inside(folder, SINGLE, SINGLE): None}
    if (folder / INDEX).exists():
        return _indexed(folder)
    if len(names) == 1:
        return {inside(folder, names[0], names[0]): None}
    _refuse_pickles(folder)
    raise ModelNotFound(
        f"{folder}: neither {SINGLE} nor {INDEX}; found {', '.join(names) or 'no .safetensors file'}",
        "give the path of one file" if names else "give the folder of a safetensors model, or a .gguf file",
    )


def _refuse_pickles(folder: Path) -> None:
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if pickles and not any(folder.glob("*.safetensors")):
        raise UnsupportedError(
            f"{folder}: only pickled weights ({', '.join(pickles[:4])}); unpickling runs code, so they are never read",
            "convert them: AutoModelForCausalLM.from_pretrained(FOLDER).save_pretrained(NEW) writes safetensors",
        )


def _indexed(folder: Path) -> Mapping[Path, frozenset[str]]:
    index = read_object(inside(folder, INDEX, INDEX), INDEX)
    weight_map = index.get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        found = type(weight_map).__name__
        raise FormatError(folder / INDEX, "weight_map", "an object of tensor name → file name", found)
    promised: dict[str, set[str]] = {}
    for tensor, name in weight_map.items():
        if not isinstance(name, str) or len(tensor) > MOST_NAME:
            raise FormatError(folder / INDEX, f"weight_map[{tensor[:40]!r}]", "a file name", type(name).__name__)
        promised.setdefault(name, set()).add(tensor)
    # Every name is judged before the first file is opened.
    return {inside(folder, name, f"weight_map of {INDEX}"): frozenset(promised[name]) for name in sorted(promised)}


def _agree(file: Path, promised: frozenset[str] | None, found: Sequence[TensorInfo]) -> None:
    if promised is None:
        return
    names = {tensor.name for tensor in found}
    for problem, tensors in (("only in the index", promised - names), ("only in the file", names - promised)):
        if tensors:
            shown = ", ".join(sorted(tensors)[:8])
            raise FormatError(file, "tensors", f"those that {INDEX} lists", f"{len(tensors)} {problem}: {shown}")


# One header


def _read_header(path: Path, data: mmap.mmap) -> tuple[TensorInfo, ...]:
    start = _header_end(path, data)
    header = parse_object(data[_LENGTH.size : start], path, "header")
    tensors = tuple(_read_entry(path, n, entry, start) for n, entry in header.items() if n != "__metadata__")
    require_inside(tensors, path, len(data))
    require_disjoint(tensors, path)
    _require_whole(tensors, path, start, len(data))
    return tuple(sorted(tensors, key=lambda tensor: tensor.offset))


def _header_end(path: Path, data: mmap.mmap) -> int:
    if len(data) < _LENGTH.size + len("{}"):
        raise FormatError(path, "file size", "at least 10 bytes", str(len(data)), "download the file again")
    length = int(_LENGTH.unpack_from(data)[0])
    limit = min(len(data) - _LENGTH.size, MOST_JSON_BYTES)
    if length <= limit:
        return _LENGTH.size + length
    found = describe(data[:HEAD_BYTES])
    raise FormatError(path, "header length", f"at most {limit:,}", f"{length:,} ({found})", "download the file again")


def _read_entry(path: Path, name: str, entry: object, start: int) -> TensorInfo:
    if len(name) > MOST_NAME:
        raise FormatError(path, "tensor name", f"at most {MOST_NAME} characters", f"{len(name)}: {name[:40]!r}…")
    if not isinstance(entry, dict) or set(entry) != {"dtype", "shape", "data_offsets"}:
        found = ", ".join(entry)[:80] if isinstance(entry, dict) else type(entry).__name__
        raise FormatError(path, f"tensor {name!r}", "dtype, shape and data_offsets", found or "nothing")
    kind = _kind(path, name, entry["dtype"])
    shape = _whole_numbers(path, f"shape of {name!r}", entry["shape"], most=MOST_DIMENSIONS)
    span = _whole_numbers(path, f"data_offsets of {name!r}", entry["data_offsets"], most=2)
    size = math.prod(shape) * kind.size
    if len(span) != 2 or span[1] - span[0] != size:
        shown = " × ".join(map(str, (*shape, kind.size)))
        raise FormatError(path, f"data_offsets of {name!r}", f"a span of {shown} = {size} bytes", str(span))
    return TensorInfo(name, shape, kind.name, size, start + span[0], path)


def _kind(path: Path, name: str, label: object) -> TensorType:
    if isinstance(label, str) and label in SAFETENSORS_TYPES:
        return SAFETENSORS_TYPES[label]
    if label in _REFUSED:
        raise UnsupportedError(
            f"{path}: tensor type {label} is not implemented; first used by {name!r}",
            f"implemented: {', '.join(SAFETENSORS_TYPES)}",
        )
    raise FormatError(path, f"dtype of {name!r}", f"one of {', '.join(SAFETENSORS_TYPES)}", repr(label)[:80])


def _whole_numbers(path: Path, what: str, value: object, most: int) -> tuple[int, ...]:
    if not isinstance(value, list) or len(value) > most:
        found = f"{len(value)} numbers" if isinstance(value, list) else type(value).__name__
        raise FormatError(path, what, f"at most {most} whole numbers", found)
    for number in value:
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < 1 << 63:
            raise FormatError(path, what, "whole numbers from 0 to 2^63 − 1", repr(number)[:80])
    return tuple(value)


def _require_whole(tensors: Iterable[TensorInfo], path: Path, start: int, size: int) -> None:
    """The data belong to the tensors entirely: hidden bytes between or after them are no safetensors."""
    ordered = sorted(tensors, key=lambda tensor: (tensor.offset, tensor.end))
    edges = [start, *(edge for tensor in ordered for edge in (tensor.offset, tensor.end)), size]
    for end, begin in list(pairwise(edges))[::2]:
        if begin != end:
            expected = f"tensors side by side, one that starts at byte {end}"
            raise FormatError(path, "data", expected, f"{begin - end} bytes that belong to none")
