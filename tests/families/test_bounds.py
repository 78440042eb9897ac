"""A configuration that no model can have is refused by the name of its field, whatever the file's format."""

from pathlib import Path

import pytest
from transformers import LlamaConfig

from tests.families.configs import edit_config
from tests.oracle import tiny
from whybox.errors import FormatError
from whybox.families import describe
from whybox.formats import open_weights

CONFIG = LlamaConfig(
    vocab_size=31,
    hidden_size=16,
    intermediate_size=24,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
)


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    tiny(CONFIG).save_pretrained(folder)
    return folder


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"num_hidden_layers": 0}, "num_hidden_layers"),
        ({"num_hidden_layers": 10**6}, "num_hidden_layers"),
        ({"num_hidden_layers": 1e308}, "num_hidden_layers"),
        ({"num_attention_heads": 0, "head_dim": None}, "num_attention_heads"),
        ({"num_attention_heads": -4}, "num_attention_heads"),
        ({"num_attention_heads": 32, "head_dim": None}, "heads"),
        ({"num_key_value_heads": 3}, "key/value heads"),
        ({"head_dim": 0}, "head_dim"),
        ({"vocab_size": 10**12}, "vocab_size"),
        ({"hidden_size": 10**400}, "hidden_size"),
        ({"rms_norm_eps": float("nan")}, "rms_norm_eps"),
        ({"rms_norm_eps": -1}, "epsilon of the norm"),
        ({"rope_theta": float("inf")}, "rope_theta"),
        ({"rope_theta": -1.0}, "rotary base"),
        ({"rope_theta": 10**400}, "rope_theta"),
        ({"partial_rotary_factor": 2.0}, "rotary width"),
        ({"rope_scaling": {"type": "linear", "factor": -1}}, "rotary scaling factor"),
        ({"rope_scaling": {"type": "longrope", "short_factor": [1], "long_factor": [1]}}, "number of rotary divisors"),
        (
            {"rope_scaling": {"rope_type": "yarn", "factor": 2, "original_max_position_embeddings": -5}},
            "original_max_position_embeddings",
        ),
        (
            {"rope_scaling": {"rope_type": "llama3", "factor": 8, "low_freq_factor": 4, "high_freq_factor": 4}},
            "high_freq_factor",
        ),
    ],
)
def test_what_no_model_has_is_refused_by_name(changes: dict[str, object], field: str, saved: Path) -> None:
    before = (saved / "config.json").read_text()
    try:
        edit_config(saved, {"rope_theta": 10000.0} | changes, remove=["rope_parameters"])
        with pytest.raises(FormatError) as refused:
            describe(open_weights(saved))
    finally:
        (saved / "config.json").write_text(before)
    assert field in refused.value.field or field in str(refused.value)


def test_the_same_configuration_untouched_is_taken(saved: Path) -> None:
    assert len(describe(open_weights(saved))[0].layers) == 2
