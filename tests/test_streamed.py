"""Weights that are decoded as they are used: chosen by the room there is, said, and equal to those that are held."""

import os
from pathlib import Path

import numpy as np
import pytest
from transformers import LlamaConfig, MixtralConfig

from tests import warm
from tests.models import model_path
from tests.oracle import tiny
from tests.real import real
from whybox import families, weights
from whybox.engine import machine
from whybox.engine.choice import HELD_SHARE
from whybox.engine.reference import ReferenceEngine
from whybox.errors import CapacityError, FormatError, UsageError
from whybox.formats import SafetensorsFile, open_weights
from whybox.model import open_model
from whybox.weights import Streamed

SIZES = {
    "vocab_size": 31, "hidden_size": 42, "intermediate_size": 37, "num_hidden_layers": 2, "num_attention_heads": 6,
    "num_key_value_heads": 2, "head_dim": 10, "max_position_embeddings": 64,
}  # fmt: skip
CAPITAL = (504, 3575, 282, 4649, 314)  # The capital of France is
FP32_BYTES = 538_060_032  # of smollm2


@pytest.fixture
def path() -> str:
    return str(model_path("smollm2"))


def _left(nbytes: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "available", lambda: nbytes)


@pytest.mark.model
def test_the_same_answer_from_streamed_weights(path: str) -> None:
    streamed, held = open_model(path, "numpy", weights="streamed"), real("smollm2")
    mine, theirs = streamed.engine.run(CAPITAL, see=["resid_post", "final"]), held.engine.run(CAPITAL, see=["final"])
    assert np.array_equal(mine["final"], theirs["final"])
    np.testing.assert_allclose(mine.logits, theirs.logits, rtol=0, atol=1e-4)
    assert (mine.engine, theirs.engine) == ("numpy-streamed", "numpy")
    again = streamed.engine.run(CAPITAL)
    assert np.array_equal(again.logits, mine.logits)


@pytest.mark.model
def test_streamed_weights_in_float64(path: str) -> None:
    streamed = open_model(path, "numpy", weights="streamed", precision="fp64")
    assert isinstance(streamed.weights, Streamed)
    assert isinstance(streamed.engine, ReferenceEngine)
    assert streamed.engine.weights["layers.3.query"].dtype == np.float64
    assert streamed.engine.weights["final_norm.gain"].dtype == np.float64
    run = streamed.engine.run(CAPITAL).logits
    held = real("smollm2").engine.run(CAPITAL).logits
    assert 0 < np.abs(run - held).max() < 2e-4  # 1.05e-4 with the AVX-512 kernels of OpenBLAS


