"""GGUF and safetensors of one model are one model: the same roles, and the logits of transformers."""

from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType, GGUFWriter
from transformers import (
    Gemma2Config,
    Gemma3TextConfig,
    GPT2Config,
    LlamaConfig,
    MistralConfig,
    MixtralConfig,
    Phi3Config,
    PretrainedConfig,
    Qwen2Config,
    Qwen3Config,
)

from tests.gguf_writing import permuted, round_weights, write_gguf
from tests.oracle import LONG, assert_as_exact_as_hf, opened, tiny
from whybox.errors import UnsupportedError
from whybox.families.transforms import query_heads_from_pairs
from whybox.spec import Activation, Attention, DividedRope, Layer, Layout, LongRope, Mlp, Moe, Norm, NormKind

SIZES = {
    "vocab_size": 31,
    "hidden_size": 64,
    "intermediate_size": 96,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
WIDE = SIZES | {"head_dim": 32}
LLAMA3 = {
    "rope_type": "llama3",
    "rope_theta": 1e4,
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 16,
}
LONGROPE = {
    "rope_type": "longrope",
    "rope_theta": 1e4,
    "short_factor": [1.0, 1.25, 1.5, 1.75],
    "long_factor": [1.5, 2.5, 7.0, 31.0],
}
SCALED = {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0}
YARN = {"rope_type": "yarn", "rope_theta": 1e4, "factor": 4.0, "original_max_position_embeddings": 16}
PHI3 = SIZES | {"num_attention_heads": 8, "pad_token_id": 0}

MODELS: dict[str, PretrainedConfig] = {
    "llama": LlamaConfig(**WIDE),
    "llama tied": LlamaConfig(**WIDE, tie_word_embeddings=True),
    "llama 3.1": LlamaConfig(**WIDE, rope_parameters=LLAMA3),
    "llama linear": LlamaConfig(**WIDE, rope_parameters=SCALED),
    "mistral": MistralConfig(**WIDE, sliding_window=None),
    "mixtral": MixtralConfig(**WIDE, num_local_experts=5),
    "qwen2": Qwen2Config(**SIZES),
    "qwen2 yarn": Qwen2Config(**SIZES, rope_parameters=YARN),
    "qwen3": Qwen3Config(**WIDE),
    "gemma2": Gemma2Config(**WIDE, sliding_window=5, query_pre_attn_scalar=32),
    "gemma3": Gemma3TextConfig(**(WIDE | {"num_hidden_layers": 7}), sliding_window=5, query_pre_attn_scalar=32),
    "gemma3 scaled": Gemma3TextConfig(
        **(WIDE | {"num_hidden_layers": 7}),
        sliding_window=5,
        query_pre_attn_scalar=32,
        rope_parameters={
            "full_attention": SCALED,
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
        },
    ),
    "gpt2": GPT2Config(vocab_size=31, n_positions=40, n_embd=64, n_layer=2, n_head=2),
    "phi3": Phi3Config(**PHI3, sliding_window=5),
    "phi3 long": Phi3Config(**PHI3, original_max_position_embeddings=20, rope_parameters=LONGROPE),
}


@pytest.mark.parametrize("kind", [GGMLQuantizationType.F32, GGMLQuantizationType.Q8_0], ids=lambda kind: kind.name)
@pytest.mark.parametrize("name", MODELS)
def test_like_transformers_and_like_the_folder(name: str, kind: GGMLQuantizationType, tmp_path: Path) -> None:
    model = tiny(MODELS[name])
    round_weights(model, kind)
    model.save_pretrained(tmp_path / "folder")
    path = write_gguf(tmp_path / "folder", tmp_path / "model.gguf", kind)
    mine = assert_as_exact_as_hf(model, path, LONG, stored=1e-7).engine
    folder = opened(tmp_path / "folder").engine
    assert set(mine.weights) == set(folder.weights)
    for role, array in folder.weights.items():
        np.testing.assert_array_equal(mine.weights[role], array, err_msg=role)


def test_rows_in_pairs() -> None:
    """One head of width 4: a0 b0 a1 b1 becomes a0 a1 b0 b1."""
    layer = Layer(
        Attention(heads=1, kv_heads=1, head_width=4, scale=0.5),
        Mlp(3, Activation.SILU, gated=True),
        Layout.PRE,
        Norm(NormKind.RMS, 1e-5),
    )
    stored = np.array([[0.0], [10.0], [1.0], [11.0]])
    (rows,) = query_heads_from_pairs(stored, layer)
    np.testing.assert_array_equal(rows.ravel(), [0, 1, 10, 11])


def test_pairs_left_as_stored_break_every_later_position(tmp_path: Path) -> None:
    """The fault: position 0 is right, the others are not. It proves that the comparison above can fail."""
    model = tiny(MODELS["llama"])
    for layer in model.model.layers:
        for projection, heads in ((layer.self_attn.q_proj, 4), (layer.self_attn.k_proj, 2)):
            rows = permuted(projection.weight.detach().numpy(), heads)
            projection.weight.data.copy_(projection.weight.new_tensor(rows))
    model.save_pretrained(tmp_path)
    faulty = opened(tmp_path).engine.run(LONG).logits
    right = tiny(MODELS["llama"])
    right.save_pretrained(tmp_path)
    error = np.abs(faulty - opened(tmp_path).engine.run(LONG).logits).max(axis=1)
    assert error[0] < 1e-5
    assert error[1:].min() > 1e-3


def test_experts_of_a_llama_file_are_a_mixture(tmp_path: Path) -> None:
    spec = _spec("mixtral", tmp_path)
    assert spec.layers[0].mlp == Moe(5, 2, 96, Activation.SILU, normalise=True)
    assert any("divided by their sum" in note for note in spec.notes)


def test_experts_one_by_one_as_older_files_have_them(tmp_path: Path) -> None:
    """`blk.0.ffn_gate.3.weight` in place of `blk.0.ffn_gate_exps.weight`: bit-equal logits."""

    def apart(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        out = {name: array for name, array in tensors.items() if "_exps" not in name}
        for name in tensors.keys() - out.keys():
            out |= {name.replace("_exps", f".{e}"): array for e, array in enumerate(tensors[name])}
        return out

    tiny(MODELS["mixtral"]).save_pretrained(tmp_path)
    stacked = opened(write_gguf(tmp_path, tmp_path / "stacked.gguf")).engine
    single = opened(write_gguf(tmp_path, tmp_path / "single.gguf", change=apart)).engine
    assert any(".ffn_gate.3." in name for name, _, _ in single.weights.ledger)
    np.testing.assert_array_equal(single.run(LONG).logits, stacked.run(LONG).logits)


def test_gpt2_with_a_copy_of_its_embedding(tmp_path: Path) -> None:
    """Older converters wrote the tied head too: it is left unused, and said."""
    model = tiny(MODELS["gpt2"])
    model.save_pretrained(tmp_path)

    def copied(tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        return tensors | {"output.weight": tensors["token_embd.weight"]}

    engine = assert_as_exact_as_hf(
        model, write_gguf(tmp_path, tmp_path / "model.gguf", change=copied), LONG, stored=1e-7
    ).engine
    assert engine.spec.tied
    assert "output.weight is stored although tied; it equals token_embd.weight" in engine.spec.notes


def test_what_gemma_files_do_not_state_is_printed(tmp_path: Path) -> None:
    spec = _spec("gemma3", tmp_path)
    assert [layer.attention.window for layer in spec.layers] == [5, 5, 5, 5, 5, None, 5]
    assert [layer.attention.rope.base for layer in spec.layers] == [1e4] * 5 + [1e6, 1e4]
    said = "\n".join(spec.notes)
    for line in ("rope.freq_base_swa = 10000", "layers 5, 11, 17", "query_pre_attn_scalar = 32"):
        assert line in said


def test_rotary_tensors_reach_the_spec(tmp_path: Path) -> None:
    assert isinstance(_spec("llama 3.1", tmp_path).layers[0].attention.rope, DividedRope)
    rope = _spec("phi3 long", tmp_path).layers[0].attention.rope
    assert isinstance(rope, LongRope)
    assert (rope.short, rope.long, rope.original) == ((1.0, 1.25, 1.5, 1.75), (1.5, 2.5, 7.0, 31.0), 20)


def test_other_architectures_are_refused_by_name(tmp_path: Path) -> None:
    writer = GGUFWriter(tmp_path / "model.gguf", "falcon")
    writer.add_tensor("token_embd.weight", np.ones((31, 64), np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    with pytest.raises(UnsupportedError, match="architecture 'falcon' is not supported") as caught:
        opened(tmp_path / "model.gguf")
    assert caught.value.remedy == "supported: llama, qwen2, qwen3, gemma2, gemma3, phi3, gpt2"


def _spec(name: str, path: Path):
    tiny(MODELS[name]).save_pretrained(path / name)
    return opened(write_gguf(path / name, path / f"{name}.gguf")).engine.spec
