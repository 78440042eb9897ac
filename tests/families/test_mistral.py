"""Mistral: a window on every layer, none, or the family's default where the file is silent."""

from pathlib import Path

import pytest
from transformers import MistralConfig

from tests.families.configs import edit_config
from tests.oracle import LONG, assert_like_hf, opened, tiny

SIZES = {
    "vocab_size": 31,
    "hidden_size": 42,
    "intermediate_size": 37,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}


@pytest.mark.parametrize(
    "variant",
    [
        {"sliding_window": None, "head_dim": 10},
        {"sliding_window": 5, "head_dim": 10},
        {"sliding_window": 40, "head_dim": 6, "tie_word_embeddings": True},
        {"sliding_window": 2, "head_dim": 10, "rope_parameters": {"rope_type": "default", "rope_theta": 1e6}},
    ],
    ids=str,
)
def test_like_transformers(variant: dict[str, object], tmp_path: Path) -> None:
    mine = assert_like_hf(tiny(MistralConfig(**SIZES, **variant)), tmp_path, LONG)
    assert {layer.attention.window for layer in mine.engine.spec.layers} == {variant["sliding_window"]}


def test_window_that_the_file_does_not_state(tmp_path: Path) -> None:
    tiny(MistralConfig(**SIZES, head_dim=10)).save_pretrained(tmp_path)
    edit_config(tmp_path, remove=["sliding_window"])
    spec = opened(tmp_path).engine.spec
    assert spec.layers[0].attention.window == 4096
    assert "sliding_window = 4096 (not in the file; the family's default)" in spec.notes
