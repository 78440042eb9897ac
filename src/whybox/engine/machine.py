"""How much memory this machine can still give, as its system counts it, and giving back what is not used."""

import ctypes
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType


def available() -> int | None:
    """Bytes that can still be allocated without driving other programs out; None where that is not known.

    Linux: MemAvailable, and no more than the control group of this process has left. Windows: available physical
    memory. Elsewhere: all physical memory, so that only what could never fit is refused.
    """
    try:
        return _SYSTEMS.get(sys.platform, _physical)()
    except (OSError, ValueError, AttributeError):
        return None


def _physical() -> int:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def give_back() -> None:
    """Memory that is free within this process goes back to the system: glibc keeps what was freed between other things.

    Costs milliseconds. Nothing where the C library has no such call.
    """
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)


# Linux


@dataclass(frozen=True)
class _Version:
    """The files of one version of control groups. `idle`: the row of memory.stat that counts reclaimable file pages."""

    mount: str
    limit: str
    usage: str
    idle: str


_V1 = _Version("sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file")
_V2 = _Version("sys/fs/cgroup", "memory.max", "memory.current", "inactive_file")
_NO_LIMIT = 1 << 60  # version 1 writes "none" as the largest number of pages


@dataclass(frozen=True)
class _Group:
    """A control group that limits the memory of this process."""

    folder: Path
    version: _Version
    limit: int

    @property
    def left(self) -> int:
        """limit − (usage − what can be reclaimed)."""
        usage = int((self.folder / self.version.usage).read_text())
        idle = _row(self.folder / "memory.stat", self.version.idle) or 0
        return max(self.limit - max(usage - idle, 0), 0)


def linux(root: Path = Path("/")) -> int | None:
    """The least of MemAvailable and what each control group above this process has left."""
    told = _row(root / "proc/meminfo", "MemAvailable:")
    free = [] if told is None else [1024 * told]
    return min([*free, *(group.left for group in _limiting(root))], default=None)


@cache
def _limiting(root: Path) -> tuple[_Group, ...]:
    """Every group with a limit, from this process's own up to the mount; looked up once, since it is asked often."""
    return tuple(
        _Group(folder, version, int(limit))
        for version, path in _memberships(root)
        for folder in _upwards(root / version.mount, path)
        if (limit := _text(folder / version.limit)).isdigit() and int(limit) < _NO_LIMIT
    )


def _memberships(root: Path) -> Iterator[tuple[_Version, str]]:
    """The rows `number:controllers:path` of this process that speak of memory."""
    for row in _text(root / "proc/self/cgroup").splitlines():
        number, controllers, path = row.split(":", 2)
        if "memory" in controllers.split(","):
            yield _V1, path
        elif number == "0" and not controllers:
            yield _V2, path


def _upwards(mount: Path, path: str) -> tuple[Path, ...]:
    own = mount / path.lstrip("/")
    return tuple(folder for folder in (own, *own.parents) if folder.is_relative_to(mount))


def _row(path: Path, name: str) -> int | None:
    """The number behind a name; no row is read further than that one, since it is asked before every run."""
    for row in _text(path).splitlines():
        if row.startswith(name) and len(words := row.split()) > 1 and words[0] == name and words[1].isdigit():
            return int(words[1])
    return None


def _text(path: Path) -> str:
    return path.read_text().strip() if path.is_file() else ""


# Windows


class _MemoryStatus(ctypes.Structure):
    """MEMORYSTATUSEX of GlobalMemoryStatusEx."""

    _fields_ = (
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("physical", ctypes.c_uint64),
        ("physical_left", ctypes.c_uint64),
        ("page_file", ctypes.c_uint64),
        ("page_file_left", ctypes.c_uint64),
        ("address_space", ctypes.c_uint64),
        ("address_space_left", ctypes.c_uint64),
        ("extended_left", ctypes.c_uint64),
    )


def _windows() -> int | None:
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    told = ctypes.CDLL("kernel32").GlobalMemoryStatusEx(ctypes.byref(status))
    return int(status.physical_left) if told else None


_SYSTEMS: Mapping[str, Callable[[], int | None]] = MappingProxyType({"linux": linux, "win32": _windows})
