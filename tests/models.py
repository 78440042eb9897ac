"""Where the two real models lie on this machine; without one, the tests that need it are skipped with the reason."""

import os
from pathlib import Path

import pytest

CACHE = Path.home() / ".cache" / "whybox" / "models"


def model_path(name: str) -> Path:
    """The GGUF file of `smollm2` or `gemma3-270m`: from the folders of WHYBOX_MODELS, then the cache."""
    folders = [Path(folder) for folder in os.environ.get("WHYBOX_MODELS", "").split(os.pathsep) if folder]
    for folder in (*folders, CACHE):
        path = folder / f"{name}.gguf"
        if path.is_file():
            return path
    pytest.skip(f"{name}.gguf is in no folder of WHYBOX_MODELS and not in {CACHE}")
