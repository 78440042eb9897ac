"""A configuration without weights: what a model folder says, and no tensor."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np
from jaxtyping import Shaped

from whybox.errors import FormatError
from whybox.formats.blocks import Rows
from whybox.formats.tensors import TensorInfo, TypeShare


@dataclass(frozen=True)
class Unweighted:
    """Has the form of a weight file, for readers of configurations; reading a tensor from it is refused."""

    path: Path
    metadata: Mapping[str, object] = field(repr=False)
    tensors: Mapping[str, TensorInfo] = field(default_factory=lambda: MappingProxyType({}))

    def read(self, name: str, rows: Rows | None = None) -> Shaped[np.ndarray, "..."]:
        """FormatError: there is nothing to read."""
        raise FormatError(self.path, f"tensor {name!r}", "a file with weights", "a configuration alone")

    def release(self) -> None:
        """Nothing is held."""

    def types(self) -> list[TypeShare]:
        return []

    def digest(self) -> str:
        """Of nothing."""
        return ""
