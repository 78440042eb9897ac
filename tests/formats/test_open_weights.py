"""One door for every weight file: what the bytes are decides, not what the file is called."""

from pathlib import Path

import pytest

from whybox.errors import FormatError, ModelNotFound, UnsupportedError
from whybox.formats import GgufFile, SafetensorsFile, WeightFile, open_weights

from .conftest import write_small
from .raw_files import entry, safetensors, written

SMALL = safetensors({"a": entry("F32", [2], 0, 8)}, bytes(8))


@pytest.mark.parametrize("name", ["x.gguf", "x.safetensors", "x", "sha256-0123"])
def test_the_bytes_decide(tmp_path: Path, name: str) -> None:
    write_small(tmp_path / name)
    assert isinstance(open_weights(tmp_path / name), GgufFile)
    written(tmp_path / name, SMALL)
    assert isinstance(open_weights(str(tmp_path / name)), SafetensorsFile)


def test_both_are_weight_files(tmp_path: Path) -> None:
    write_small(tmp_path / "x.gguf")
    files: list[WeightFile] = [open_weights(tmp_path / "x.gguf"), open_weights(written(tmp_path / "y", SMALL))]
    for file in files:
        assert file.path.parent == tmp_path
        assert all(file.read(name).size for name in file.tensors)
        assert sum(share.number for share in file.types()) == len(file.tensors)
        assert len(file.digest()) == 64
        assert file.digest() is file.digest()


def test_folders(tmp_path: Path) -> None:
    write_small(tmp_path / "x.gguf")
    model = open_weights(tmp_path)
    assert isinstance(model, GgufFile)
    write_small(tmp_path / "y.gguf")
    with pytest.raises(ModelNotFound, match=r"several models: x\.gguf, y\.gguf"):
        open_weights(tmp_path)
    written(tmp_path / "model.safetensors", SMALL)
    assert isinstance(open_weights(tmp_path), SafetensorsFile)


def test_a_folder_of_parts_is_one_model(tmp_path: Path) -> None:
    write_small(tmp_path / "m.gguf", split_max_tensors=1)
    assert len(open_weights(tmp_path).tensors) == 3


def test_a_folder_of_pickles(tmp_path: Path) -> None:
    written(tmp_path / "pytorch_model.bin", b"\x80\x02.")
    with pytest.raises(UnsupportedError, match=r"pytorch_model\.bin"):
        open_weights(tmp_path)


def test_a_pickle(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="found a zip archive"):
        open_weights(written(tmp_path / "pytorch_model.bin", b"PK\x03\x04" + bytes(60)))


def test_nothing(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound):
        open_weights(tmp_path / "absent")
    for path in ("a\0b", "a" * 5000):
        with pytest.raises(FormatError, match="path: expected a readable file"):
            open_weights(path)
