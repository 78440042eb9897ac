"""GPT-2: fused Conv1D weights, learned positions, and the score scales that a fast path would drop."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from transformers import GPT2Config

from tests.oracle import IDS, assert_as_exact_as_hf, assert_like_hf, opened, tiny
from whybox.errors import PromptError, UnsupportedError

SIZES = {"vocab_size": 31, "n_positions": 23, "n_embd": 21, "n_layer": 3, "n_head": 3}


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"n_inner": 37, "layer_norm_epsilon": 1e-3},
        {"scale_attn_by_inverse_layer_idx": True},
        {"scale_attn_weights": False},
        {"scale_attn_weights": False, "scale_attn_by_inverse_layer_idx": True},
        {"activation_function": "relu"},
        {"activation_function": "gelu"},
        {"tie_word_embeddings": False},
    ],
    ids=str,
)
def test_like_transformers(variant: dict[str, object], tmp_path: Path) -> None:
    assert_like_hf(tiny(GPT2Config(**SIZES, **variant)), tmp_path)


def test_inverse_layer_scale_is_in_the_spec(tmp_path: Path) -> None:
    tiny(GPT2Config(**SIZES, scale_attn_by_inverse_layer_idx=True)).save_pretrained(tmp_path)
    scales = [layer.attention.scale for layer in opened(tmp_path).engine.spec.layers]
    np.testing.assert_allclose(scales, [7**-0.5, 7**-0.5 / 2, 7**-0.5 / 3])


def test_without_prefix_and_with_stored_masks(tmp_path: Path) -> None:
    """As the first files on the hub: no `transformer.`, and a causal mask in every layer."""
    model = tiny(GPT2Config(**SIZES))
    model.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    tensors = {name.removeprefix("transformer."): array for name, array in load_file(path).items()}
    tensors |= {f"h.{layer}.attn.bias": np.tril(np.ones((1, 1, 23, 23), np.float32)) for layer in range(3)}
    tensors |= {f"h.{layer}.attn.masked_bias": np.array(-1e4, np.float32) for layer in range(3)}
    save_file(tensors, path)
    spec = assert_as_exact_as_hf(model, tmp_path).engine.spec
    assert "tensor names: 'transformer.' of the table is written 'nothing' here" in spec.notes


def test_beyond_the_learned_positions_is_refused(tmp_path: Path) -> None:
    tiny(GPT2Config(**SIZES)).save_pretrained(tmp_path)
    engine = opened(tmp_path).engine
    assert np.isfinite(engine.run((IDS * 2)[:23]).logits).all()
    with pytest.raises(PromptError, match="found 0 … 23"):
        engine.run(IDS * 2)


def test_cross_attention_is_refused(tmp_path: Path) -> None:
    tiny(GPT2Config(**SIZES, add_cross_attention=True)).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match="add_cross_attention = True"):
        opened(tmp_path)
