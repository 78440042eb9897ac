"""The command line as a user meets it: a process of its own, on a machine with nothing on it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests import warm
from tests.library.conftest import machine

__all__ = ["machine"]

ROOT = Path(__file__).parents[2]

# The same entry point with one small alias, so that no test needs a real model.
WITH_TINY = """
import sys
from whybox.library import ALIASES as known
from tests.library.fakes import content_of, fake_alias
tiny = {"tiny": fake_alias(content_of(300_007), notice="Terms apply.")}
for module in [each for each in sys.modules.values() if getattr(each, "ALIASES", None) is known]:
    module.ALIASES = tiny
from whybox.cli.main import main
main()
"""


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    out: str
    err: str


@dataclass(frozen=True)
class Whybox:
    """Runs `whybox` with the environment of the test."""

    def start(self, *arguments: str, stdout: int = subprocess.PIPE) -> "subprocess.Popen[str]":
        path = os.pathsep.join([str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")])
        return subprocess.Popen(
            [sys.executable, "-c", WITH_TINY, *arguments],
            env=os.environ | {"PYTHONPATH": path},
            stdout=stdout,
            stderr=subprocess.PIPE,
            encoding="utf-8",
        )

    def __call__(self, *arguments: str) -> Ended:
        ended = warm.python("-c", WITH_TINY, *arguments, timeout=60)
        return Ended(ended.returncode, ended.stdout, ended.stderr)

    def interrupted_when(self, ready: Callable[[], bool], *arguments: str) -> Ended:
        process = self.start(*arguments)
        deadline = time.monotonic() + 20
        while not ready() and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=20)
        return Ended(process.returncode, out, err)


@pytest.fixture
def whybox() -> Whybox:
    return Whybox()
