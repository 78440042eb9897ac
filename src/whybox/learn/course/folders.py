"""The folder of a cell: its own, watched while it runs, and cleared although its owner was killed."""

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path

PREFIX = "whybox-cell"
OWNED = re.compile(rf"{PREFIX}-(\d+)-\w+", re.ASCII)
MOST_BYTES, MOST_FILES = 20_000_000, 64
STALE_S = 600.0
"""No run takes so long: what is older and has no owner is nobody's, in another container either."""


@contextmanager
def own_folder() -> Iterator[Path]:
    """A new folder with its owner in its name. The first of a process clears those that killed owners left."""
    clear_stale()
    # Windows keeps a folder that a process just left for a moment; what then stays is the system's to clear.
    with tempfile.TemporaryDirectory(prefix=f"{PREFIX}-{os.getpid()}-", ignore_cleanup_errors=True) as name:
        yield Path(name)


@cache
def clear_stale() -> None:
    """Removes what killed owners left: this user's folders only, no link followed, nothing whose owner lives."""
    with suppress(OSError), os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if _stale(entry):
                shutil.rmtree(entry.path, ignore_errors=True)


def _stale(entry: os.DirEntry[str]) -> bool:
    if sys.platform == "win32" or (named := OWNED.fullmatch(entry.name)) is None:
        return False
    try:
        found = entry.stat(follow_symlinks=False)
    except OSError:
        return False
    own = entry.is_dir(follow_symlinks=False) and found.st_uid == os.getuid()
    return own and time.time() - found.st_mtime > STALE_S and not _lives(int(named[1]))


def _lives(owner: int) -> bool:
    try:
        os.kill(owner, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def held(folder: Path) -> tuple[int, int]:
    """Bytes and files of a folder; counting ends where there are too many files."""
    size = files = 0
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            files += 1
            with suppress(OSError):
                size += entry.stat(follow_symlinks=False).st_size
            if files > MOST_FILES:
                break
    return size, files


def overfull(folder: Path, before: tuple[int, int]) -> bool:
    """More than 20 MB or 64 files came since; files that are not in it any more are bounded by how many may be open."""
    size, files = held(folder)
    return size - before[0] > MOST_BYTES or files > MOST_FILES
