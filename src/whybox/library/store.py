"""Files that appear whole or not at all: space checked first, written aside, verified, then renamed into place.

Everything that is not finished lives in one working folder beside the final name, `.NAME.pull-*`. It goes away with
the pull; what a killed process left is swept by the next pull, which holds the lock and so knows that nobody needs it.
"""

import errno
import hashlib
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from whybox.errors import DownloadError, StorageError
from whybox.library.progress import Progress, size_text

CHUNK = 1 << 20
MARGIN = 8 << 20  # a file system needs room for its own tables, and other programs write too
_NOT_PINNED = "Nothing was kept: the source is damaged or not the pinned one. Another: whybox pull NAME --from FILE."


@dataclass(frozen=True)
class Pin:
    """What the bytes of a file must be: their number and their sha256."""

    size: int
    sha256: str


@contextmanager
def storage_errors(folder: Path, need: int) -> Iterator[None]:
    """Turns what the operating system says about `folder` into a StorageError with the numbers."""
    try:
        yield
    except BrokenPipeError:
        raise  # whoever read our output is gone; that is no fault of the folder
    except OSError as problem:
        raise _storage_error(problem, folder, need) from problem


def make_folder(folder: Path) -> None:
    """Creates the folder and its parents.

    Raises StorageError where it cannot be made or written.
    """
    with storage_errors(folder, 0):
        folder.mkdir(parents=True, exist_ok=True)


def require_space(folder: Path, need: int) -> None:
    """Raises StorageError, before anything is fetched, if `need` bytes do not fit."""
    free = shutil.disk_usage(folder).free
    if free < need + MARGIN:
        raise _full(folder, need + MARGIN, free)


@contextmanager
def locked(folder: Path, name: str, progress: Progress) -> Iterator[bool]:
    """One pull of `name` at a time on this machine; yields whether the lock is really held.

    The operating system holds the lock, so it ends with its process, however that ends. File systems without locks
    (some network shares) yield False: working folders are unique, so both pulls are still safe, only not shared.
    """
    with storage_errors(folder, 0):
        handle = (folder / f".{name}.lock").open("a+b")
    with handle:
        yield _held(handle.fileno(), name, progress)


def sweep(folder: Path, name: str) -> None:
    """Removes the working folders that killed pulls of `name` left. Only for the holder of the lock."""
    for left in folder.glob(f".{name}.pull-*"):
        shutil.rmtree(left, ignore_errors=True)


@contextmanager
def workbench(folder: Path, name: str) -> Iterator[Path]:
    """A working folder on the same file system as the final file; gone afterwards, whatever happens."""
    with storage_errors(folder, 0):
        work = Path(tempfile.mkdtemp(prefix=f".{name}.pull-", dir=folder))
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def write_pinned(chunks: Iterable[bytes], part: Path, pin: Pin, origin: str, done: Callable[[int], None]) -> None:
    """Writes the chunks to `part`, to the disk itself, and holds them against the pin.

    origin: where they come from, for the messages. done: told the bytes written so far.

    Raises DownloadError (too many bytes, too few, another digest), StorageError.
    """
    digest, written = hashlib.sha256(), 0
    with storage_errors(part.parent, pin.size), part.open("wb") as file:
        for chunk in chunks:
            written += len(chunk)
            if written > pin.size:
                raise DownloadError(f"{origin}: more than the expected {pin.size} bytes came", _NOT_PINNED)
            digest.update(chunk)
            file.write(chunk)
            done(written)
        file.flush()
        os.fsync(file.fileno())
    if written != pin.size:
        raise DownloadError(f"{origin}: expected {pin.size} bytes, found {written}", _NOT_PINNED)
    if digest.hexdigest() != pin.sha256:
        raise DownloadError(f"{origin}: expected sha256 {pin.sha256}, found {digest.hexdigest()}", _NOT_PINNED)


def publish(part: Path, target: Path) -> None:
    """Gives the finished file its name in one step, and makes the name itself durable."""
    with storage_errors(target.parent, 0):
        os.replace(part, target)
        if sys.platform != "win32":
            folder = os.open(target.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)


def _storage_error(problem: OSError, folder: Path, need: int) -> StorageError:
    if problem.errno in (errno.ENOSPC, errno.EDQUOT):
        return _full(folder, need, shutil.disk_usage(folder).free)
    return StorageError(
        f"{folder} cannot be written: {problem.strerror or problem}",
        "Make it writable, or set WHYBOX_HOME to a folder that is.",
    )


def _full(folder: Path, need: int, free: int) -> StorageError:
    place = next((bench.parent for bench in (folder, *folder.parents) if ".pull-" in bench.name), folder)
    return StorageError(
        f"the disk of {place} is full: {need} bytes ({size_text(need)}) needed, {free} ({size_text(free)}) free",
        "Free some space, or set WHYBOX_HOME to a folder on another disk.",
    )


def _held(handle: int, name: str, progress: Progress) -> bool:
    try:
        try:
            lock_file(handle, wait=False)
        except BlockingIOError:
            progress.say(f"another process is pulling {name}; waiting for it")
            lock_file(handle, wait=True)
    except OSError:
        return False
    return True


if sys.platform == "win32":
    import msvcrt
    import time

    def lock_file(handle: int, wait: bool) -> None:
        """Locks the first byte; the waiting form of Windows gives up after ten tries, so waiting is our own loop."""
        while True:
            try:
                return msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            except PermissionError as busy:
                if not wait:
                    raise BlockingIOError from busy
                time.sleep(0.2)

else:
    import fcntl

    def lock_file(handle: int, wait: bool) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
