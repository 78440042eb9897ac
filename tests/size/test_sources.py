"""From a name to an outline: files, folders, configurations, families with numbers; and each mistake in one message."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.families import hub_configs as hub
from tests.models import model_path
from tests.size import published
from whybox.errors import FormatError, ModelNotFound, UnsupportedError, UsageError, WhyboxError
from whybox.size import parameters
from whybox.size.source import Wish, changes_of, find
from whybox.weights import parameters as shapes_of

SMALL = {
    "model_type": "llama", "hidden_size": 24, "intermediate_size": 40, "max_position_embeddings": 64,
    "num_attention_heads": 6, "num_hidden_layers": 2, "num_key_value_heads": 2, "rms_norm_eps": 1e-5,
    "rope_theta": 1e4, "tie_word_embeddings": True, "vocab_size": 37,
}  # fmt: skip


def config(folder: Path, values: dict[str, object]) -> str:
    (folder / "config.json").write_text(json.dumps(values))
    return str(folder / "config.json")


def llama(folder: Path, extra: int = 0) -> Path:
    """A whole safetensors folder of the small Llama, in float16; extra: numbers beside its weights."""
    from whybox.families import describe
    from whybox.formats import Unweighted

    config(folder, SMALL)
    spec, rules = describe(Unweighted(folder, SMALL))
    assert rules
    tensors = {f"t{i}": np.zeros(shape, np.float16) for i, shape in enumerate(shapes_of(spec).values())}
    save_file(tensors | ({"more": np.zeros(extra, np.float32)} if extra else {}), folder / "model.safetensors")
    return folder


def test_a_folder_with_weights_gives_the_bytes_of_its_header(tmp_path: Path) -> None:
    found = find(Wish(str(llama(tmp_path))))
    total = parameters.total(found.outline).value
    assert (found.kind, found.nbytes) == ("safetensors", 2 * total)
    assert [(share.type, share.nbytes) for share in found.types] == [("F16", 2 * total)]
    assert found.outline.notes == find(Wish(config(tmp_path, SMALL))).outline.notes
    assert found.digest == "not read"
    assert len(find(Wish(str(tmp_path / "config.json"))).digest) == 64


def test_values_that_no_parameter_needs_are_said(tmp_path: Path) -> None:
    notes = find(Wish(str(llama(tmp_path, extra=5)))).outline.notes
    assert [note for note in notes if note.startswith("the tensors hold")] == [
        "the tensors hold 9,845 values, the configuration gives 9,840 parameters: both are shown"
    ]


def test_a_folder_with_a_configuration_alone(tmp_path: Path) -> None:
    config(tmp_path, SMALL)
    found = find(Wish(str(tmp_path)))
    assert (found.kind, found.types, found.nbytes) == ("config", (), 0)
    assert find(Wish(str(tmp_path / "config.json"))).outline == found.outline


@pytest.mark.model
def test_a_gguf_by_path() -> None:
    found = find(Wish(str(model_path("smollm2"))))
    assert (found.kind, found.outline.family, len(found.outline.blocks)) == ("gguf", "llama", 30)
    assert [(share.type, share.number) for share in found.types] == [("Q4_1", 210), ("Q8_0", 1), ("F32", 61)]


def test_a_family_with_numbers_is_its_configuration(tmp_path: Path) -> None:
    numbers = {key: value for key, value in SMALL.items() if key != "model_type"}
    found = find(Wish("llama", numbers))
    assert (found.kind, found.digest) == ("numbers", "")
    assert found.outline == find(Wish(config(tmp_path, SMALL))).outline
    gpt_3 = changes_of(["n_embd=12288", "n_layer=96", "n_head=96", "n_positions=2048", "vocab_size=50257"])
    assert parameters.total(find(Wish("gpt2", gpt_3)).outline).value == 174_604_259_328


def test_a_change_is_obeyed_and_said(tmp_path: Path) -> None:
    name = config(tmp_path, published.LLAMA_2_70B)
    changed = find(Wish(name, {"num_key_value_heads": 64})).outline
    assert {block.attention.kind for block in changed.blocks} == {"MHA"}
    assert "num_key_value_heads = 64 (given; not the file's)" in changed.notes


def test_the_text_part_of_a_model_that_also_sees(tmp_path: Path) -> None:
    both = {"model_type": "gemma3", "text_config": {**hub.GEMMA_3_1B}, "vision_config": {"hidden_size": 9}}
    found = find(Wish(config(tmp_path, both)))
    assert parameters.total(found.outline).value == 999_885_952
    assert any(note.startswith("text_config") for note in found.outline.notes)


def test_packed_weights_are_said(tmp_path: Path) -> None:
    notes = find(Wish(config(tmp_path, published.DEEPSEEK_V3))).outline.notes
    assert "quantization_config (fp8) is not read: bytes of weights follow --dtype" in notes
    assert any("predicts further tokens" in note for note in notes)


@pytest.mark.parametrize(
    ("words", "changes"),
    [
        (["a=8", "b=true", "c=null", "d=[1,2]", "e=silu"], {"a": 8, "b": True, "c": None, "d": [1, 2], "e": "silu"}),
        ([], {}),
    ],
)
def test_changes_as_they_are_typed(words: list[str], changes: dict[str, object]) -> None:
    assert changes_of(words) == changes


# Mistakes: what is wrong, and what to do

MISSING = {key: value for key, value in SMALL.items() if key != "num_hidden_layers"}


@pytest.mark.parametrize(
    ("values", "kind", "cause"),
    [
        (MISSING, FormatError, "num_hidden_layers: expected a value of type int, found nothing"),
        ({"hidden_size": 3}, FormatError, "model_type: expected the name of an architecture, found nothing"),
        (SMALL | {"model_type": "mamba"}, UnsupportedError, "architecture 'mamba' has no reader of sizes"),
        (SMALL | {"hidden_size": 25}, FormatError, "heads: expected a divisor of the width, 25, found 6"),
        (SMALL | {"num_key_value_heads": 4}, FormatError, "key/value heads: expected a divisor of 6 heads, found 4"),
        (SMALL | {"num_attention_heads": 0}, FormatError, "num_attention_heads: expected a whole number from 1"),
        (SMALL | {"hidden_size": -24}, FormatError, "hidden_size: expected a whole number from 1"),
        (SMALL | {"vocab_size": 10**12}, FormatError, "vocab_size: expected a whole number from 1"),
        (SMALL | {"num_hidden_layers": "two"}, FormatError, "num_hidden_layers: expected a value of type int"),
        (SMALL | {"new_key": 1}, UnsupportedError, "not understood: new_key = 1"),
        (published.FALCON_7B | {"num_attention_heads": 70}, FormatError, "heads: expected a divisor of the width"),
        (published.FALCON_40B | {"num_kv_heads": 7}, FormatError, "key/value heads: expected a divisor of 128 heads"),
        (published.DEEPSEEK_V3 | {"first_k_dense_replace": 99}, FormatError, "first_k_dense_replace: expected from 0"),
        (published.DEEPSEEK_V3 | {"num_experts_per_tok": 300}, FormatError, "num_experts_per_tok: expected a whole"),
        (published.DEEPSEEK_V3 | {"kv_lora_rank": 0}, FormatError, "kv_lora_rank: expected a whole number from 1"),
        (published.GPT_OSS_20B | {"layer_types": ["full_attention"]}, FormatError, "layer_types: expected 24 of"),
        (published.OLMOE_1B_7B | {"new_router": 1}, UnsupportedError, "not understood: new_router = 1"),
    ],
)  # fmt: skip
def test_configurations_that_cannot_be(
    values: dict[str, object], kind: type[WhyboxError], cause: str, tmp_path: Path
) -> None:
    with pytest.raises(kind) as caught:
        find(Wish(config(tmp_path, values)))
    assert cause in caught.value.cause
    assert "\n" not in caught.value.cause


def test_a_key_that_is_waved_through(tmp_path: Path) -> None:
    found = find(Wish(config(tmp_path, SMALL | {"new_key": 1}), accept=["new_key"]))
    assert "new_key = 1 was accepted without being obeyed" in found.outline.notes


def test_names_that_lead_nowhere(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match="holds neither weights nor a config"):
        find(Wish(str(tmp_path)))
    with pytest.raises(ModelNotFound, match="there is no file"):
        find(Wish(str(tmp_path / "absent.json")))
    with pytest.raises(ModelNotFound) as missing:
        find(Wish("llama3-70b"))
    assert "whybox size llama hidden_size=" in missing.value.remedy
    (tmp_path / "config.json").write_text("{not json")
    with pytest.raises(FormatError, match="JSON text"):
        find(Wish(str(tmp_path / "config.json")))


def test_a_family_without_numbers_says_how_to_give_them() -> None:
    with pytest.raises(UsageError) as caught:
        find(Wish("deepseek_v3"))
    assert caught.value.cause == "deepseek_v3: hidden_size is missing"
    assert caught.value.remedy == "give it as config.json spells it: hidden_size=…"
    with pytest.raises(UsageError, match="num_hidden_layers is missing"):
        find(Wish("deepseek_v3", {"hidden_size": 64}))
    with pytest.raises(UsageError, match="hidden_size: expected a whole number from 1"):
        find(Wish("deepseek_v3", {"hidden_size": -64}))


@pytest.mark.parametrize("word", ["heads", "=8", "a b=1"])
def test_words_that_change_nothing(word: str) -> None:
    with pytest.raises(UsageError, match="is not KEY=VALUE"):
        changes_of([word])


@pytest.mark.model
def test_a_file_with_weights_is_what_it_is() -> None:
    with pytest.raises(UsageError, match="KEY=VALUE changes a configuration"):
        find(Wish(str(model_path("smollm2")), {"num_key_value_heads": 9}))


def test_weights_that_cannot_be_decoded_still_have_a_configuration(tmp_path: Path) -> None:
    header = json.dumps({"w": {"dtype": "F8_E4M3", "shape": [2], "data_offsets": [0, 2]}}).encode()
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + b"\0\0")
    config(tmp_path, SMALL)
    found = find(Wish(str(tmp_path)))
    assert found.kind == "config"
    assert "tensor type F8_E4M3 is not implemented" in found.outline.notes[-1]
