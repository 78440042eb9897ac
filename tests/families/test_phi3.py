"""Phi-3: fused projections, partial rotation, windows, and LongRoPE on both sides of the original context."""

from pathlib import Path

import pytest
from transformers import Phi3Config

from tests.families.configs import edit_config
from tests.oracle import IDS, LONG, assert_as_exact_as_hf, assert_like_hf, opened, tiny
from whybox.errors import UnsupportedError

SIZES = {
    "vocab_size": 31,
    "hidden_size": 48,
    "intermediate_size": 37,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
}
SHORT_FACTORS, LONG_FACTORS = [1.0, 1.1, 1.3, 1.7], [1.5, 2.5, 7.0, 31.0]
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 1e4,
    "short_factor": SHORT_FACTORS,
    "long_factor": LONG_FACTORS,
}


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"sliding_window": 5},
        {"tie_word_embeddings": True},
        {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.75}},
    ],
    ids=str,
)
def test_like_transformers(variant: dict[str, object], tmp_path: Path) -> None:
    assert_like_hf(tiny(Phi3Config(**SIZES, **variant)), tmp_path, LONG)


@pytest.mark.parametrize("extra", [{}, {"attention_factor": 1.9}, {"factor": 3.0}], ids=str)
@pytest.mark.parametrize("ids", [IDS, LONG], ids=["within", "beyond"])
def test_longrope_on_both_sides(ids: tuple[int, ...], extra: dict[str, float], tmp_path: Path) -> None:
    """12 tokens (and the 5 written) stay within the original 20, 27 are beyond."""
    config = Phi3Config(**SIZES, original_max_position_embeddings=20, rope_parameters=LONGROPE | extra)
    assert_like_hf(tiny(config), tmp_path, ids)


@pytest.mark.parametrize("kind", ["su", "yarn", "longrope"])
def test_longrope_under_its_older_names(kind: str, tmp_path: Path) -> None:
    model = tiny(Phi3Config(**SIZES, original_max_position_embeddings=20, rope_parameters=LONGROPE))
    model.save_pretrained(tmp_path)
    old = {"type": kind, "short_factor": SHORT_FACTORS, "long_factor": LONG_FACTORS}
    edit_config(tmp_path, {"rope_scaling": old, "rope_theta": 1e4}, remove=["rope_parameters"])
    spec = assert_as_exact_as_hf(model, tmp_path, LONG).engine.spec
    assert any("LongRoPE magnitude" in note for note in spec.notes)


@pytest.mark.parametrize("key", ["attention_bias", "mlp_bias", "lm_head_bias"])
def test_biases_are_refused(key: str, tmp_path: Path) -> None:
    tiny(Phi3Config(**SIZES)).save_pretrained(tmp_path)
    edit_config(tmp_path, {key: False})
    opened(tmp_path)
    edit_config(tmp_path, {key: True})
    with pytest.raises(UnsupportedError, match=f"{key} = True is not implemented"):
        opened(tmp_path)
