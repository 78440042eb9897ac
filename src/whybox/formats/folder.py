"""Files of a model: what they are by their first bytes, mapped into memory, and never outside the model's folder."""

import hashlib
import mmap
import stat
import sys
from collections.abc import Iterable
from pathlib import Path, PurePosixPath, PureWindowsPath

from whybox.errors import FormatError, ModelNotFound

GGUF_MAGIC = b"GGUF"
HEAD_BYTES = 64  # enough to tell what a file is

_KINDS: tuple[tuple[bytes, str], ...] = (
    (GGUF_MAGIC, "a GGUF file"),
    (b"PK\x03\x04", "a zip archive (a wheel, or a PyTorch pickle checkpoint)"),
    (b"\x80", "a Python pickle"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89HDF", "an HDF5 file"),
    (b"version https://git-lfs", "a Git LFS pointer, not the file itself (run `git lfs pull`)"),
    (b"<", "an HTML or XML page (a failed download?)"),
    (b"{", "JSON text"),
    (b"FUGG", "a GGUF file with its magic reversed"),
    (b"lmgg", "a GGML file older than GGUF"),
    (b"fmgg", "a GGML file older than GGUF"),
    (b"tjgg", "a GGML file older than GGUF"),
)


def describe(head: bytes) -> str:
    """What the first bytes of a file look like, in words."""
    if not head:
        return "an empty file"
    text = head.lstrip()
    known = next((name for magic, name in _KINDS if head.startswith(magic) or text.startswith(magic)), None)
    return known or f"bytes {head[:8].hex(' ')}"


def is_safetensors(head: bytes) -> bool:
    """Whether a file starts as safetensors does: 8 bytes of header length, then a JSON object."""
    return head[8:9] == b"{"


def regular_file(path: Path) -> Path:
    """The path, if it leads to a regular file; ModelNotFound or FormatError otherwise. Nothing is opened."""
    try:
        mode = path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise ModelNotFound(f"{path}: no such file", "check the path") from None
    except (OSError, ValueError) as error:
        raise FormatError(path, "path", "a readable file", str(error)) from error
    if stat.S_ISREG(mode):
        return path
    raise FormatError(path, "path", "a regular file", "a folder" if stat.S_ISDIR(mode) else "a special file")


def is_folder(path: Path) -> bool:
    """Whether the path leads to a folder; one that cannot be looked at is refused."""
    try:
        return path.is_dir()
    except OSError as error:  # no permission, a name too long
        raise FormatError(path, "path", "a readable file or folder", str(error)) from error


def head_of(path: Path) -> bytes:
    """The first bytes of a regular file."""
    try:
        with regular_file(path).open("rb") as file:
            return file.read(HEAD_BYTES)
    except OSError as error:
        raise FormatError(path, "file", "readable", str(error)) from error


def mapped(path: Path, wanted: str) -> mmap.mmap:
    """A regular, non-empty file mapped into memory read-only. `wanted` says what it should have been."""
    try:
        with regular_file(path).open("rb") as file:
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except ValueError:
        raise FormatError(path, "file", wanted, "an empty file", "download it again") from None
    except OSError as error:
        raise FormatError(path, "file", "readable", str(error)) from error


def released(maps: Iterable[mmap.mmap]) -> None:
    """What was read of the maps leaves this process's memory; the system keeps it in its cache while there is room.

    Nothing on other systems than Linux, which do so by themselves when memory is short.
    """
    if sys.platform == "linux":
        for data in maps:
            data.madvise(mmap.MADV_DONTNEED)


def inside(folder: Path, name: str, field: str) -> Path:
    """The file that a config or an index names: a plain base name of a regular file that lies in `folder`.

    Refused before anything is opened: separators, drives, `..`, links that lead out. A Hugging Face cache keeps
    `snapshots/REVISION/NAME` as a link into the `blobs` of the same repository: that folder counts as inside.
    """
    plain = PurePosixPath(name).name == name == PureWindowsPath(name).name
    if not plain or name in ("", ".", "..") or "\0" in name or ":" in name:
        raise FormatError(folder, field, "the plain name of a file in this folder", repr(name[:200]))
    path = folder / name
    try:
        target, present = path.resolve(), path.exists()
    except (OSError, RuntimeError) as error:  # a name too long, a link to itself
        raise FormatError(folder, field, "a file inside this folder", str(error)) from error
    if target.parent not in (folder.resolve(), _hub_blobs(folder)):
        raise FormatError(folder, field, "a file inside this folder", f"{name!r}, a link to {target}")
    if not present:
        raise FormatError(folder, field, f"the file {name!r} in this folder", "no such file", "download it again")
    return regular_file(path)


def _hub_blobs(folder: Path) -> Path | None:
    snapshots = folder.resolve().parent
    return snapshots.parent / "blobs" if snapshots.name == "snapshots" else None


def sha256_of(paths: Iterable[Path]) -> str:
    """sha256 of one file; of several, that of the lines `sha256  name` sorted by name, as sha256sum prints them."""
    digests = {path.name: _file_sha256(path) for path in paths}
    if len(digests) == 1:
        return next(iter(digests.values()))
    lines = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    return hashlib.sha256(lines.encode()).hexdigest()


def _file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
