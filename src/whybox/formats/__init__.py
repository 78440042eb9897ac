"""Weight files: bytes become a table of named tensors, every range checked before anything is read or allocated."""

from pathlib import Path

from whybox.errors import FormatError, ModelNotFound
from whybox.formats.folder import GGUF_MAGIC, describe, head_of, inside, is_folder, is_safetensors
from whybox.formats.gguf import GgufFile, open_gguf
from whybox.formats.safetensors import INDEX, SafetensorsFile, open_safetensors
from whybox.formats.tensors import TensorInfo, TypeShare, WeightFile
from whybox.formats.unweighted import Unweighted

__all__ = [
    "GgufFile",
    "SafetensorsFile",
    "TensorInfo",
    "TypeShare",
    "Unweighted",
    "WeightFile",
    "inside",
    "open_gguf",
    "open_safetensors",
    "open_weights",
]


def open_weights(path: str | Path) -> GgufFile | SafetensorsFile:
    """Opens a weight file or a model folder by what its bytes are, whatever it is called.

    Raises FormatError, UnsupportedError, ModelNotFound.
    """
    path = Path(path)
    if is_folder(path):
        return _open_folder(path)
    head = head_of(path)
    if head.startswith(GGUF_MAGIC):
        return open_gguf(path)
    if is_safetensors(head) or path.name == INDEX or path.suffix == ".safetensors":
        return open_safetensors(path)
    raise FormatError(path, "start", "a GGUF or safetensors file", describe(head), "give the path of a weight file")


def _open_folder(folder: Path) -> GgufFile | SafetensorsFile:
    found = sorted(folder.glob("*.gguf"))
    if not found or any(folder.glob("*.safetensors")) or (folder / INDEX).exists():
        return open_safetensors(folder)
    model = open_gguf(found[0])
    parts = {tensor.file.name for tensor in model.tensors.values()} | {found[0].name}
    if parts >= {path.name for path in found}:
        return model
    raise ModelNotFound(f"{folder}: several models: {', '.join(path.name for path in found)}", "give the path of one")
