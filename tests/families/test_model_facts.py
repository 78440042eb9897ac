"""What is true of the two real files, computed from their logical shapes: sizes, bits, work and memory per token."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

from tests.models import model_path
from tests.real import real
from whybox.formats.gguf import GgufFile, open_gguf
from whybox.weights import parameters

SMOLLM2 = pytest.param("smollm2", marks=pytest.mark.model)
GEMMA = pytest.param("gemma3-270m", marks=pytest.mark.gemma)
BOTH = pytest.mark.parametrize("name", [SMOLLM2, GEMMA])


@dataclass(frozen=True)
class Facts:
    """flops: 2 per multiply-add of the matrices, without attention. kv: bytes a token at 16 bit without a window."""

    parameters: int
    embedding: int
    without_embedding: int
    counted_twice: int
    bits: float
    flops: int
    kv: int
    kv_heads_times_width: int


FACTS = {
    "smollm2": Facts(134_515_008, 28_311_552, 106_203_456, 162_826_560, 5.744, 268_959_744, 23_040, 3 * 64),
    "gemma3-270m": Facts(268_098_176, 167_772_160, 100_326_016, 435_870_336, 7.358, 536_084_480, 18_432, 256),
}


def _file(name: str) -> GgufFile:
    return open_gguf(model_path(name))


def _sizes(shapes: Mapping[str, tuple[int, ...]]) -> dict[str, int]:
    return {role: int(np.prod(shape)) for role, shape in shapes.items()}


@BOTH
def test_unique_parameters(name: str) -> None:
    """Logical shapes, each stored array once: the tied head is the embedding, and block scales are no parameters."""
    facts, model = FACTS[name], real(name)
    sizes = _sizes(parameters(model.spec))
    assert sum(sizes.values()) == facts.parameters
    assert sum(int(np.prod(tensor.shape)) for tensor in _file(name).tensors.values()) == facts.parameters
    assert sum(array.size for array in model.weights.values()) == facts.parameters
    assert sizes["embed"] == facts.embedding
    assert facts.parameters - sizes["embed"] == facts.without_embedding
    assert "head" not in sizes
    assert facts.parameters + sizes["embed"] == facts.counted_twice


@BOTH
def test_bits_per_weight(name: str) -> None:
    stored = sum(nbytes for _, _, nbytes in _file(name).types())
    assert 8 * stored / FACTS[name].parameters == pytest.approx(FACTS[name].bits, abs=5e-4)


@BOTH
def test_work_of_the_matrices(name: str) -> None:
    """Every parameter but the gains is one multiply-add a token; Gemma spends 63 % of it in the head."""
    facts = FACTS[name]
    sizes = _sizes(parameters(real(name).spec))
    gains = sum(size for role, size in sizes.items() if role.endswith(".gain"))
    assert 2 * (facts.parameters - gains) == facts.flops
    assert 2 * facts.embedding / facts.flops == pytest.approx({"smollm2": 0.211, "gemma3-270m": 0.626}[name], abs=5e-4)


@BOTH
def test_work_and_memory_of_attention(name: str) -> None:
    """2 · (scores + mix) for each key in sight; 2 · kv heads · head width · bytes for each token kept."""
    attentions = [layer.attention for layer in real(name).spec.layers]
    for t in (1, 5, 511, 512, 513, 4096):
        seen = [t if a.window is None else min(t, a.window) for a in attentions]
        flops = sum(4 * a.heads * a.head_width * keys for a, keys in zip(attentions, seen, strict=True))
        assert flops == (69_120 * t if name == "smollm2" else 4096 * (3 * t + 15 * min(t, 512)))
        kept = sum(4 * a.kv_heads * a.head_width * keys for a, keys in zip(attentions, seen, strict=True))
        if name == "smollm2":
            assert kept == 23_040 * t
        elif t == 4096:
            assert kept == 20_447_232
            assert FACTS[name].kv * t == 75_497_472
    assert sum(4 * a.kv_heads * a.head_width for a in attentions) == FACTS[name].kv
    assert {a.kv_heads * a.head_width for a in attentions} == {FACTS[name].kv_heads_times_width}


@pytest.mark.model
def test_what_the_file_of_smollm2_states() -> None:
    """No head width and no head: both follow from what is there."""
    file = _file("smollm2")
    keys = file.metadata
    assert "llama.attention.key_length" not in keys
    assert keys["llama.rope.dimension_count"] == 64
    assert keys["llama.attention.layer_norm_rms_epsilon"] == pytest.approx(1e-5, rel=1e-6)
    assert "output.weight" not in file.tensors
    assert "tokenizer.chat_template" in keys


@pytest.mark.gemma
def test_what_the_file_of_gemma_states_and_leaves_out() -> None:
    file = _file("gemma3-270m")
    keys = file.metadata
    assert (keys["gemma3.attention.key_length"], keys["gemma3.embedding_length"]) == (256, 640)
    assert keys["gemma3.rope.freq_base"] == 1e6
    assert keys["gemma3.attention.sliding_window"] == 512
    assert keys["gemma3.attention.layer_norm_rms_epsilon"] == pytest.approx(1e-6, rel=1e-6)
    assert not [key for key in keys if "swa" in key or "pattern" in key]
    assert "output.weight" not in file.tensors
    assert "tokenizer.chat_template" not in keys
    assert len(file.tensors) == 236


@pytest.mark.model
def test_query_and_key_rows_leave_the_pair_order_of_the_file_and_nothing_else_does() -> None:
    """Within each head a0 b0 a1 b1 … becomes a0 a1 … b0 b1 …: 9 heads of queries, 3 of keys."""
    file, weights = _file("smollm2"), real("smollm2").weights
    for role, name, heads in (("query", "attn_q", 9), ("key", "attn_k", 3)):
        stored = file.read(f"blk.7.{name}.weight")
        found = weights[f"layers.7.{role}"]
        assert found.shape == (heads, 64, 576)
        np.testing.assert_array_equal(found[:, :32], stored.reshape(heads, 64, 576)[:, 0::2])
        np.testing.assert_array_equal(found[:, 32:], stored.reshape(heads, 64, 576)[:, 1::2])
    for role, name in (("value", "attn_v"), ("out", "attn_output")):
        stored = file.read(f"blk.7.{name}.weight")
        np.testing.assert_array_equal(weights[f"layers.7.{role}"].reshape(stored.shape), stored)
