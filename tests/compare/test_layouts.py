"""Blocks read by another layout: bytes by hand, and a file whose misreading is named from numbers alone."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gguf import GGMLQuantizationType
from transformers import LlamaConfig

from tests.gguf_writing import write_gguf
from tests.oracle import tiny
from whybox import families, weights
from whybox.compare.comparison import Asked, compare
from whybox.compare.layouts import roles_of
from whybox.compare.prompts import Text
from whybox.compare.recorded import Recorded, Recording
from whybox.compare.sides import Live
from whybox.engine.choice import NUMPY
from whybox.engine.reference import ReferenceEngine
from whybox.formats import GgufFile, open_gguf
from whybox.formats.blocks import GGUF_TYPES, decode
from whybox.model import Model
from whybox.testing.faults.layouts import LAYOUTS, NIBBLE_ORDER, NIBBLES_EXCHANGED, SCALE_PLACE, Layout, misread
from whybox.testing.vocabulary import tokenizer

Q4_1 = GGUF_TYPES[3]
IDS = (3, 17, 5, 2, 11, 23, 7, 5, 29, 1, 13, 19)


def block() -> np.ndarray:
    """d 1, m 2; byte i holds the values i mod 16 and 15 − i."""
    head = np.array([1.0, 2.0], np.float16).view(np.uint8)
    codes = np.arange(16, dtype=np.uint8)
    return np.concatenate([head, codes | (15 - codes) << 4]).astype(np.uint8)[None]


def values(blocks: np.ndarray) -> list[float]:
    return decode(blocks.reshape(-1), Q4_1, (32,)).tolist()


def test_one_block_by_hand() -> None:
    low, high = [2.0 + i for i in range(16)], [17.0 - i for i in range(16)]
    assert values(block()) == low + high
    assert values(NIBBLES_EXCHANGED.misread(block(), "Q4_1")) == high + low
    assert values(NIBBLE_ORDER.misread(block(), "Q4_1")) == [v for pair in zip(low, high, strict=True) for v in pair]
    assert values(SCALE_PLACE.misread(block(), "Q4_1")) == [2 * (v - 2) + 1 for v in low + high]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Model:
    folder: Path = tmp_path_factory.mktemp("llama")
    config = LlamaConfig(
        vocab_size=32, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=64, rms_norm_eps=1e-5,
    )  # fmt: skip
    tiny(config).save_pretrained(folder)
    file = open_gguf(write_gguf(folder, folder / "q4_1.gguf", GGMLQuantizationType.Q4_1))
    spec, rules = families.describe(file)
    loaded = weights.load(file, spec, rules)
    return Model("tiny", file, loaded, tokenizer(), ReferenceEngine(spec, loaded), NUMPY)


def other(model: Model, layout: Layout, *parts: str) -> Model:
    """The model, of which whatever fills a role with such a name is misread."""
    assert isinstance(model.file, GgufFile)
    roles = [role for role in roles_of(model, "Q4_1") if all(part in role for part in parts)]
    _, arrays = misread(model.file, layout, roles, "").changed(model.spec, model.weights)
    return replace(model, engine=ReferenceEngine(model.spec, arrays), weights=arrays)


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_a_misread_file_is_named_from_a_recording(model: Model, layout: Layout) -> None:
    seen = Live("theirs", other(model, layout, "layers.")).observe(IDS, len(IDS))
    found = compare(Live("ours", model), Recorded("a.npz", (Recording(seen),)), Asked(written=0))
    assert {each.fault.name for each in found.named} == {layout.name}
    assert found.verdict == "named"


def test_a_misread_file_is_no_other_model(model: Model) -> None:
    """Its weights correlate with nothing, and would be refused as those of another training."""
    asked = Asked((Text("ids", IDS, None),), 0)
    found = compare(Live("ours", model), Live("theirs", other(model, SCALE_PLACE)), asked)
    assert [rung.detail for rung in found.rungs if rung.check == "weights"] != []
    assert {each.fault.name for each in found.named} == {SCALE_PLACE.name}


def test_one_misread_tensor_is_named_with_its_layer(model: Model) -> None:
    seen = Live("theirs", other(model, NIBBLE_ORDER, "layers.1.up")).observe(IDS, len(IDS))
    found = compare(Live("ours", model), Recorded("a.npz", (Recording(seen),)), Asked(written=0))
    assert [(each.fault.what, each.layers) for each in found.named] == [(f"up, Q4_1: {NIBBLE_ORDER.what}", (1,))]
