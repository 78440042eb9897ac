"""GPT-NeoX, BLOOM, OPT and OLMo 2: layouts, ALiBi, offsets and norms that the Llama line does not have."""

from pathlib import Path

import numpy as np
import pytest
from transformers import BloomConfig, GPTNeoXConfig, Olmo2Config, OPTConfig

from tests.families.configs import edit_config
from tests.oracle import IDS, LONG, assert_as_exact_as_hf, assert_like_hf, opened, tiny
from whybox.errors import UnsupportedError
from whybox.spec import Layout

NEOX = {
    "vocab_size": 31,
    "hidden_size": 48,
    "intermediate_size": 37,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "max_position_embeddings": 64,
}
BLOOM = {"vocab_size": 31, "hidden_size": 21, "n_layer": 3, "n_head": 3}
OPT = {
    "vocab_size": 31,
    "hidden_size": 21,
    "ffn_dim": 37,
    "num_hidden_layers": 3,
    "num_attention_heads": 3,
    "max_position_embeddings": 40,
    "word_embed_proj_dim": 21,
}
OLMO2 = {
    "vocab_size": 31,
    "hidden_size": 48,
    "intermediate_size": 37,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}


GELU = 1e-9  # transformers writes √(2/π) with 8 digits in BLOOM's GELU


def _half(factor: float) -> dict[str, object]:
    return {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": factor}}


@pytest.mark.parametrize("parallel", [True, False])
@pytest.mark.parametrize(
    "variant",
    [{}, _half(0.5), _half(1.0), {"attention_bias": False}, {"hidden_act": "gelu_new", "tie_word_embeddings": True}],
    ids=str,
)
def test_gpt_neox(variant: dict[str, object], parallel: bool, tmp_path: Path) -> None:
    config = GPTNeoXConfig(**NEOX, **variant, use_parallel_residual=parallel)
    spec = assert_like_hf(tiny(config), tmp_path).engine.spec
    assert spec.layers[0].layout is (Layout.PARALLEL if parallel else Layout.PRE)


def test_gpt_neox_with_its_older_keys(tmp_path: Path) -> None:
    model = tiny(GPTNeoXConfig(**NEOX, **_half(0.5)))
    model.save_pretrained(tmp_path)
    edit_config(tmp_path, {"rotary_pct": 0.5, "rotary_emb_base": 10000}, remove=["rope_parameters"])
    assert_as_exact_as_hf(model, tmp_path)


@pytest.mark.parametrize("heads", [1, 3, 7])
def test_bloom(heads: int, tmp_path: Path) -> None:
    """Also heads that are no power of two, whose slopes come from two geometric rows."""
    assert_like_hf(tiny(BloomConfig(**(BLOOM | {"n_head": heads}))), tmp_path, LONG, GELU)


def test_bloom_untied(tmp_path: Path) -> None:
    config = BloomConfig(**BLOOM, tie_word_embeddings=False, layer_norm_epsilon=1e-2)
    assert_like_hf(tiny(config), tmp_path, IDS, GELU)


def test_bloom_older_keys(tmp_path: Path) -> None:
    model = tiny(BloomConfig(**BLOOM))
    model.save_pretrained(tmp_path)
    old = {"n_embed": 21, "num_attention_heads": 3, "seq_length": 99, "n_inner": None, "masked_softmax_fusion": True}
    edit_config(tmp_path, old, remove=["hidden_size", "n_head"])
    assert assert_as_exact_as_hf(model, tmp_path, IDS, GELU).engine.spec.context == 99


def test_bloom_residual_after_the_norm_is_refused(tmp_path: Path) -> None:
    tiny(BloomConfig(**BLOOM, apply_residual_connection_post_layernorm=True)).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match="apply_residual_connection_post_layernorm = True"):
        opened(tmp_path)


@pytest.mark.parametrize(
    "variant",
    [{}, {"enable_bias": False}, {"activation_function": "gelu"}, {"tie_word_embeddings": False}],
    ids=str,
)
def test_opt(variant: dict[str, object], tmp_path: Path) -> None:
    assert_like_hf(tiny(OPTConfig(**OPT, **variant)), tmp_path)


def test_opt_positions_start_at_row_two(tmp_path: Path) -> None:
    model = tiny(OPTConfig(**OPT))
    model.save_pretrained(tmp_path)
    engine = opened(tmp_path).engine
    shown = engine.run(IDS, see=["embed"])["embed", None]
    weights = model.model.decoder
    expected = weights.embed_tokens.weight[IDS[0]] + weights.embed_positions.weight[2]
    np.testing.assert_allclose(shown[0], expected.detach().numpy(), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"do_layer_norm_before": False}, "do_layer_norm_before = False"),
        ({"word_embed_proj_dim": 13}, "word_embed_proj_dim = 13"),
        ({"_remove_final_layer_norm": True}, "_remove_final_layer_norm = True"),
        ({"layer_norm_elementwise_affine": False}, "layer_norm_elementwise_affine = False"),
    ],
)
def test_opt_variants_that_are_refused(changes: dict[str, object], named: str, tmp_path: Path) -> None:
    tiny(OPTConfig(**(OPT | changes))).save_pretrained(tmp_path)
    with pytest.raises(UnsupportedError, match=named):
        opened(tmp_path)


@pytest.mark.parametrize("variant", [{}, {"attention_bias": True, "tie_word_embeddings": True}], ids=str)
def test_olmo2(variant: dict[str, object], tmp_path: Path) -> None:
    spec = assert_like_hf(tiny(Olmo2Config(**OLMO2, **variant)), tmp_path).engine.spec
    assert spec.layers[0].layout is Layout.INNER_POST
