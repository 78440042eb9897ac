"""A path that the user gave: what of it is to be opened, or one line that says why nothing is."""

import os
from pathlib import Path

from whybox.errors import ModelNotFound, StorageError, UsageError
from whybox.library.trees import is_gguf, split_sets

_PICKLES = {".bin", ".pt", ".pth", ".ckpt", ".pkl", ".pickle"}
_WANTED = "Give a .gguf file or a safetensors folder."


def looks_like_a_path(name: str) -> bool:
    """Whether a name can only be meant as a path: a separator, a leading dot or tilde, a model file's suffix."""
    separators = {"/", os.sep, os.altsep or "/"}
    suffix = Path(name).suffix.lower()
    return any(mark in name for mark in separators) or name[:1] in {".", "~"} or suffix in {".gguf", ".safetensors"}


def is_present(path: Path) -> bool:
    """Whether the path leads to something; a name that no file system would take (too long, say) leads to nothing."""
    try:
        return path != Path() and path.exists()
    except (OSError, ValueError):
        return False


def local_model(path: Path) -> Path:
    """A .gguf or .safetensors file as it is; of a folder, the folder (safetensors) or its only GGUF.

    Raises ModelNotFound (nothing there, nothing that can be opened), UsageError (several models in one folder),
    StorageError (not readable).
    """
    try:
        if path.is_dir():
            return _in_folder(path)
        if not path.exists():
            raise ModelNotFound(f"there is no file {path}", "`whybox models` lists what is on this machine.")
        if not path.is_file():
            raise ModelNotFound(f"{path} is not a regular file", _WANTED)
        return _file(path)
    except OSError as problem:
        raise StorageError(f"{path} cannot be read: {problem.strerror}", "Check its permissions.") from problem


def _file(path: Path) -> Path:
    if path.suffix.lower() in {".gguf", ".safetensors"} or is_gguf(path):
        return path
    if path.suffix.lower() in _PICKLES:
        raise ModelNotFound(f"{path} may be a pickle, which can run code; not opened", "Convert it to safetensors.")
    raise ModelNotFound(f"{path} is neither GGUF nor safetensors", _WANTED)


def _in_folder(folder: Path) -> Path:
    names = [file.name for file in folder.iterdir()]
    if any(name.endswith(".safetensors") for name in names):
        return folder
    ggufs = split_sets(name for name in names if name.endswith(".gguf"))
    if len(ggufs) == 1:
        return folder / ggufs[0][0]
    if ggufs:
        listed = ", ".join(group[0] for group in ggufs[:6])
        raise UsageError(f"{folder} holds {len(ggufs)} models: {listed}", f"Name one: {folder / ggufs[0][0]}")
    raise ModelNotFound(f"{folder} holds neither .safetensors nor .gguf files", _WANTED)
