"""What the system refuses to an exercise, whatever its code does: limits everywhere but on Windows, on Linux also
Landlock (no file outside the folder, no connection) and a seccomp filter (no call that the list does not name).

Both are undone by nothing but the end of the process.
"""

import ctypes
import os
import platform
import struct
import sys

# Landlock: linux/landlock.h. How many rights each version of it knows.
READ, WRITE, REMOVE, MAKE, TRUNCATE = 1 << 2, 1 << 1, 1 << 5, 1 << 8, 1 << 14
RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
TCP, SCOPES = 0b11, 0b11
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446

# seccomp: linux/seccomp.h, linux/filter.h, linux/audit.h
MACHINES = {"x86_64": (0xC000003E, 0), "aarch64": (0xC00000B7, 1)}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
KILL, REFUSE, ALLOW = 0x80000000, 0x00050001, 0x7FFF0000
CALLS: dict[str, tuple[int | None, int | None]] = {
    "read": (0, 63), "write": (1, 64), "open": (2, None), "close": (3, 57), "stat": (4, None), "fstat": (5, 80),
    "lstat": (6, None), "lseek": (8, 62), "mmap": (9, 222), "mprotect": (10, 226), "munmap": (11, 215),
    "brk": (12, 214), "rt_sigaction": (13, 134), "rt_sigprocmask": (14, 135), "rt_sigreturn": (15, 139),
    "ioctl": (16, 29), "pread64": (17, 67), "pwrite64": (18, 68), "readv": (19, 65), "writev": (20, 66),
    "sched_yield": (24, 124), "mremap": (25, 216), "madvise": (28, 233), "dup": (32, 23), "nanosleep": (35, 101),
    "getpid": (39, 172), "exit": (60, 93), "fcntl": (72, 25), "ftruncate": (77, 46), "getcwd": (79, 17),
    "unlink": (87, None), "gettimeofday": (96, 169), "getrusage": (98, 165), "sigaltstack": (131, 132),
    "gettid": (186, 178), "time": (201, None), "futex": (202, 98), "sched_getaffinity": (204, 123),
    "restart_syscall": (219, 128), "clock_gettime": (228, 113), "clock_getres": (229, 114),
    "clock_nanosleep": (230, 115), "exit_group": (231, 94), "openat": (257, 56), "newfstatat": (262, 79),
    "unlinkat": (263, 35), "getrandom": (318, 278), "membarrier": (324, 283), "statx": (332, 291), "rseq": (334, 293),
}  # fmt: skip
"""Every call that a computation needs, by machine (x86_64, aarch64)."""

DIE_WITH_PARENT, NO_NEW_PRIVILEGES, SECCOMP, FILTER = 1, 38, 22, 2
SIGKILL = 9


class _Libc:
    """The calls that Python has no function for."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(None, use_errno=True)
        self.library.syscall.restype = ctypes.c_long

    def call(self, number: int, *arguments: object) -> int:
        made = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
        return int(self.library.syscall(ctypes.c_long(number), *made))

    def prctl(self, option: int, value: int, pointer: object = 0) -> bool:
        last = ctypes.c_ulong(pointer) if isinstance(pointer, int) else pointer
        return self.library.prctl(option, ctypes.c_ulong(value), last, ctypes.c_ulong(0), ctypes.c_ulong(0)) == 0


def limit(seconds: float, memory: int, file_bytes: int) -> tuple[str, ...]:
    """Processor time from now on, memory, size of a file, number of open files, no more processes."""
    if sys.platform == "win32":
        return ()
    import resource

    used = resource.getrusage(resource.RUSAGE_SELF)
    cpu = int(used.ru_utime + used.ru_stime + seconds) + 2
    wanted = {
        resource.RLIMIT_CPU: cpu,
        resource.RLIMIT_AS: memory,
        resource.RLIMIT_FSIZE: file_bytes,
        resource.RLIMIT_NOFILE: 32,
        resource.RLIMIT_NPROC: 0,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in wanted.items():
        _, hard = resource.getrlimit(kind)
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(kind, (bound, bound))
        except (OSError, ValueError):
            continue  # macOS knows no limit of memory; the time limit still ends what asks for too much
    return ("limits",)


def lock(folder: str) -> tuple[str, ...]:
    """Which of the walls stand from now on."""
    if sys.platform != "linux":
        return ()
    libc = _Libc()
    libc.prctl(DIE_WITH_PARENT, SIGKILL)
    if not libc.prctl(NO_NEW_PRIVILEGES, 1):
        return ()
    walls = {"landlock": _landlock(libc, folder), "seccomp": _seccomp(libc)}
    return tuple(name for name, stands in walls.items() if stands)


def _landlock(libc: _Libc, folder: str) -> bool:
    version = libc.call(CREATE_RULESET, 0, 0, 1)
    if version < 1:
        return False
    handled = (1 << RIGHTS.get(version, 16)) - 1
    attributes = struct.pack("QQQ", handled, TCP, SCOPES)
    known = 8 if version < 4 else 16 if version < 6 else 24
    ruleset = libc.call(CREATE_RULESET, attributes, known, 0)
    if ruleset < 0:
        return False
    own = os.open(folder, os.O_PATH)
    rule = struct.pack("=Qi", (READ | WRITE | REMOVE | MAKE | TRUNCATE) & handled, own)
    stands = libc.call(ADD_RULE, ruleset, 1, rule, 0) == 0 and libc.call(RESTRICT_SELF, ruleset, 0) == 0
    os.close(own)
    os.close(ruleset)
    return stands


def _seccomp(libc: _Libc) -> bool:
    machine = MACHINES.get(platform.machine())
    if machine is None or sys.maxsize < 2**32:
        return False
    program = _program(*machine)
    instructions = ctypes.create_string_buffer(program, len(program))
    described = struct.pack("HP", len(program) // 8, ctypes.addressof(instructions))
    return libc.prctl(SECCOMP, FILTER, described)


def _program(machine: int, column: int) -> bytes:
    """Another machine's calls end the process; a call of the list passes; every other one fails."""
    numbers = [number for calls in CALLS.values() if (number := calls[column]) is not None]
    steps = [(LOAD, 0, 0, 4), (EQUAL, 1, 0, machine), (RETURN, 0, 0, KILL), (LOAD, 0, 0, 0)]
    steps += [(EQUAL, len(numbers) - place, 0, number) for place, number in enumerate(numbers)]
    steps += [(RETURN, 0, 0, REFUSE), (RETURN, 0, 0, ALLOW)]
    return b"".join(struct.pack("HBBI", *step) for step in steps)
