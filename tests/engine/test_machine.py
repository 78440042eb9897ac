"""How much memory is left: the kernel's own figure, bounded by control groups of both versions."""

import sys
from pathlib import Path

import pytest

from whybox.engine.machine import available, linux


def _write(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


MEMINFO = {"proc/meminfo": "MemTotal:  9000 kB\nMemFree:  1000 kB\nMemAvailable:  8000 kB\n"}
GROUP = "sys/fs/cgroup/user.slice/job/"
V2 = {
    "proc/self/cgroup": "0::/user.slice/job\n",
    GROUP + "memory.max": "3000000\n",
    GROUP + "memory.current": "2500000\n",
    GROUP + "memory.stat": "anon 1\ninactive_file 600000\n",
}
V1 = {
    "proc/self/cgroup": "9:name=systemd:/\n4:cpu,memory:/job\n0::/\n",
    "sys/fs/cgroup/memory/job/memory.limit_in_bytes": "7000000\n",
    "sys/fs/cgroup/memory/job/memory.usage_in_bytes": "1000000\n",
    "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
    "sys/fs/cgroup/memory/memory.usage_in_bytes": "5000000\n",
}


@pytest.mark.parametrize(
    ("files", "left"),
    [
        ({}, None),
        (MEMINFO, 8_192_000),
        (MEMINFO | V2, 1_100_000),
        (MEMINFO | V2 | {GROUP + "memory.max": "max\n"}, 8_192_000),
        (MEMINFO | V2 | {GROUP + "memory.current": "9000000\n"}, 0),
        (MEMINFO | V2 | {"sys/fs/cgroup/memory.max": "900000", "sys/fs/cgroup/memory.current": "5000"}, 895_000),
        (MEMINFO | V1, 6_000_000),
    ],
    ids=["nothing told", "no group", "v2", "v2 without limit", "beyond the limit", "a parent's limit", "v1"],
)
def test_the_least_of_all_that_limits(files: dict[str, str], left: int | None, tmp_path: Path) -> None:
    assert linux(_write(tmp_path, files)) == left


@pytest.mark.skipif(sys.platform not in ("linux", "darwin", "win32"), reason="elsewhere it may be unknown")
def test_this_machine_has_some_and_not_too_much() -> None:
    left = available()
    assert left is not None
    assert 1 << 20 < left < 1 << 50
