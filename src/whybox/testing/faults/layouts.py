"""Blocks of a quantised file read by another layout: nibbles in another order, scale and minimum exchanged.

A misreading is told as bytes: blocks that the right decoder reads as the wrong one reads the file's. It is imposed on
the tensors of one type, or on one of them, and decoded when a layer is wanted.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from jaxtyping import Shaped, UInt8

from whybox import families
from whybox.formats import GgufFile, TensorInfo
from whybox.formats.blocks import GGUF_TYPES, Rows, decode_rows
from whybox.formats.tensors import TypeShare
from whybox.spec import Spec
from whybox.testing.faults.fault import Described, Fault, with_arrays
from whybox.weights import Weights, stream

Blocks = UInt8[np.ndarray, "n bytes"]
Codes = UInt8[np.ndarray, "n half"]
TYPES = {kind.name: kind for kind in GGUF_TYPES.values()}
NIBBLES: Mapping[str, tuple[int, int, int]] = {
    "Q4_0": (2, 18, 16),
    "Q4_1": (4, 20, 16),
    "Q5_0": (6, 22, 16),
    "Q5_1": (8, 24, 16),
    "Q4_K": (16, 144, 32),
}
"""Where the bytes of nibbles begin and end in a block, and how many belong together: byte i of n holds i and i + n."""
WITH_MINIMUM = ("Q4_1", "Q5_1", "Q4_K")
"""Types whose blocks begin with a scale and a minimum, f16 each."""


@dataclass(frozen=True)
class Layout:
    """name; what is read otherwise; types of tensors that can be; misread: the type's blocks as they are then read."""

    name: str
    what: str
    types: tuple[str, ...]
    misread: Callable[[Blocks, str], Blocks]
    why: str = ""


def _neighbours(codes: Codes) -> Codes:
    """Byte i taken for values 2i and 2i + 1, in place of i and i + n."""
    values = np.stack([codes & 15, codes >> 4], axis=-1).reshape(len(codes), -1)
    half = values.shape[1] // 2
    return np.asarray(values[:, :half] | values[:, half:] << 4)


def _exchanged(codes: Codes) -> Codes:
    """The high nibble of a byte taken first."""
    return np.asarray(codes >> 4 | codes << 4)


def _of_nibbles(change: Callable[[Codes], Codes]) -> Callable[[Blocks, str], Blocks]:
    def misread(blocks: Blocks, kind: str) -> Blocks:
        start, stop, together = NIBBLES[kind]
        out = blocks.copy()
        out[:, start:stop] = change(blocks[:, start:stop].reshape(-1, together)).reshape(len(blocks), -1)
        return out

    return misread


def _minimum_first(blocks: Blocks, kind: str) -> Blocks:
    return np.concatenate([blocks[:, 2:4], blocks[:, :2], blocks[:, 4:]], axis=1)


NIBBLE_ORDER = Layout(
    "nibble-order",
    "nibbles taken for neighbouring values",
    tuple(NIBBLES),
    _of_nibbles(_neighbours),
    why="Blocks hold the same numbers, each at the place that the other order gives it.",
)
NIBBLES_EXCHANGED = Layout(
    "nibbles-exchanged",
    "high nibbles taken before low ones",
    tuple(NIBBLES),
    _of_nibbles(_exchanged),
    why="The two halves of every block have changed places, and nothing else.",
)
SCALE_PLACE = Layout(
    "scale-place",
    "scale and minimum exchanged",
    WITH_MINIMUM,
    _minimum_first,
    why="Every block is minimum · code + scale, of the file's own codes.",
)
LAYOUTS = (NIBBLE_ORDER, NIBBLES_EXCHANGED, SCALE_PLACE)


@dataclass(frozen=True, eq=False)
class Misread:
    """A file, all of whose tensors of some types are read by another layout."""

    file: GgufFile
    layout: Layout

    @property
    def path(self) -> Path:
        return self.file.path

    @property
    def metadata(self) -> Mapping[str, object]:
        return self.file.metadata

    @property
    def tensors(self) -> Mapping[str, TensorInfo]:
        return self.file.tensors

    def read(self, name: str, rows: Rows | None = None) -> Shaped[np.ndarray, "..."]:
        """As the file's own, through the other layout where the tensor has it."""
        tensor = self.tensors[name]
        if tensor.type not in self.layout.types:
            return self.file.read(name, rows)
        kind = TYPES[tensor.type]
        blocks = self.layout.misread(self.file.raw(name).reshape(-1, kind.size), kind.name)
        return decode_rows(np.ascontiguousarray(blocks).reshape(-1), kind, tensor.shape, rows)

    def release(self) -> None:
        self.file.release()

    def types(self) -> list[TypeShare]:
        return self.file.types()

    def digest(self) -> str:
        """Of other numbers than the file's."""
        return f"{self.layout.name} of {self.file.digest()}"


def misread(file: GgufFile, layout: Layout, roles: Iterable[str], of: str) -> Fault:
    """What fills these roles, read by another layout. of: what that is, in words."""
    chosen = frozenset(roles)

    def changed(spec: Spec, weights: Weights) -> Described:
        return spec, with_arrays(weights, _Chosen(_table(file, layout), chosen))

    return Fault(layout.name, f"{of}: {layout.what}", changed, why=layout.why)


@lru_cache(maxsize=len(LAYOUTS))
def _table(file: GgufFile, layout: Layout) -> Weights:
    """All that the file fills, decoded when it is wanted. Setting it up reads every vector: once for a file."""
    return stream(Misread(file, layout), *families.describe(file))


@dataclass(frozen=True, eq=False)
class _Chosen(Mapping[str, np.ndarray]):
    """Some roles of a table."""

    table: Mapping[str, np.ndarray]
    roles: frozenset[str]

    def __getitem__(self, role: str) -> np.ndarray:
        if role not in self.roles:
            raise KeyError(role)
        return self.table[role]

    def __contains__(self, role: object) -> bool:
        return role in self.roles

    def __iter__(self) -> Iterator[str]:
        return iter(self.roles)

    def __len__(self) -> int:
        return len(self.roles)
