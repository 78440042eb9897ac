"""Tokenizers of the two real models, and tiny ones trained on the spot."""

from collections.abc import Mapping

import pytest

from tests.models import model_path
from whybox.formats.gguf import open_gguf
from whybox.text.tokenizer import Tokenizer


@pytest.fixture(scope="session")
def smollm2_metadata() -> Mapping[str, object]:
    return open_gguf(model_path("smollm2")).metadata


@pytest.fixture(scope="session")
def smollm2(smollm2_metadata: Mapping[str, object]) -> Tokenizer:
    return Tokenizer.from_gguf(smollm2_metadata)


@pytest.fixture(scope="session")
def gemma() -> Tokenizer:
    return Tokenizer.from_gguf(open_gguf(model_path("gemma3-270m")).metadata)
