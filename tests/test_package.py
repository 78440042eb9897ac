"""The package's front door: public names, and what importing it costs."""

import os
import subprocess
import sys
import time

import pytest

import whybox


def test_version_is_the_projects() -> None:
    assert whybox.__version__ == "0.1.0"


@pytest.mark.parametrize("name", whybox.__all__)
def test_every_public_name_exists(name: str) -> None:
    assert getattr(whybox, name).__doc__


def test_public_names_are_exactly_these() -> None:
    assert set(whybox.__all__) == {
        "Case", "Change", "Decoding", "Model", "Trace",
        "add", "answer", "attention", "boost", "cut", "diff", "lens", "look", "open", "scale", "set_to", "why", "zero",
    }  # fmt: skip


def test_unknown_names_are_refused() -> None:
    with pytest.raises(AttributeError, match="no attribute 'opn'"):
        whybox.opn


@pytest.mark.parametrize("arguments", [["-c", "import whybox"], ["-m", "whybox", "--help"]])
def test_starting_is_quick(arguments: list[str]) -> None:
    def seconds() -> float:
        """Processor time where it is counted, so that a busy machine does not matter; else wall time."""
        before, begun = os.times(), time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, capture_output=True)
        after = os.times()
        spent = after.children_user - before.children_user + after.children_system - before.children_system
        return spent or time.perf_counter() - begun

    assert min(seconds() for _ in range(5)) < 0.5
