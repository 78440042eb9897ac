"""Mixtral: experts as files name them one by one, and as transformers 5 stacks them in memory."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from transformers import MixtralConfig

from tests.oracle import IDS, LONG, assert_like_hf, opened, tiny

SIZES = {
    "vocab_size": 31,
    "hidden_size": 60,
    "intermediate_size": 17,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "num_local_experts": 5,
}


@pytest.mark.parametrize(
    "variant",
    [{}, {"sliding_window": 5, "head_dim": 10}, {"num_experts_per_tok": 1}, {"num_experts_per_tok": 5}],
    ids=str,
)
def test_like_transformers(variant: dict[str, object], tmp_path: Path) -> None:
    assert_like_hf(tiny(MixtralConfig(**SIZES, **variant)), tmp_path, LONG)


def test_stacked_experts(tmp_path: Path) -> None:
    """The same weights, all experts of a layer in one tensor: bit-equal logits."""
    model = tiny(MixtralConfig(**SIZES))
    model.save_pretrained(tmp_path)
    expected = opened(tmp_path).engine.run(IDS).logits
    path = tmp_path / "model.safetensors"
    tensors = {name: array for name, array in load_file(path).items() if "block_sparse_moe" not in name}
    for name, parameter in model.named_parameters():
        if ".mlp." in name:
            tensors[name] = parameter.detach().numpy()
    assert any(name.endswith("experts.gate_up_proj") for name in tensors)
    save_file(tensors, path)
    np.testing.assert_array_equal(opened(tmp_path).engine.run(IDS).logits, expected)


def test_router_decides(tmp_path: Path) -> None:
    """Two experts per token hold something after the gate, the others nothing."""
    tiny(MixtralConfig(**SIZES)).save_pretrained(tmp_path)
    trace = opened(tmp_path).engine.run(IDS, see=["router", "mlp_hidden"])
    for layer in range(2):
        busy = trace["mlp_hidden", layer].any(axis=-1)
        best = np.argsort(-trace["router", layer], axis=-1)[:, :2]
        assert (busy.sum(axis=-1) == 2).all()
        assert np.take_along_axis(busy, best, axis=-1).all()
