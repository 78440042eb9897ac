"""Valid GGUF files, by the format's own writer, come back exactly; split files open as one."""

import hashlib
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import gguf
import numpy as np
import pytest

from tests.models import model_path
from whybox.errors import FormatError, ModelNotFound, UnsupportedError
from whybox.formats.gguf import open_gguf

from .conftest import write_small
from .raw_files import F32, I32, U16, header, scalar, written
from .raw_files import gguf as whole

Promptly = Callable[[], AbstractContextManager[None]]
Small = tuple[Path, dict[str, np.ndarray]]


def test_metadata_of_every_type(small: Small) -> None:
    found = open_gguf(small[0]).metadata
    numbers = {key: found[f"n.{key}"] for key in ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64", "f32", "f64")}
    assert numbers == {
        "u8": 200, "i8": -100, "u16": 60_000, "i16": -30_000, "u32": 4_000_000_000, "i32": -2_000_000_000,
        "u64": 2**63, "i64": -(2**62), "f32": 0.5, "f64": 0.1,
    }  # fmt: skip
    assert found["general.architecture"] == "llama"
    assert found["n.yes"] is True
    assert found["n.text"] == "größer 天氣 😊"


def test_arrays(small: Small) -> None:
    found = open_gguf(small[0]).metadata
    for key, expected in {"ints": [3, -5, 7], "floats": [0.5, -1.25], "truths": [True, False, True]}.items():
        value = found[f"n.{key}"]
        assert isinstance(value, np.ndarray)
        assert value.tolist() == expected
        assert not value.flags.writeable


def test_strings(small: Small) -> None:
    assert open_gguf(small[0]).metadata["n.strings"] == ("", "a", "Ġthe", "天")


def test_tensors(small: Small) -> None:
    path, values = small
    model = open_gguf(path)
    assert list(model.tensors) == ["norm.weight", "half.weight", "block.weight"]
    assert [tensor.type for tensor in model.tensors.values()] == ["F32", "F16", "Q8_0"]
    assert {name: tensor.shape for name, tensor in model.tensors.items()} == {n: v.shape for n, v in values.items()}
    for name, value in values.items():
        found = model.read(name)
        assert found.dtype == np.float32
        assert np.array_equal(found, value)
        assert not found.flags.writeable


def test_what_is_released_is_read_again(small: Small) -> None:
    path, values = small
    model = open_gguf(path)
    kept = model.read("norm.weight")
    model.release()
    for name, value in values.items():
        assert np.array_equal(model.read(name), value)
    assert np.array_equal(kept, values["norm.weight"])


def test_types_and_digest(small: Small) -> None:
    model = open_gguf(small[0])
    assert model.types() == [("Q8_0", 1, 3 * 2 * 34), ("F16", 1, 30), ("F32", 1, 28)]
    assert model.digest() == hashlib.sha256(small[0].read_bytes()).hexdigest()


def test_a_name_that_is_missing_is_called_missing(small: Small) -> None:
    with pytest.raises(FormatError, match=r"tensor 'norm\.weigth': expected one of the 3 tensors") as caught:
        open_gguf(small[0]).read("norm.weigth")
    assert "norm.weight" in caught.value.remedy
    assert "truncated" not in str(caught.value)


@pytest.mark.parametrize("alignment", [8, 64, 4096])
def test_alignment(tmp_path: Path, alignment: int) -> None:
    values = write_small(tmp_path / "a.gguf", alignment)
    model = open_gguf(tmp_path / "a.gguf")
    assert all(tensor.offset % alignment == 0 for tensor in model.tensors.values())
    assert all(np.array_equal(model.read(name), value) for name, value in values.items())


def test_the_last_tensor_needs_no_padding(small: Small) -> None:
    path, values = small
    end = max(tensor.end for tensor in open_gguf(path).tensors.values())
    written(path, path.read_bytes()[:end])
    assert np.array_equal(open_gguf(path).read("block.weight"), values["block.weight"])


def test_version_2_is_read(tmp_path: Path) -> None:
    path = written(tmp_path / "2.gguf", header([scalar("a", F32, 1.5)], version=2))
    assert dict(open_gguf(path).metadata) == {"a": 1.5}


@pytest.mark.parametrize(
    ("version", "named"), [(1, "version 1"), (4, "version 4"), (0, "version 0"), (3 << 24, "big-endian")]
)
def test_other_versions_are_refused_by_name(tmp_path: Path, version: int, named: str) -> None:
    path = written(tmp_path / "v.gguf", header(version=version))
    with pytest.raises(UnsupportedError, match=named):
        open_gguf(path)


@pytest.mark.parametrize(("code", "label"), [(31, "Q4_0_4_4"), (15, "Q8_K"), (99, "unknown")])
def test_other_types_are_refused_with_the_first_tensor(tmp_path: Path, code: int, label: str) -> None:
    table = [("a", [32], 0, 0), ("b", [256], code, 128), ("c", [256], code, 512)]
    path = written(tmp_path / "t.gguf", whole(header(tensors=table), bytes(4096)))
    with pytest.raises(
        UnsupportedError, match=rf"tensor type {code} \({label}\) is not implemented; first used by 'b'"
    ):
        open_gguf(path)


# Split files


@pytest.fixture
def split(tmp_path: Path) -> tuple[list[Path], dict[str, np.ndarray]]:
    values = write_small(tmp_path / "m.gguf", split_max_tensors=1)
    return sorted(tmp_path.glob("m-*.gguf")), values


Split = tuple[list[Path], dict[str, np.ndarray]]


@pytest.mark.parametrize("part", [0, 1, 2])
def test_any_part_opens_all(split: Split, part: int) -> None:
    paths, values = split
    assert [path.name for path in paths] == [f"m-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
    model = open_gguf(paths[part])
    assert model.metadata["n.u8"] == 200
    assert {tensor.file for tensor in model.tensors.values()} == set(paths)
    assert all(np.array_equal(model.read(name), value) for name, value in values.items())


def test_digest_of_parts_is_that_of_their_list(split: Split) -> None:
    paths, _ = split
    lines = "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in paths)
    assert {open_gguf(path).digest() for path in paths} == {hashlib.sha256(lines.encode()).hexdigest()}


def test_a_missing_part_is_named(split: Split) -> None:
    paths, _ = split
    paths[1].unlink()
    with pytest.raises(FormatError, match=r"part 2 of 3.*m-00002-of-00003\.gguf"):
        open_gguf(paths[0])


def test_a_part_that_links_out_of_the_folder_is_refused(split: Split, tmp_path: Path) -> None:
    paths, _ = split
    (tmp_path / "other").mkdir()
    shutil.move(paths[1], tmp_path / "other" / "x.gguf")
    paths[1].symlink_to(tmp_path / "other" / "x.gguf")
    with pytest.raises(FormatError, match="a link to"):
        open_gguf(paths[0])


def test_a_part_under_another_number_is_refused(split: Split) -> None:
    paths, _ = split
    shutil.copy(paths[2], paths[1])
    with pytest.raises(FormatError, match=r"split\.no: expected 1, found 2"):
        open_gguf(paths[0])


def test_a_renamed_part_is_refused(split: Split) -> None:
    paths, _ = split
    with pytest.raises(FormatError, match="file name"):
        open_gguf(paths[0].rename(paths[0].with_name("model.gguf")))


@pytest.mark.parametrize(("total", "names"), [(3, ["a", "b"]), (2, ["a", "a"])])
def test_parts_that_disagree_with_their_table(tmp_path: Path, total: int, names: list[str]) -> None:
    for number, name in enumerate(names):
        pairs = [
            scalar("split.no", U16, number),
            scalar("split.count", U16, 2),
            scalar("split.tensors.count", I32, total),
        ]
        content = whole(header(pairs, [(name, [8], 0, 0)]), bytes(32))
        written(tmp_path / f"x-0000{number + 1}-of-00002.gguf", content)
    with pytest.raises(FormatError, match=r"split\.tensors\.count: expected 2.*found 3|tensor 'a'.*a second one"):
        open_gguf(tmp_path / "x-00001-of-00002.gguf")


def test_no_such_file(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"absent\.gguf"):
        open_gguf(tmp_path / "absent.gguf")


# The two real models


@pytest.mark.model
def test_types_of_smollm2() -> None:
    model = open_gguf(model_path("smollm2"))
    assert model.types() == [("Q4_1", 210, 66_355_200), ("Q8_0", 1, 30_081_024), ("F32", 61, 140_544)]
    assert model.digest() == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    assert len(model.tensors) == 272
    assert sum(np.prod(tensor.shape) for tensor in model.tensors.values()) == 134_515_008


@pytest.mark.gemma
def test_the_header_of_a_large_vocabulary_is_quick(promptly: Promptly) -> None:
    path = model_path("gemma3-270m")
    with promptly():
        tokens = open_gguf(path).metadata["tokenizer.ggml.tokens"]
    assert isinstance(tokens, tuple)
    assert (len(tokens), tokens[:5]) == (262_144, ("<pad>", "<eos>", "<bos>", "<unk>", "<mask>"))


@pytest.mark.gemma
def test_types_of_gemma() -> None:
    """The file is labelled Q4_K_M, and a third of its tensors are Q5_0: 640 is no multiple of 256."""
    model = open_gguf(model_path("gemma3-270m"))
    assert model.types() == [
        ("Q8_0", 10, 179_824_640), ("Q5_0", 81, 43_591_680), ("Q4_K", 27, 13_271_040), ("Q6_K", 9, 9_676_800),
        ("F32", 109, 223_744),
    ]  # fmt: skip
    assert sum(np.prod(tensor.shape) for tensor in model.tensors.values()) == 268_098_176


@pytest.mark.model
def test_smollm2_metadata() -> None:
    found = open_gguf(model_path("smollm2")).metadata
    tokens = found["tokenizer.ggml.tokens"]
    assert isinstance(tokens, tuple)
    assert (len(tokens), tokens[0], tokens[1], tokens[504]) == (49_152, "<|endoftext|>", "<|im_start|>", "The")
    assert found["llama.rope.freq_base"] == 100_000
    assert found["tokenizer.ggml.pre"] == "smollm"


@pytest.mark.model
def test_smollm2_tensors_equal_those_of_the_gguf_package() -> None:
    path = model_path("smollm2")
    model = open_gguf(path)
    for name in ("blk.9.ffn_up.weight", "blk.0.attn_k.weight", "output_norm.weight"):
        tensor = model.tensors[name]
        raw = np.fromfile(path, np.uint8, tensor.nbytes, offset=tensor.offset).reshape(tensor.shape[0], -1)
        kind = gguf.GGMLQuantizationType[tensor.type]
        assert np.array_equal(model.read(name), gguf.quants.dequantize(raw, kind).reshape(tensor.shape))


@pytest.mark.model
def test_a_truncated_model_is_called_truncated_with_the_numbers(tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    shutil.copy(model_path("smollm2"), path)
    with path.open("r+b") as file:
        file.truncate(98_362_432 - 1_000_000)
    with pytest.raises(FormatError) as caught:
        open_gguf(path)
    message = str(caught.value)
    assert "truncated, 7 tensors end past the file" in message
    assert "the first is 'blk.9.ffn_up.weight', 442,432 bytes short" in message
    assert "1,000,000 bytes are missing in all" in message
