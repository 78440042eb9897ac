"""--threads reaches the BLAS: it must be said before NumPy is loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ASK = """
import sys
from whybox.cli.threads import limit_threads
assert "numpy" not in sys.modules, "NumPy is loaded before the threads are limited"
limit_threads(1)
import whybox.cli.main
print("numpy" in sys.modules)
import numpy
numpy.ones((600, 600)) @ numpy.ones((600, 600))
import pathlib
print(len(list(pathlib.Path("/proc/self/task").iterdir())))
"""


@pytest.mark.skipif(not Path("/proc/self/task").is_dir(), reason="threads are counted in /proc")
def test_the_limit_is_said_before_numpy_is_loaded() -> None:
    ended = subprocess.run([sys.executable, "-c", ASK], capture_output=True, text=True, env=dict(os.environ))
    assert ended.stdout.split() == ["False", "1"], ended.stderr
