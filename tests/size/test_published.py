"""Sizes of models whose sizes are published, from their config.json; and of what transformers builds from the same."""

import json
import math
from copy import deepcopy
from pathlib import Path

import pytest

from tests.size.published import MODELS, QWEN2_5_72B
from whybox.size import cache, parameters, work
from whybox.size.load import Load
from whybox.size.outline import Outline
from whybox.size.source import Wish, find

TABLES = ("embed_tokens.weight", "word_embeddings.weight", "wte.weight", "wpe.weight", "lm_head.weight")
NAMES = pytest.mark.parametrize("name", MODELS)


@pytest.fixture
def sized(tmp_path: Path, name: str) -> Outline:
    return outline_of(tmp_path, name)


def outline_of(folder: Path, name: str, **changes: object) -> Outline:
    """Of the config.json of a published model."""
    (folder / "config.json").write_text(json.dumps(MODELS[name].config))
    return find(Wish(str(folder / "config.json"), changes)).outline


@NAMES
def test_parameters_and_cache_are_as_published(sized: Outline, name: str) -> None:
    model = MODELS[name]
    total, active = parameters.total(sized).value, parameters.active(sized).value
    assert total == model.parameters
    assert f"{total / 1e9:#.3g}".rstrip(".") == model.billions
    assert f"{active / 1e9:#.3g}".rstrip(".") == model.active
    assert cache.per_token(sized, Load(1)).value == model.token
    assert cache.per_request(sized, Load(1)).value == model.token


@NAMES
def test_transformers_builds_as_many(sized: Outline, name: str) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    left_out = ("auto_map", "quantization_config")
    config = deepcopy({key: value for key, value in MODELS[name].config.items() if key not in left_out})
    with torch.device("meta"):
        built = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config))
    theirs = sum(parameter.numel() for parameter in built.parameters())
    # V3 stores one correction a routed expert, which transformers holds as a buffer
    corrections = 58 * 256 if name == "DeepSeek-V3" else 0
    assert parameters.total(sized).value == theirs + corrections
    tables = sum(parameter.numel() for key, parameter in built.named_parameters() if key.endswith(TABLES))
    assert parameters.embedding(sized).value == tables


def test_llama_2_70b_at_4096(tmp_path: Path) -> None:
    """1.342 GB; the 10.7 GB that is often told would be 64 kv heads: no GQA at all."""
    of = outline_of(tmp_path, "Llama-2-70B")
    assert cache.per_request(of, Load(4096)).value == 1_342_177_280
    whole = outline_of(tmp_path, "Llama-2-70B", num_key_value_heads=64)
    assert cache.per_request(whole, Load(4096)).value == 10_737_418_240
    assert cache.as_mha(of, Load(4096)).value * 4096 == 10_737_418_240


def test_llama_3_8b_with_and_without_groups(tmp_path: Path) -> None:
    of = outline_of(tmp_path, "Llama-3.1-8B")
    assert cache.per_token(of, Load(1)).value == 131_072
    assert cache.as_mha(of, Load(1)).value == 524_288
    assert {block.attention.kind for block in of.blocks} == {"GQA"}
    query, key, value, out = of.blocks[0].matrices[:4]
    assert [(m.name, m.out, m.into) for m in (query, key, value, out)] == [
        ("query", 4096, 4096), ("key", 1024, 4096), ("value", 1024, 4096), ("out", 4096, 4096),
    ]  # fmt: skip


@pytest.mark.parametrize(("heads", "keys_and_values"), [(32, 33_554_432), (8, 8_388_608), (1, 1_048_576)])
def test_parameters_of_keys_and_values(heads: int, keys_and_values: int) -> None:
    """2 · g · d · c with c 4,096 and d 128."""
    numbers = {
        "hidden_size": 4096,
        "num_attention_heads": 32,
        "num_key_value_heads": heads,
        "num_hidden_layers": 1,
        "intermediate_size": 11008,
        "vocab_size": 32000,
        "max_position_embeddings": 4096,
    }
    block = find(Wish("llama", numbers)).outline.blocks[0]
    assert sum(m.parameters for m in block.matrices if m.name in ("key", "value")) == keys_and_values


@pytest.mark.parametrize(("width", "heads", "each"), [(512, 8, 262_144), (2048, 16, 4_194_304), (2048, 4, 4_194_304)])
def test_four_square_matrices_whatever_the_heads(width: int, heads: int, each: int) -> None:
    """4 · c²: 1,048,576 for c 512, 16,777,216 for c 2,048; two MLP forms of about the same size."""
    numbers = {"n_embd": width, "n_head": heads, "n_layer": 1, "n_positions": 64, "vocab_size": 100}
    block = find(Wish("gpt2", numbers)).outline.blocks[0]
    attention = [m.parameters for m in block.matrices if m.sublayer == "attention"]
    assert attention == [each] * 4
    assert sum(m.parameters for m in block.matrices if m.sublayer == "mlp") == 8 * width**2
    assert width != 512 or sum(m.parameters for m in block.matrices if m.sublayer == "mlp") == 2_097_152


def test_three_matrices_of_two_thirds_of_the_width_weigh_the_same() -> None:
    """f = ⅔ · 4c: 1,365.33 at c 512, so 1,365 gives 2,096,640; SmolLM2 has exactly 1,536 at 576 · 8/3."""
    numbers = {"hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 1, "intermediate_size": 1365}
    numbers |= {"vocab_size": 100, "max_position_embeddings": 64}
    block = find(Wish("llama", numbers)).outline.blocks[0]
    assert sum(m.parameters for m in block.matrices if m.sublayer == "mlp") == 2_096_640
    assert 8 * 576 / 3 == 1536


@pytest.mark.parametrize("heads", [1, 8])
def test_heads_leave_the_flops_of_attention_as_they_are(heads: int) -> None:
    """Full attention of n queries with n keys: 4 · n² · c, whatever h; scores are n² · h numbers."""
    n, c = 64, 512
    numbers = {"n_embd": c, "n_head": heads, "n_layer": 1, "n_positions": n, "vocab_size": 100}
    of = find(Wish("gpt2", numbers)).outline
    assert n * work.attention(of, Load(n)).value == 4 * n**2 * c
    assert work.pairs_of(of.blocks[0], n) == n * (n + 1) // 2
    assert of.heads == heads


@NAMES
def test_work_of_a_token_is_twice_what_it_passes(sized: Outline, name: str) -> None:
    """2 · (active − vectors − tables that are looked up), the head once; counted from the parameters."""
    vectors = sized.vectors + sum(block.vectors for block in sized.blocks)
    looked_up = (sized.positions + (0 if sized.tied else sized.vocab)) * sized.width
    active = parameters.active(sized).value
    assert work.matrices(sized).value == 2 * (active - vectors - looked_up)


def test_each_published_model_is_another_shape() -> None:
    assert len(MODELS) >= 12
    kinds = {model.config["model_type"] for model in MODELS.values()}
    assert len(kinds) >= 14
    assert math.isclose(72.7e9, MODELS["Qwen2.5-72B"].parameters, rel_tol=1e-3)
    assert QWEN2_5_72B["num_key_value_heads"] == 8
