"""Weights that nobody has to have: found by the name of their folder, or the test is skipped and says why."""

from functools import cache
from pathlib import Path

import pytest

from whybox.library.folders import extra_models, own_models
from whybox.model import Model, open_model


def folder_named(name: str) -> Path | None:
    """A safetensors folder of that name in WHYBOX_MODELS or the cache."""
    found = (folder / name for folder in (*extra_models(), own_models()))
    return next((path for path in found if any(path.glob("*.safetensors"))), None)


@cache
def at_hand(name: str) -> Model:
    """The model of that folder, in float32."""
    folder = folder_named(name)
    if folder is None:
        pytest.skip(f"{name} is not at hand: put its safetensors folder, named {name}, into a folder of WHYBOX_MODELS")
    return open_model(str(folder), "torch")
