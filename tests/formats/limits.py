"""A refusal must be quick and small: what a hostile file costs, measured in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

_SCRIPT = """
import resource, sys, time
import numpy
from whybox.errors import WhyboxError
from whybox.formats import open_weights
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before, start = peak(), time.perf_counter()
try:
    open_weights(sys.argv[1])
except WhyboxError as error:
    print(time.perf_counter() - start, peak() - before, type(error).__name__)
"""


def cost_of_refusal(path: Path) -> tuple[float, int, str]:
    """Seconds, MiB of further memory, and the error with which `path` is refused."""
    pytest.importorskip("resource", reason="peak memory is read from getrusage, which Windows lacks")
    done = subprocess.run([sys.executable, "-c", _SCRIPT, str(path)], capture_output=True, text=True, timeout=60)
    seconds, mebibytes, name = done.stdout.split()
    return float(seconds), int(mebibytes), name
