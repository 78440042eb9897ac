"""Recorded traces: what is written is read, and a file that is none says what is wrong."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from whybox.compare.comparison import Asked, compare
from whybox.compare.observation import Observation
from whybox.compare.recorded import read_recorded, shown_precision, write_recorded
from whybox.compare.sides import Live, side_of, split
from whybox.errors import FormatError, ModelNotFound, UsageError
from whybox.model import Model
from whybox.parts.rounding import rounded
from whybox.testing.noise import noisy

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
    one_array = tmp_path / "one.npy"
    np.save(one_array, ROWS)
    for content in (b"hello", b"", one_array.read_bytes()):
        (tmp_path / "a.npz").write_bytes(content)
        with pytest.raises(FormatError, match=r"a\.npz: the archive: expected an \.npz file"):
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


def test_a_recording_says_a_precision_and_positions_that_exist(tmp_path: Path) -> None:
    whole = {"ids": np.array([1, 2]), "logits": np.ones((2, 3), np.float32)}
    for odd, found in (({"precision": np.array("bf17")}, "bf17"), ({"positions": np.array(["a", "b"])}, "positions")):
        np.savez(tmp_path / "odd.npz", **whole, **odd)
        with pytest.raises(FormatError, match=found):
            read_recorded(tmp_path / "odd.npz")


@pytest.mark.parametrize(("said", "taken"), [("int8", "int8"), ("int4", "int4"), ("fp16", "fp16"), ("fp64", "fp32")])
def test_codes_are_taken_at_their_word_and_float64_for_what_ours_can_show(
    tmp_path: Path, said: str, taken: str
) -> None:
    seen = Observation((1, 2), {("logits", None): np.ones((2, 3), np.float32)})
    write_recorded(tmp_path / "a.npz", [(None, seen)], said, "a")
    assert read_recorded(tmp_path / "a.npz").precision == taken


def test_a_recorded_run_in_eight_bits_is_rounding(tmp_path: Path) -> None:
    model = noisy(0).model
    side = side_of("@int8", lambda name: model, Live("ours", model.variant(engine="torch")))
    assert isinstance(side, Live)
    write_recorded(tmp_path / "a.npz", [(None, side.observe((5, 9, 3, 7, 11, 4), 6))], side.precision, "a")
    found = compare(Live("ours", model), read_recorded(tmp_path / "a.npz"), Asked(written=0))
    assert (found.verdict, found.named) == ("rounding", ())
