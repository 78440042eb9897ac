"""The two real models, for every test that needs one: found on this machine, or pulled once and kept."""

import os
from pathlib import Path

import pytest

from whybox import library
from whybox.errors import InfrastructureError, ModelNotFound


def model_path(name: str) -> Path:
    """The GGUF file of `smollm2` or `gemma3-270m`: from WHYBOX_MODELS or the cache, else pulled as a user would.

    With WHYBOX_TEST_OFFLINE=1 nothing is pulled: the test is skipped with that reason.
    """
    offline = os.environ.get("WHYBOX_TEST_OFFLINE") == "1"
    try:
        return library.locate(name, download=not offline)
    except ModelNotFound:
        pytest.skip(f"{name} is not on this machine, and WHYBOX_TEST_OFFLINE forbids to pull it")
    except InfrastructureError as problem:
        pytest.fail(f"{problem.cause}\n{problem.remedy}\nSet WHYBOX_TEST_OFFLINE=1 to skip tests that need models.")