@pytest.mark.model
@pytest.mark.parametrize(
    ("left", "precision", "streams"),
    [
        (None, "fp32", False),
        (int(FP32_BYTES / HELD_SHARE), "fp32", False),
        (int(FP32_BYTES / HELD_SHARE) - 1, "fp32", True),
        (int(3 * FP32_BYTES / HELD_SHARE) - 1, "fp64", True),
        (None, "bf16", True),  # the engine holds them in its own precision
    ],
)
def test_the_room_decides(
    left: int | None, precision: str, streams: bool, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    _left(left, monkeypatch)
    assert isinstance(open_model(path, precision=precision).weights, Streamed) == streams


@pytest.mark.model
def test_a_reference_beside_a_lower_precision_holds_its_weights(path: str) -> None:
    model = open_model(path, "torch", "int8")
    assert isinstance(model.weights, Streamed)
    assert model.engine.name == "torch"
    plain = model.variant(engine="numpy", precision="fp32")
    assert plain.engine.name == "numpy"
    assert plain.engine.origin is model.engine.origin
    assert np.array_equal(plain.run(CAPITAL).logits, real("smollm2").run(CAPITAL).logits)


@pytest.mark.model
def test_what_was_asked_for_and_cannot_be_is_refused(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="available: auto, held, streamed"):
        open_model(path, weights="lazy")
    _left(500_000_000, monkeypatch)
    with pytest.raises(CapacityError, match="the model needs 538 MB of memory, 500 MB are available") as caught:
        open_model(path, weights="held")
    assert 'weights="streamed"' in caught.value.remedy


SCARCE = """
from whybox.engine import machine
machine.available = lambda: {left}
from whybox.cli.main import main
main()
"""


@pytest.mark.model
@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
def test_torch_streams_as_well(precision: str, path: str) -> None:
    streamed, held = (open_model(path, "torch", precision, weights=way) for way in ("streamed", "held"))
    mine, theirs = streamed.engine.run(CAPITAL), held.engine.run(CAPITAL)
    assert np.array_equal(mine.logits, theirs.logits)
    assert (mine.engine, theirs.engine) == ("torch-streamed", "torch")


@pytest.mark.model
@pytest.mark.parametrize(
    ("left", "code", "out", "err"),
    [
        (1_000_000_000, 0, " · torch-streamed · fp32 · ", ""),
        (5_000_000, 3, "", "whybox: this run needs "),
    ],
)
def test_the_command_line_says_it(left: int, code: int, out: str, err: str, path: str) -> None:
    script = SCARCE.format(left=left)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1] / "src"), "LANG": "C.UTF-8"}
    ended = warm.python("-c", script, "next", "-m", path, "The capital of France is", env=environment)
    assert ended.returncode == code, ended.stderr
    assert out in ended.stdout
    assert ended.stderr.startswith(err)
    assert "Traceback" not in ended.stderr


def _described(folder: Path) -> Streamed:
    file = open_weights(folder)
    return weights.stream(file, *families.describe(file))


def test_every_shape_is_checked_before_a_matrix_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny(LlamaConfig(**SIZES)).save_pretrained(tmp_path)
    config = (tmp_path / "config.json").read_text()
    (tmp_path / "config.json").write_text(config.replace('"intermediate_size": 37', '"intermediate_size": 41'))
    monkeypatch.setattr(SafetensorsFile, "read", lambda *_: pytest.fail("a tensor was read"))
    with pytest.raises(FormatError, match=r"expected the shape of layers.0.down \(42, 41\), found shape \(42, 37\)"):
        _described(tmp_path)


def test_a_matrix_is_not_kept_and_a_vector_is(tmp_path: Path) -> None:
    tiny(LlamaConfig(**SIZES), seed=3).half().save_pretrained(tmp_path)
    streamed = _described(tmp_path)
    assert streamed["layers.1.up"] is not streamed["layers.1.up"]
    assert streamed["layers.1.mlp_norm.gain"] is streamed["layers.1.mlp_norm.gain"]
    assert set(streamed.arrays) == {role for role in streamed if role.endswith(".gain")}
    assert not streamed["layers.1.up"].flags.writeable
    with pytest.raises(KeyError):
        streamed["layers.2.up"]


def test_an_expert_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny(MixtralConfig(**SIZES, num_local_experts=5, num_experts_per_tok=2)).save_pretrained(tmp_path)
    streamed, read = _described(tmp_path), []
    plain = SafetensorsFile.read

    def watched(file: SafetensorsFile, name: str, rows: object = None) -> np.ndarray:
        read.append(found := plain(file, name, rows))
        return found

    monkeypatch.setattr(SafetensorsFile, "read", watched)
    assert streamed["layers.1.experts.3.down"].shape == (42, 37)
    assert sum(array.size for array in read) == 42 * 37


def test_tables_come_in_slices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny(LlamaConfig(**SIZES)).save_pretrained(tmp_path)
    streamed = _described(tmp_path)
    monkeypatch.setattr(weights, "SLICE_VALUES", 7 * 42)
    slices = list(streamed.slices("head"))
    assert [table.shape[0] for _, table in slices] == [7, 7, 7, 7, 3]
    assert np.array_equal(np.concatenate([table for _, table in slices]), streamed["head"])
    assert streamed.passing == 2 * 60 * 42 * 4
