"""Recorded traces: what is written is read, and a file that is none says what is wrong."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from whybox.compare.observation import Observation
from whybox.compare.recorded import read_recorded, shown_precision, write_recorded
from whybox.compare.sides import side_of, split
from whybox.errors import FormatError, ModelNotFound, UsageError
from whybox.model import Model
from whybox.parts.rounding import rounded

ROWS = np.random.default_rng(0).standard_normal((3, 4)).astype(np.float32)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    seen = Observation((5, 6, 7), {("resid_post", 1): ROWS, ("logits", None): ROWS})
    write_recorded(tmp_path / "a.npz", [("a text", seen), (None, seen)], "bf16", "m")
    one, other = read_recorded(tmp_path / "a.npz").prompts
    assert (one.text, other.text, one.seen.ids, one.seen.precision) == ("a text", None, (5, 6, 7), "bf16")
    np.testing.assert_array_equal(one.seen.sites["resid_post", 1], ROWS)


def test_safetensors_and_an_axis_for_the_batch(tmp_path: Path) -> None:
    save_file({"ids": np.array([5, 6, 7]), "resid_post.0": ROWS[None]}, tmp_path / "a.safetensors")
    (only,) = read_recorded(tmp_path / "a.safetensors").prompts
    np.testing.assert_array_equal(only.seen.sites["resid_post", 0], ROWS)


def test_numbers_show_what_they_were_rounded_to() -> None:
    assert shown_precision(Observation((1,), {("embed", None): rounded(ROWS, "bf16")})) == "bf16"
    assert shown_precision(Observation((1,), {("embed", None): ROWS})) == "fp32"


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"logits": ROWS}, "ids: expected token ids"),
        ({"ids": np.arange(3)}, "at least one site"),
        ({"ids": np.arange(3), "resid_past.3": ROWS}, "resid_past.3"),
        ({"ids": np.arange(3), "resid_post": ROWS}, "resid_post"),
        ({"ids": np.arange(3), "logits": np.arange(3)}, "floating-point numbers"),
        ({"ids": np.array([None, 1], dtype=object)}, "arrays without objects"),
    ],
)
def test_a_file_that_is_no_trace_says_what_is_wrong(tmp_path: Path, table: dict[str, np.ndarray], message: str) -> None:
    np.savez(tmp_path / "a.npz", **table)  # type: ignore[arg-type]
    with pytest.raises(FormatError, match=message):
        read_recorded(tmp_path / "a.npz")


def test_a_text_in_place_of_an_archive(tmp_path: Path) -> None:
    (tmp_path / "a.npz").write_text("hello")
    with pytest.raises(FormatError, match=r"a\.npz"):
        read_recorded(tmp_path / "a.npz")


def test_a_recording_that_is_not_there(tmp_path: Path) -> None:
    def no_model(name: str) -> Model:
        raise AssertionError(f"{name} is no model's name")

    with pytest.raises(ModelNotFound, match=r"there is no file .*absent\.npz"):
        side_of(str(tmp_path / "absent.npz"), no_model)


@pytest.mark.parametrize("ways", ["bf17", "batch=0", "padding=-1", "chunk=x", ""])
def test_ways_that_are_none(ways: str) -> None:
    with pytest.raises(UsageError, match="no way to run a model"):
        split(f"smollm2@{ways}")


def test_ways() -> None:
    name, way = split("smollm2@bf16,sdpa,batch=4,padding=3,cache")
    assert name == "smollm2"
    assert (way.precision, way.kernel, way.batch, way.padding) == ("bf16", "sdpa", 4, 3)
    assert (way.stepped, way.engine) == (True, None)
