"""The table of tensors that every weight file becomes, and the checks that its byte ranges must pass before a read."""

import difflib
import mmap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Shaped

from whybox.errors import FormatError
from whybox.formats.blocks import Rows


@dataclass(frozen=True)
class TensorInfo:
    """One tensor of a file: row-major shape (out, in), label of its type, bytes, absolute offset in `file`."""

    name: str
    shape: tuple[int, ...]
    type: str
    nbytes: int
    offset: int
    file: Path

    @property
    def end(self) -> int:
        """The offset just past its last byte."""
        return self.offset + self.nbytes


class TypeShare(NamedTuple):
    """How many tensors of a file have a type, and how many bytes they take."""

    type: str
    number: int
    nbytes: int


@runtime_checkable
class WeightFile(Protocol):
    """A weight file of any format, checked as a whole; tensors are decoded when they are read."""

    @property
    def path(self) -> Path:
        """The file or folder that was opened."""

    @property
    def metadata(self) -> Mapping[str, object]:
        """GGUF: its key-value pairs. safetensors: config.json."""

    @property
    def tensors(self) -> Mapping[str, TensorInfo]:
        """Every tensor, in file order."""

    def read(self, name: str, rows: Rows | None = None) -> Shaped[np.ndarray, "..."]:
        """Its values, read-only: float32, or the stored type for integers. rows: of some entries of the first axis."""

    def release(self) -> None:
        """Lets what was read of the file go from memory; it is read again when it is asked for."""

    def types(self) -> list[TypeShare]:
        """The types really present, largest share of bytes first."""

    def digest(self) -> str:
        """sha256 of the file or files."""


def type_shares(tensors: Mapping[str, TensorInfo]) -> list[TypeShare]:
    """Types by count and bytes, largest first: the type of each tensor is the truth, not the file's label."""
    count = Counter(tensor.type for tensor in tensors.values())
    size: Counter[str] = Counter()
    for tensor in tensors.values():
        size[tensor.type] += tensor.nbytes
    return [TypeShare(name, count[name], total) for name, total in size.most_common()]


def find(tensors: Mapping[str, TensorInfo], name: str, path: Path) -> TensorInfo:
    """The tensor of that name, or a FormatError with the nearest one."""
    if name in tensors:
        return tensors[name]
    near = difflib.get_close_matches(name, tensors, n=1)
    hint = f"did you mean {near[0]!r}?" if near else ""
    raise FormatError(path, f"tensor {name!r}", f"one of the {len(tensors)} tensors of the file", "no such name", hint)


def require_inside(tensors: Sequence[TensorInfo], path: Path, size: int) -> None:
    """offset + bytes ≤ file size for every tensor: else the file is truncated, and by how much."""
    ordered = sorted(tensors, key=lambda tensor: tensor.offset)
    past = [tensor for tensor in ordered if tensor.end > size]
    if not past:
        return
    first, missing = past[0], max(tensor.end for tensor in past) - size
    ends = "1 tensor ends" if len(past) == 1 else f"{len(past)} tensors end"
    raise FormatError(
        path,
        "file size",
        f"{size + missing:,} bytes",
        f"{size:,}: truncated, {ends} past the file, the first is {first.name!r}, "
        f"{first.end - size:,} bytes short; {missing:,} bytes are missing in all",
        "download the file again",
    )


def require_present(tensor: TensorInfo, data: mmap.mmap) -> None:
    """The file still reaches as far as the tensor does: reading what is gone would end the process (SIGBUS)."""
    present = data.size()
    if present < tensor.end:
        raise FormatError(
            tensor.file,
            f"file size, to read tensor {tensor.name!r}",
            f"at least {tensor.end:,} bytes",
            f"{present:,}: it was cut short or written anew after it was opened",
            "put the whole file back under a new name or by a rename, and open it again",
        )


def require_disjoint(tensors: Sequence[TensorInfo], path: Path) -> None:
    """No byte of the file belongs to two tensors."""
    ordered = sorted((tensor for tensor in tensors if tensor.nbytes), key=lambda tensor: tensor.offset)
    for before, after in pairwise(ordered):
        if after.offset < before.end:
            raise FormatError(
                path,
                f"offset of tensor {after.name!r}",
                f"at least {before.end}, where {before.name!r} ends",
                str(after.offset),
            )
