"""Llama against transformers: distinct prime sizes, head width that is not c/h, GQA, biases, every rotary variant."""

from pathlib import Path

import numpy as np
import pytest
from transformers import LlamaConfig

from tests.oracle import IDS, assert_as_exact_as_hf, hf_hidden, opened, tiny

SIZES = {
    "vocab_size": 31,
    "hidden_size": 42,
    "intermediate_size": 37,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "max_position_embeddings": 64,
}
ROPES = {
    "default": {"rope_type": "default", "rope_theta": 1e4},
    "base": {"rope_type": "default", "rope_theta": 777.0},
    "linear": {"rope_type": "linear", "rope_theta": 1e4, "factor": 3.0},
    "dynamic": {"rope_type": "dynamic", "rope_theta": 1e4, "factor": 2.0},
    "llama3": {
        "rope_type": "llama3",
        "rope_theta": 1e4,
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
    "yarn": {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16},
}


@pytest.mark.parametrize("rope", ROPES)
def test_logits_as_exact_as_transformers(rope: str, tmp_path: Path) -> None:
    model = tiny(LlamaConfig(**SIZES, rope_parameters=ROPES[rope]))
    model.save_pretrained(tmp_path)
    assert_as_exact_as_hf(model, tmp_path)


@pytest.mark.parametrize("tied", [False, True])
def test_biases_and_tying(tied: bool, tmp_path: Path) -> None:
    model = tiny(LlamaConfig(**SIZES, attention_bias=True, mlp_bias=True, tie_word_embeddings=tied))
    model.save_pretrained(tmp_path)
    assert assert_as_exact_as_hf(model, tmp_path).engine.spec.tied is tied


def test_sites_that_transformers_shows(tmp_path: Path) -> None:
    model = tiny(LlamaConfig(**SIZES))
    model.save_pretrained(tmp_path)
    shown = hf_hidden(model, IDS)
    trace = opened(tmp_path).engine64.run(IDS, see=["resid_pre", "pattern", "final"])
    for layer in range(3):
        np.testing.assert_allclose(trace["resid_pre", layer], shown[f"hidden.{layer}"], atol=2e-6)
        np.testing.assert_allclose(trace["pattern", layer], shown[f"pattern.{layer}"], atol=2e-6)
    np.testing.assert_allclose(trace["final"], shown["hidden.3"], atol=2e-6)
