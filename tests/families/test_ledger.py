"""Nothing is skipped: names, heads, shapes and keys that do not fit are shown by name, or refused with both sides."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from transformers import LlamaConfig, MixtralConfig

from tests.families.configs import edit_config
from tests.oracle import IDS, assert_as_exact_as_hf, opened, tiny
from whybox import families, weights
from whybox.errors import FormatError, LedgerError, UnsupportedError
from whybox.formats import open_weights

SIZES = {
    "vocab_size": 31,
    "hidden_size": 42,
    "intermediate_size": 37,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "max_position_embeddings": 64,
}
Names = Callable[[str], str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tiny(LlamaConfig(**SIZES)).save_pretrained(tmp_path)
    return tmp_path


def _rename(folder: Path, renamed: Names) -> None:
    path = folder / "model.safetensors"
    save_file({renamed(name): array for name, array in load_file(path).items()}, path)


def _change(folder: Path, changes: dict[str, np.ndarray], remove: tuple[str, ...] = ()) -> None:
    path = folder / "model.safetensors"
    tensors = load_file(path) | changes
    save_file({name: array for name, array in tensors.items() if name not in remove}, path)


@pytest.mark.parametrize(
    ("renamed", "note"),
    [
        (lambda name: name.removeprefix("model."), "'model.' of the table is written 'nothing' here"),
        (lambda name: f"language_model.{name}", "'nothing' of the table is written 'language_model.' here"),
        (
            lambda name: name.replace("model.", "model.language_model."),
            "'model.' of the table is written 'model.language_model.' here",
        ),
    ],
    ids=["removed", "outer", "inner"],
)
def test_known_prefixes_are_mapped_and_shown(renamed: Names, note: str, folder: Path) -> None:
    expected = opened(folder).engine.run(IDS).logits
    _rename(folder, renamed)
    engine = opened(folder).engine
    np.testing.assert_array_equal(engine.run(IDS).logits, expected)
    assert f"tensor names: {note}" in engine.spec.notes


def test_the_tables_own_names_say_nothing(folder: Path) -> None:
    assert not any("tensor names" in note for note in opened(folder).engine.spec.notes)


def test_unknown_prefix_is_refused_with_both_lists(folder: Path) -> None:
    _rename(folder, lambda name: f"my.{name}")
    with pytest.raises(LedgerError) as caught:
        opened(folder)
    assert "my.model.norm.weight" in caught.value.file_only
    assert "final_norm.gain" in caught.value.model_only


def test_one_tensor_renamed(folder: Path) -> None:
    _rename(folder, lambda name: name.replace("layers.1.mlp.up_proj", "layers.1.mlp.upp_proj"))
    with pytest.raises(LedgerError) as caught:
        opened(folder)
    assert caught.value.file_only == ["model.layers.1.mlp.upp_proj.weight"]
    assert caught.value.model_only == ["layers.1.up"]


@pytest.mark.parametrize("extra", ["model.layers.0.mlp.extra.weight", "model.layers.2.mlp.up_proj.weight", "scale"])
def test_one_tensor_more(extra: str, folder: Path) -> None:
    """Also a tensor of a layer that the configuration does not have."""
    _change(folder, {extra: np.ones((37, 42), np.float32)})
    with pytest.raises(LedgerError) as caught:
        opened(folder)
    assert caught.value.file_only == [extra]
    assert caught.value.model_only == []


def test_a_bias_that_the_configuration_does_not_announce(folder: Path) -> None:
    _change(folder, {"model.layers.0.self_attn.q_proj.bias": np.ones(60, np.float32)})
    with pytest.raises(LedgerError) as caught:
        opened(folder)
    assert caught.value.file_only == ["layers.0.query_bias"]


@pytest.mark.parametrize(
    ("name", "shape", "role"),
    [
        ("model.layers.1.mlp.up_proj.weight", (42, 37), r"layers.1.up \(37, 42\)"),
        ("model.layers.1.mlp.up_proj.weight", (37, 41), r"layers.1.up \(37, 42\)"),
        ("model.layers.0.self_attn.q_proj.weight", (20, 42), r"layers.0.query \(6, 10, 42\)"),
        ("model.layers.0.self_attn.o_proj.weight", (42,), r"layers.0.out \(42, 6, 10\)"),
        ("model.embed_tokens.weight", (29, 42), r"embed \(31, 42\)"),
        ("model.norm.weight", (1, 42), r"final_norm.gain \(42,\)"),
    ],
)
def test_another_shape(name: str, shape: tuple[int, ...], role: str, folder: Path) -> None:
    """Refused also where the number of values is right, as in a transposed matrix."""
    _change(folder, {name: np.ones(shape, np.float32)})
    with pytest.raises(FormatError, match=rf"{name}: expected the shape of {role}, found shape") as caught:
        opened(folder)
    assert str(shape) in str(caught.value)


def test_an_expert_too_many(tmp_path: Path) -> None:
    config = {key: value for key, value in SIZES.items() if key != "head_dim"} | {"hidden_size": 60}
    tiny(MixtralConfig(**config, num_local_experts=3)).save_pretrained(tmp_path)
    edit_config(tmp_path, {"num_local_experts": 2})
    with pytest.raises((LedgerError, FormatError)):
        opened(tmp_path)


# The head: shared, kept, or refused; never random


def test_tied_without_a_head_is_shared(tmp_path: Path) -> None:
    tiny(LlamaConfig(**SIZES, tie_word_embeddings=True)).save_pretrained(tmp_path)
    assert "lm_head.weight" not in load_file(tmp_path / "model.safetensors")
    first, second = opened(tmp_path).engine, opened(tmp_path).engine
    assert first.spec.tied
    np.testing.assert_array_equal(first.run(IDS).logits, second.run(IDS).logits)


def test_tied_with_another_head_keeps_it_and_says_so(folder: Path) -> None:
    expected = opened(folder).engine.run(IDS).logits
    edit_config(folder, {"tie_word_embeddings": True})
    engine = opened(folder).engine
    np.testing.assert_array_equal(engine.run(IDS).logits, expected)
    assert any("lm_head.weight differs from model.embed_tokens.weight" in note for note in engine.spec.notes)


def test_tied_with_a_copy_counts_it_once(tmp_path: Path) -> None:
    model = tiny(LlamaConfig(**SIZES, tie_word_embeddings=True))
    model.save_pretrained(tmp_path)
    embedding = load_file(tmp_path / "model.safetensors")["model.embed_tokens.weight"]
    _change(tmp_path, {"lm_head.weight": embedding})
    engine = assert_as_exact_as_hf(model, tmp_path).engine
    assert engine.spec.tied
    assert "head" not in engine.weights
    assert ("lm_head.weight", "a copy of the tied embedding", ()) in engine.weights.ledger
    assert "lm_head.weight is stored although tied; it equals model.embed_tokens.weight" in engine.spec.notes


def test_untied_without_a_head_is_refused(folder: Path) -> None:
    _change(folder, {}, remove=("lm_head.weight",))
    with pytest.raises(LedgerError) as caught:
        opened(folder)
    assert caught.value.model_only == ["head"]


# The ledger itself


def test_every_tensor_and_every_parameter_once(folder: Path) -> None:
    loaded = opened(folder).engine.weights
    names = [name for name, _, _ in loaded.ledger]
    roles = [role for _, _, filled in loaded.ledger for role in filled]
    assert sorted(names) == sorted(load_file(folder / "model.safetensors"))
    assert sorted(roles) == sorted(loaded)
    assert len(set(roles)) == len(roles)
    assert ("model.layers.0.self_attn.q_proj.weight", "query_heads", ("layers.0.query",)) in loaded.ledger


def test_parameters_are_read_only(folder: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        opened(folder).engine.weights["layers.0.up"][0, 0] = 1


# Configuration keys


def test_an_unknown_key_is_refused_by_name(folder: Path) -> None:
    edit_config(folder, {"score_bias": 0.5})
    with pytest.raises(UnsupportedError, match=r"score_bias = 0\.5") as caught:
        opened(folder)
    assert "--accept-key score_bias" in str(caught.value.remedy)


def test_an_accepted_key_is_said(folder: Path) -> None:
    edit_config(folder, {"score_bias": 0.5})
    spec, _ = families.describe(open_weights(folder), accept=["score_bias"])
    assert "score_bias = 0.5 was accepted without being obeyed" in spec.notes


def test_an_accepted_setting_is_said(folder: Path) -> None:
    """Also a key that is known, with a value that is not implemented."""
    edit_config(folder, {"hidden_act": "gelu"})
    spec, _ = families.describe(open_weights(folder), accept=["hidden_act"])
    assert "hidden_act = 'gelu' was accepted without being obeyed" in spec.notes


def test_an_unknown_key_inside_the_rotary_settings(folder: Path) -> None:
    edit_config(folder, {"rope_parameters": {"rope_type": "default", "rope_theta": 1e4, "twist": 2}})
    with pytest.raises(UnsupportedError, match="twist = 2"):
        opened(folder)


def test_an_unknown_rotary_kind(folder: Path) -> None:
    edit_config(folder, {"rope_parameters": {"rope_type": "spiral", "rope_theta": 1e4}})
    with pytest.raises(UnsupportedError, match="rope_type 'spiral' is not implemented"):
        opened(folder)


def test_an_odd_rotary_width(folder: Path) -> None:
    edit_config(folder, {"partial_rotary_factor": 0.5})
    with pytest.raises(FormatError, match="rotary width: expected an even number of dimensions, found 5"):
        opened(folder)


def test_a_missing_key(folder: Path) -> None:
    edit_config(folder, remove=["intermediate_size"])
    with pytest.raises(FormatError, match="intermediate_size: expected a value of type int, found nothing"):
        opened(folder)


def test_a_key_of_another_type(folder: Path) -> None:
    edit_config(folder, {"num_hidden_layers": "two"})
    with pytest.raises(FormatError, match="num_hidden_layers: expected a value of type int, found 'two'"):
        opened(folder)


def test_a_default_that_was_filled_in_is_a_note(folder: Path) -> None:
    edit_config(folder, remove=["rms_norm_eps", "attention_bias", "tie_word_embeddings"])
    notes = opened(folder).engine.spec.notes
    for line in ("rms_norm_eps = 1e-06", "attention_bias = False", "tie_word_embeddings = False"):
        assert f"{line} (not in the file; the family's default)" in notes


def test_another_activation_is_refused(folder: Path) -> None:
    edit_config(folder, {"hidden_act": "gelu"})
    with pytest.raises(UnsupportedError, match="hidden_act = 'gelu' is not implemented"):
        opened(folder)


@pytest.mark.parametrize("name", ["falcon", "gemma3", "nothing"])
def test_other_architectures_are_refused_by_name(name: str, folder: Path) -> None:
    edit_config(folder, {"model_type": name})
    with pytest.raises(UnsupportedError, match=f"architecture '{name}' is not supported") as caught:
        opened(folder)
    supported = [family.name for family in families.FAMILIES]
    assert caught.value.remedy == f"supported: {', '.join(supported)}"
    assert len(supported) == len(set(supported)) == 15


def test_a_key_that_a_family_reads_is_never_skipped(folder: Path) -> None:
    """Each key of a saved configuration is used or known to be irrelevant: taking one as unknown refuses the file."""
    known = json.loads((folder / "config.json").read_text())
    for key in known:
        if key == "model_type":
            continue
        edit_config(folder, {f"{key}_2": known[key]})
        with pytest.raises(UnsupportedError, match=f"{key}_2"):
            opened(folder)
        edit_config(folder, remove=[f"{key}_2"])


def test_loading_twice_gives_the_same_arrays(folder: Path) -> None:
    file = open_weights(folder)
    spec, rules = families.describe(file)
    first, second = weights.load(file, spec, rules), weights.load(file, spec, rules)
    assert all(np.array_equal(first[role], second[role]) for role in first)
