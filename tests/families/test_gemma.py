"""Gemma 1, 2 and 3: the gain 1 + w, √c, the tanh GELU, caps, windows, two RoPEs."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from transformers import Gemma2Config, Gemma3TextConfig, GemmaConfig

from tests.families.configs import edit_config
from tests.oracle import LONG, Opened, assert_as_exact_as_hf, assert_like_hf, opened, tiny
from whybox.errors import UnsupportedError
from whybox.spec import Activation, LinearRope, Mlp, PlainRope

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
SEVEN = SIZES | {"num_hidden_layers": 7, "num_attention_heads": 3, "num_key_value_heads": 1}
SCALED = {"rope_type": "linear", "rope_theta": 1e6, "factor": 8.0}
LOCAL = {"rope_type": "default", "rope_theta": 1e4}


@pytest.mark.parametrize("variant", [{}, {"attention_bias": True}, {"rms_norm_eps": 1e-2}], ids=str)
def test_gemma_like_transformers(variant: dict[str, object], tmp_path: Path) -> None:
    assert_like_hf(tiny(GemmaConfig(**SIZES, **variant)), tmp_path)


@pytest.mark.parametrize(
    "variant",
    [
        {"sliding_window": 5, "query_pre_attn_scalar": 19},
        {"sliding_window": 5, "attn_logit_softcapping": None, "final_logit_softcapping": None},
        {"sliding_window": 5, "attn_logit_softcapping": 0.7, "final_logit_softcapping": 3.0},
        {"sliding_window": 7, "layer_types": ["full_attention", "sliding_attention", "sliding_attention"]},
        {"attention_bias": True},
    ],
    ids=str,
)
def test_gemma2_like_transformers(variant: dict[str, object], tmp_path: Path) -> None:
    assert_like_hf(tiny(Gemma2Config(**SIZES, **variant)), tmp_path, LONG)


@pytest.mark.parametrize(
    "variant",
    [
        {"sliding_window": 5, "query_pre_attn_scalar": 19},
        {"sliding_window": 5, "final_logit_softcapping": 3.0, "attention_bias": True},
        {"sliding_window": 5, "rope_parameters": {"full_attention": SCALED, "sliding_attention": LOCAL}},
    ],
    ids=str,
)
def test_gemma3_like_transformers(variant: dict[str, object], tmp_path: Path) -> None:
    spec = assert_like_hf(tiny(Gemma3TextConfig(**SEVEN, **variant)), tmp_path, LONG).engine.spec
    assert [layer.attention.window for layer in spec.layers] == [5, 5, 5, 5, 5, None, 5]


def test_gemma3_as_the_hub_writes_it(tmp_path: Path) -> None:
    """Older keys: the scaling is the global layers' alone, the pattern is a number."""
    ropes = {"full_attention": SCALED, "sliding_attention": LOCAL}
    types = ["full_attention" if layer % 3 == 2 else "sliding_attention" for layer in range(7)]
    model = tiny(Gemma3TextConfig(**SEVEN, sliding_window=5, layer_types=types, rope_parameters=ropes))
    model.save_pretrained(tmp_path)
    old = {
        "rope_theta": 1e6,
        "rope_local_base_freq": 1e4,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
        "sliding_window_pattern": 3,
        "cache_implementation": "hybrid",
    }
    edit_config(tmp_path, old, remove=["rope_parameters", "layer_types", "_sliding_window_pattern"])
    spec = assert_as_exact_as_hf(model, tmp_path, LONG).engine.spec
    near, far = spec.layers[0].attention, spec.layers[2].attention
    assert near.rope == PlainRope(1e4, 10)
    assert far.rope == LinearRope(PlainRope(1e6, 10), 8.0)
    assert any("layers 2, 5 … global" in note for note in spec.notes)


def test_stored_zero_is_gain_one(tmp_path: Path) -> None:
    model = tiny(GemmaConfig(**SIZES))
    model.save_pretrained(tmp_path)
    path = tmp_path / "model.safetensors"
    save_file(load_file(path) | {"model.norm.weight": np.zeros(42, np.float32)}, path)
    np.testing.assert_array_equal(opened(tmp_path).engine.weights["final_norm.gain"], np.ones(42))


@pytest.mark.parametrize(("config", "key"), [(GemmaConfig, "hidden_act"), (Gemma2Config, "hidden_activation")])
def test_gelu_of_an_old_config_means_the_tanh_form(config: type, key: str, tmp_path: Path) -> None:
    model = tiny(config(**SIZES))
    model.save_pretrained(tmp_path)
    edit_config(tmp_path, {key: "gelu"})
    spec = assert_as_exact_as_hf(model, tmp_path).engine.spec
    assert _mlp(spec).activation is Activation.GELU_TANH
    assert 'activation: "gelu" in the file, the tanh form is meant and used' in spec.notes


def _mlp(spec) -> Mlp:
    mlp = spec.layers[0].mlp
    assert isinstance(mlp, Mlp)
    return mlp


def test_another_activation_is_refused(tmp_path: Path) -> None:
    tiny(Gemma2Config(**SIZES)).save_pretrained(tmp_path)
    edit_config(tmp_path, {"hidden_activation": "silu"})
    with pytest.raises(UnsupportedError, match="hidden_activation = 'silu' is not implemented"):
        opened(tmp_path)


def test_embedding_scale_is_the_root_of_the_width(tmp_path: Path) -> None:
    assert _tiny_gemma(tmp_path).engine.spec.embed_scale == pytest.approx(42**0.5, rel=1e-12)


def _tiny_gemma(path: Path) -> Opened:
    tiny(GemmaConfig(**SIZES)).save_pretrained(path)
    return opened(path)


def test_both_directions_are_refused(tmp_path: Path) -> None:
    _tiny_gemma(tmp_path)
    edit_config(tmp_path, {"use_bidirectional_attention": True})
    with pytest.raises(UnsupportedError, match="use_bidirectional_attention = True"):
        opened(tmp_path)


def test_caps_bend_scores_before_the_mask(tmp_path: Path) -> None:
    """cap · tanh(s / cap): 10 → 9.869, 100 → 48.20, 200 → 49.97 at 50; scores near 100 really occur here."""
    scores = {}
    for cap in (50.0, None):
        folder = tmp_path / str(cap)
        model = tiny(Gemma2Config(**SIZES, attn_logit_softcapping=cap, query_pre_attn_scalar=1))
        for layer in model.model.layers:
            layer.self_attn.q_proj.weight.data *= 20
        model.save_pretrained(folder)
        scores[cap] = assert_as_exact_as_hf(model, folder).engine64.run(LONG, see=["scores"])["scores", 0]
    assert np.abs(scores[None]).max() > 100
    np.testing.assert_allclose(scores[50.0], 50 * np.tanh(scores[None] / 50), rtol=1e-9, atol=1e-9)
