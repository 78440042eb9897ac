"""Llama against transformers: distinct prime sizes, head width that is not c/h, GQA, biases, every rotary variant."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from transformers import LlamaConfig

from tests.families.configs import edit_config
from tests.oracle import IDS, LONG, assert_as_exact_as_hf, assert_like_hf, opened, tiny
from whybox.engine.edit import zero

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
def test_like_transformers(rope: str, tmp_path: Path) -> None:
    assert_like_hf(tiny(LlamaConfig(**SIZES, rope_parameters=ROPES[rope])), tmp_path)


@pytest.mark.parametrize("rope", ROPES)
def test_beyond_the_trained_context(rope: str, tmp_path: Path) -> None:
    """27 tokens where 16 were trained: dynamic NTK takes its larger base (in float32, in transformers)."""
    model = tiny(LlamaConfig(**(SIZES | {"max_position_embeddings": 16}), rope_parameters=ROPES[rope]))
    model.save_pretrained(tmp_path)
    assert_as_exact_as_hf(model, tmp_path, LONG, stored=1e-8)


@pytest.mark.parametrize(
    ("given", "value", "rule"),
    [
        ({"factor": 128.0, "attention_factor": 1.4852}, 1.4852, "attention_factor, as given"),
        ({"factor": 16.0, "mscale": 1.0, "mscale_all_dim": 1.0}, 1.0, "mscale over mscale_all_dim"),
        ({"factor": 64.0}, 1.4159, r"0.1·ln(factor) + 1"),
    ],
)
def test_yarns_magnitude_is_taken_once_and_its_rule_is_said(
    given: dict[str, float], value: float, rule: str, tmp_path: Path
) -> None:
    """It multiplies cos and sin, so queries and keys once each and scores by its square."""
    yarn = {"rope_type": "yarn", "rope_theta": 1e4, "original_max_position_embeddings": 16} | given
    spec = assert_like_hf(tiny(LlamaConfig(**SIZES, rope_parameters=yarn)), tmp_path).engine.spec
    (note,) = (note for note in spec.notes if "YaRN magnitude" in note)
    assert note.endswith(f"by the rule: {rule}")
    trace = opened(tmp_path).engine64.run(IDS, see=["query", "query_pos", "key", "key_pos"])
    for before, after in (("query", "query_pos"), ("key", "key_pos")):
        ratio = np.linalg.norm(trace[after, 1], axis=-1) / np.linalg.norm(trace[before, 1], axis=-1)
        np.testing.assert_allclose(ratio, value, rtol=5e-5)


@pytest.mark.parametrize("tied", [False, True])
def test_biases_and_tying(tied: bool, tmp_path: Path) -> None:
    model = tiny(LlamaConfig(**SIZES, attention_bias=True, mlp_bias=True, tie_word_embeddings=tied))
    assert assert_like_hf(model, tmp_path).engine.spec.tied is tied


def test_settings_as_older_files_say_them(tmp_path: Path) -> None:
    model = tiny(LlamaConfig(**SIZES, rope_parameters=ROPES["linear"]))
    model.save_pretrained(tmp_path)
    old = {"rope_theta": 1e4, "rope_scaling": {"type": "linear", "factor": 3.0}, "pretraining_tp": 1}
    edit_config(tmp_path, old, remove=["rope_parameters"])
    assert_as_exact_as_hf(model, tmp_path)


def test_cached_rotary_frequencies_are_left_unused(tmp_path: Path) -> None:
    model = tiny(LlamaConfig(**SIZES))
    model.save_pretrained(tmp_path)
    path, name = tmp_path / "model.safetensors", "model.layers.0.self_attn.rotary_emb.inv_freq"
    save_file(load_file(path) | {name: np.zeros(5, np.float32)}, path)
    ledger = assert_as_exact_as_hf(model, tmp_path).engine.weights.ledger
    assert (name, "rotary frequencies, computed from the configuration", ()) in ledger


def test_query_heads_share_keys_in_runs(tmp_path: Path) -> None:
    """Head h reads key/value head h // 3: 0 0 0 1 1 1. Silencing kv head 1 changes heads 3, 4, 5 alone."""
    tiny(LlamaConfig(**SIZES)).save_pretrained(tmp_path)
    engine = opened(tmp_path).engine
    right = engine.run(IDS, see=[("head_out", 0)])["head_out", 0]
    silenced = engine.run(IDS, see=[("head_out", 0)], edits=[zero("value", 0, g=1)])["head_out", 0]
    changed = (silenced != right).any(axis=(0, 2))
    assert changed.tolist() == [False, False, False, True, True, True]
