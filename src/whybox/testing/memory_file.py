"""A weight file that was never on disk."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

import numpy as np
from jaxtyping import Shaped

from whybox.formats import TensorInfo, TypeShare
from whybox.formats.blocks import Rows
from whybox.formats.tensors import find, type_shares


@dataclass(frozen=True, eq=False)
class MemoryFile:
    """Arrays by name, with the face of a weight file."""

    path: Path
    metadata: Mapping[str, object]
    arrays: Mapping[str, np.ndarray]

    @property
    def tensors(self) -> Mapping[str, TensorInfo]:
        """Every tensor, laid end to end."""
        table: dict[str, TensorInfo] = {}
        offset = 0
        for name, array in self.arrays.items():
            table[name] = TensorInfo(name, array.shape, "F32", array.nbytes, offset, self.path)
            offset += array.nbytes
        return table

    def read(self, name: str, rows: Rows | None = None) -> Shaped[np.ndarray, "..."]:
        """The values. FormatError with the nearest name for one that does not exist."""
        find(self.tensors, name, self.path)
        return self.arrays[name] if rows is None else self.arrays[name][rows]

    def release(self) -> None:
        """It is in memory anyway."""

    def types(self) -> list[TypeShare]:
        """One type, all bytes."""
        return type_shares(self.tensors)

    def digest(self) -> str:
        """sha256 over metadata, names, shapes and bytes."""
        total = sha256(repr(sorted(self.metadata.items())).encode())
        for name, array in self.arrays.items():
            total.update(f"{name}{array.shape}".encode())
            total.update(np.ascontiguousarray(array).tobytes())
        return total.hexdigest()
