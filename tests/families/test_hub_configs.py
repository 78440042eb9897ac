"""Well-known models' configurations are understood to the last key, and give the known parameter counts."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.families import hub_configs as hub
from whybox import families
from whybox.formats import open_weights
from whybox.spec import Activation, Llama3Rope, LongRope, Moe, PlainRope, Spec
from whybox.weights import parameters

PARAMETERS = {
    "LLAMA_3_1_8B": 8_030_261_248,
    "SMOLLM2_135M": 134_515_008,
    "MISTRAL_7B": 7_241_732_096,
    "MIXTRAL_8X7B": 46_702_792_704,
    "QWEN2_5_0_5B": 494_032_768,
    "QWEN3_0_6B": 596_049_920,
    "QWEN3_30B_A3B": 30_532_122_624,
    "GEMMA_2B": 2_506_172_416,
    "GEMMA_2_2B": 2_614_341_888,
    "GEMMA_3_1B": 999_885_952,
    "PHI_3_5_MINI": 3_821_079_552,
    "PHI_4_MINI": 3_836_021_760,
    "OLMO_2_1B": 1_484_916_736,
    "GPT2": 124_439_808,
    "PYTHIA_160M": 162_322_944,
    "BLOOM_560M": 559_214_592,
    "OPT_125M": 125_239_296,
}


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_key_is_understood(name: str, tmp_path: Path) -> None:
    spec = _spec(name, tmp_path)
    assert sum(int(np.prod(shape)) for shape in parameters(spec).values()) == PARAMETERS[name]


def _spec(name: str, folder: Path) -> Spec:
    """Of the configuration alone: the folder's weights are one number."""
    (folder / "config.json").write_text(json.dumps(getattr(hub, name)))
    save_file({"nothing": np.zeros(1, np.float32)}, folder / "model.safetensors")
    spec, _ = families.describe(open_weights(folder))
    return spec


def test_settings_that_only_some_have(tmp_path: Path) -> None:
    assert _spec("LLAMA_3_1_8B", tmp_path).layers[0].attention.rope == Llama3Rope(
        PlainRope(5e5, 128), 8.0, 1.0, 4.0, 8192
    )
    assert _spec("MISTRAL_7B", tmp_path).layers[31].attention.window == 4096
    assert _spec("QWEN2_5_0_5B", tmp_path).layers[23].attention.window is None
    assert _spec("QWEN3_30B_A3B", tmp_path).layers[47].mlp == Moe(128, 8, 768, Activation.SILU, normalise=True)
    assert _spec("PYTHIA_160M", tmp_path).layers[0].attention.rope == PlainRope(1e4, 16)
    assert _spec("BLOOM_560M", tmp_path).context == 2048


def test_phi4_turns_three_quarters_of_the_head(tmp_path: Path) -> None:
    rope = _spec("PHI_4_MINI", tmp_path).layers[0].attention.rope
    assert isinstance(rope, LongRope)
    assert rope.plain.width == 96
    assert rope.magnitude == pytest.approx((1 + np.log(32) / np.log(4096)) ** 0.5, rel=1e-12)


def test_windows_of_the_gemmas(tmp_path: Path) -> None:
    two, three = _spec("GEMMA_2_2B", tmp_path), _spec("GEMMA_3_1B", tmp_path)
    assert [layer.attention.window for layer in two.layers[:4]] == [4096, None, 4096, None]
    assert [layer.attention.window for layer in three.layers[:7]] == [512] * 5 + [None, 512]
    assert (two.logit_cap, two.layers[0].attention.cap, three.logit_cap) == (30.0, 50.0, None)
