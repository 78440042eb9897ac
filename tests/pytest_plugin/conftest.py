"""Tests of tests: each is run by pytest itself, on bots."""

from collections.abc import Callable
from importlib.metadata import entry_points
from typing import Any

import pytest

# What is loaded here stays loaded: pytester forgets what a test inside it imports, and NumPy bears that badly.
import whybox.pytest_plugin.repeats  # noqa: F401

# An installed whybox brings the plugin by itself; by its other name it would be a second one.
INSTALLED = any(point.name == "whybox" for point in entry_points(group="pytest11"))
PLUGIN = "whybox" if INSTALLED else "whybox.pytest_plugin"

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs a test file with the plugin; the text is the body of the file behind its imports."""
    monkeypatch.setenv("WHYBOX_HOME", str(pytester.path / "home"))
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)

    def ran(text: str, *words: str, **more: Any) -> pytest.RunResult:
        if text:
            pytester.makepyfile(f"import pytest\nfrom whybox.pytest_plugin import *\n{text}")
        return pytester.runpytest_inprocess("-p", PLUGIN, "-p", "no:cacheprovider", "-rA", *words, **more)

    return ran
