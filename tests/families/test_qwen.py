"""Qwen2, Qwen3 and Qwen3's mixtures: biases, windows on the upper layers, head norms, sparse and dense layers."""

from pathlib import Path

import pytest
from transformers import Qwen2Config, Qwen3Config, Qwen3MoeConfig

from tests.families.configs import edit_config
from tests.oracle import LONG, assert_as_exact_as_hf, assert_like_hf, opened, tiny
from whybox.errors import FormatError, UnsupportedError
from whybox.spec import Mlp, Moe

SIZES = {
    "vocab_size": 31,
    "hidden_size": 60,
    "intermediate_size": 37,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
EXPERTS = {"num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 11, "head_dim": 10}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16}


@pytest.mark.parametrize(
    ("variant", "windows"),
    [
        ({"head_dim": 10}, (None, None, None)),
        ({"tie_word_embeddings": True, "head_dim": 14}, (None, None, None)),
        ({"use_sliding_window": True, "sliding_window": 5, "max_window_layers": 1, "head_dim": 14}, (None, 5, 5)),
        ({"use_sliding_window": False, "sliding_window": 5, "max_window_layers": 1, "head_dim": 14}, (None,) * 3),
        (
            {
                "use_sliding_window": True,
                "sliding_window": 7,
                "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
                "head_dim": 10,
            },
            (7, None, 7),
        ),
        ({"rope_parameters": YARN, "head_dim": 10}, (None, None, None)),
    ],
    ids=str,
)
@pytest.mark.parametrize("config", [Qwen2Config, Qwen3Config])
def test_like_transformers(config: type, variant: dict[str, object], windows: tuple, tmp_path: Path) -> None:
    spec = assert_like_hf(tiny(config(**SIZES, **variant)), tmp_path, LONG).engine.spec
    assert tuple(layer.attention.window for layer in spec.layers) == windows
    assert spec.layers[0].attention.bias is (config is Qwen2Config)


def test_qwen2_as_the_hub_writes_it(tmp_path: Path) -> None:
    """No layer_types; a window stated but switched off."""
    model = tiny(Qwen2Config(**SIZES))
    model.save_pretrained(tmp_path)
    old = {"sliding_window": 4, "use_sliding_window": False, "max_window_layers": 1, "rope_theta": 1e4}
    edit_config(tmp_path, old | {"use_mrope": False}, remove=["layer_types", "rope_parameters"])
    assert_as_exact_as_hf(model, tmp_path, LONG)


def test_window_from_a_layer_on_is_said(tmp_path: Path) -> None:
    model = tiny(Qwen2Config(**SIZES, use_sliding_window=True, sliding_window=4, max_window_layers=2))
    model.save_pretrained(tmp_path)
    edit_config(tmp_path, remove=["layer_types"])
    spec = assert_as_exact_as_hf(model, tmp_path, LONG).engine.spec
    assert "layer_types: sliding from layer 2 on (not in the file; the family's rule)" in spec.notes


def test_layer_types_of_another_length(tmp_path: Path) -> None:
    tiny(Qwen3Config(**SIZES, use_sliding_window=True, sliding_window=4)).save_pretrained(tmp_path)
    edit_config(tmp_path, {"layer_types": ["full_attention"] * 2})
    with pytest.raises(FormatError, match="layer_types: expected 3 of"):
        opened(tmp_path)


def test_qwen3_biases(tmp_path: Path) -> None:
    assert_like_hf(tiny(Qwen3Config(**SIZES, head_dim=10, attention_bias=True)), tmp_path)


@pytest.mark.parametrize(
    ("variant", "sparse"),
    [
        ({"norm_topk_prob": True}, (True, True, True)),
        ({"norm_topk_prob": False}, (True, True, True)),
        ({"decoder_sparse_step": 2, "norm_topk_prob": True}, (False, True, False)),
        ({"mlp_only_layers": [0]}, (False, True, True)),
        ({"use_sliding_window": True, "sliding_window": 5, "num_experts_per_tok": 1}, (True, True, True)),
        ({"num_experts_per_tok": 5, "tie_word_embeddings": True}, (True, True, True)),
    ],
    ids=str,
)
def test_mixture_like_transformers(variant: dict[str, object], sparse: tuple[bool, ...], tmp_path: Path) -> None:
    spec = assert_like_hf(tiny(Qwen3MoeConfig(**SIZES, **(EXPERTS | variant))), tmp_path, LONG).engine.spec
    assert tuple(isinstance(layer.mlp, Moe) for layer in spec.layers) == sparse
    assert all(isinstance(layer.mlp, Mlp | Moe) for layer in spec.layers)


def test_multimodal_rotation_is_refused(tmp_path: Path) -> None:
    tiny(Qwen2Config(**SIZES)).save_pretrained(tmp_path)
    edit_config(tmp_path, {"use_mrope": True})
    with pytest.raises(UnsupportedError, match="use_mrope = True is not implemented"):
        opened(tmp_path)
