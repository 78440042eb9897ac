"""Valid safetensors, by the format's own library, come back exactly; folders open as a whole."""

import hashlib
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from whybox.errors import FormatError, ModelNotFound, UnsupportedError
from whybox.formats.safetensors import INDEX, open_safetensors

Folder = tuple[Path, dict[str, torch.Tensor]]


@pytest.fixture
def tensors() -> dict[str, torch.Tensor]:
    draw = torch.Generator().manual_seed(3)
    plain = torch.randn(3, 5, generator=draw)
    return {
        "f32": plain,
        "f64": plain.double() / 3,
        "f16": plain.half(),
        "bf16": plain.bfloat16(),
        "i64": torch.tensor([2**40, -7]),
        "i32": torch.tensor([[1, -2, 3]], dtype=torch.int32),
        "i8": torch.tensor([-128, 127], dtype=torch.int8),
        "u8": torch.tensor([0, 255], dtype=torch.uint8),
        "bool": torch.tensor([True, False, True]),
        "empty": torch.zeros(0, 7),
        "scalar": torch.tensor(2.5),
    }


@pytest.fixture
def single(tmp_path: Path, tensors: dict[str, torch.Tensor]) -> Folder:
    save_file(tensors, tmp_path / "model.safetensors", metadata={"format": "pt"})
    (tmp_path / "config.json").write_text('{"model_type": "llama", "hidden_size": 5}')
    return tmp_path, tensors


@pytest.fixture
def sharded(tmp_path: Path, tensors: dict[str, torch.Tensor]) -> Folder:
    weight_map = {}
    for number, names in enumerate((["f32", "i8"], ["bf16"], ["f16", "empty"]), start=1):
        file = f"model-0000{number}-of-00003.safetensors"
        save_file({name: tensors[name] for name in names}, tmp_path / file)
        weight_map |= dict.fromkeys(names, file)
    (tmp_path / INDEX).write_text(json.dumps({"metadata": {"total_size": 1}, "weight_map": weight_map}))
    (tmp_path / "config.json").write_text("{}")
    return tmp_path, {name: tensors[name] for name in weight_map}


def test_every_dtype(single: Folder) -> None:
    folder, tensors = single
    model = open_safetensors(folder)
    assert set(model.tensors) == set(tensors)
    for name, tensor in tensors.items():
        found, expected = model.read(name), tensor.float() if tensor.is_floating_point() else tensor
        assert model.tensors[name].type == name.upper().replace("EMPTY", "F32").replace("SCALAR", "F32")
        assert found.shape == tuple(tensor.shape) == model.tensors[name].shape
        assert found.dtype == expected.numpy().dtype
        assert np.array_equal(found, expected.numpy())
        assert not found.flags.writeable


def test_float64_on_request(single: Folder) -> None:
    folder, tensors = single
    model = open_safetensors(folder)
    assert model.stored("f64").dtype == np.float64
    assert np.array_equal(model.stored("f64"), tensors["f64"].numpy())
    assert model.read("f64").dtype == np.float32


def test_float32_is_a_view_of_the_map(single: Folder) -> None:
    model = open_safetensors(single[0])
    assert np.shares_memory(model.read("f32"), model.raw("f32"))


def test_metadata_is_the_config(single: Folder) -> None:
    assert dict(open_safetensors(single[0]).metadata) == {"model_type": "llama", "hidden_size": 5}


def test_the_file_alone_finds_its_config(single: Folder) -> None:
    model = open_safetensors(single[0] / "model.safetensors")
    assert model.metadata["model_type"] == "llama"
    assert len(model.tensors) == 11


def test_without_config(tmp_path: Path) -> None:
    save_file({"a": torch.ones(2)}, tmp_path / "any.safetensors")
    for path in (tmp_path, tmp_path / "any.safetensors"):
        model = open_safetensors(path)
        assert (dict(model.metadata), list(model.tensors)) == ({}, ["a"])
        assert model.digest() == hashlib.sha256((tmp_path / "any.safetensors").read_bytes()).hexdigest()


def test_types(sharded: Folder) -> None:
    shares = open_safetensors(sharded[0]).types()
    assert sorted(shares) == [("BF16", 1, 30), ("F16", 1, 30), ("F32", 2, 60), ("I8", 1, 2)]
    assert [share.nbytes for share in shares] == [60, 30, 30, 2]


def test_digest_is_that_of_the_list(sharded: Folder) -> None:
    folder, _ = sharded
    names = ["config.json", *(f"model-0000{n}-of-00003.safetensors" for n in (1, 2, 3))]
    lines = "".join(f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names)
    assert open_safetensors(folder).digest() == hashlib.sha256(lines.encode()).hexdigest()
    (folder / "config.json").write_text('{"eps": 1}')
    assert open_safetensors(folder).digest() != hashlib.sha256(lines.encode()).hexdigest()


@pytest.mark.parametrize("name", ["", INDEX, "model-00002-of-00003.safetensors"])
def test_any_way_into_a_sharded_folder_opens_all(sharded: Folder, name: str) -> None:
    folder, tensors = sharded
    model = open_safetensors(folder / name)
    assert set(model.tensors) == set(tensors)
    for tensor in ("f32", "f16", "bf16"):
        assert np.array_equal(model.read(tensor), tensors[tensor].float().numpy())


def test_the_index_and_the_shards_must_agree(sharded: Folder) -> None:
    folder, _ = sharded
    index = json.loads((folder / INDEX).read_text())
    del index["weight_map"]["i8"]
    (folder / INDEX).write_text(json.dumps(index))
    with pytest.raises(FormatError, match=r"1 only in the file: i8"):
        open_safetensors(folder)
    index["weight_map"] |= {"i8": "model-00001-of-00003.safetensors", "more": "model-00002-of-00003.safetensors"}
    (folder / INDEX).write_text(json.dumps(index))
    with pytest.raises(FormatError, match=r"1 only in the index: more"):
        open_safetensors(folder)


def test_a_missing_shard_is_named(sharded: Folder) -> None:
    (sharded[0] / "model-00002-of-00003.safetensors").unlink()
    with pytest.raises(FormatError, match=r"model-00002-of-00003\.safetensors.*no such file"):
        open_safetensors(sharded[0])


@pytest.mark.parametrize(
    "content", ["[]", '{"weight_map": []}', '{"weight_map": {}}', '{"weight_map": {"a": 1}}', "{}"]
)
def test_an_index_that_is_none(tmp_path: Path, content: str) -> None:
    (tmp_path / INDEX).write_text(content)
    with pytest.raises(FormatError, match=r"weight_map|a JSON object"):
        open_safetensors(tmp_path)


# Names that lead out of the folder


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    save_file({"w": torch.ones(3)}, tmp_path / "secret.safetensors")
    (tmp_path / "model").mkdir()
    return tmp_path / "model"


def indexed(folder: Path, name: str) -> Path:
    (folder / INDEX).write_text(json.dumps({"weight_map": {"w": name}}))
    return folder


OUTSIDE = ["../secret.safetensors", "/etc/hostname", "..", ".", "", "sub/x", "a\0b"]
OUTSIDE_ON_WINDOWS = ["sub\\x", "..\\secret", "C:\\x", "C:x", "shard:stream"]


@pytest.mark.parametrize("name", OUTSIDE + OUTSIDE_ON_WINDOWS)
def test_names_that_are_no_plain_names(secret: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("whybox.formats.safetensors.mapped", lambda *_: pytest.fail("a file was opened"))
    with pytest.raises(FormatError, match="expected the plain name of a file in this folder") as caught:
        open_safetensors(indexed(secret, name))
    assert repr(name) in str(caught.value)


def test_a_link_out_of_the_folder(secret: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (secret / "w.safetensors").symlink_to(secret.parent / "secret.safetensors")
    monkeypatch.setattr("whybox.formats.safetensors.mapped", lambda *_: pytest.fail("a file was opened"))
    for path in (indexed(secret, "w.safetensors"), secret):
        with pytest.raises(FormatError, match=r"a file inside this folder, found 'w\.safetensors', a link to"):
            open_safetensors(path)


def test_a_link_to_itself(secret: Path) -> None:
    (secret / "w.safetensors").symlink_to("w.safetensors")
    with pytest.raises(FormatError):
        open_safetensors(indexed(secret, "w.safetensors"))


def test_a_config_that_links_out(secret: Path) -> None:
    shutil.copy(secret.parent / "secret.safetensors", secret / "model.safetensors")
    (secret / "config.json").symlink_to("/etc/hostname")
    with pytest.raises(FormatError, match=r"config\.json: expected a file inside this folder"):
        open_safetensors(secret)


def test_a_folder_or_a_pipe_in_place_of_a_shard(secret: Path) -> None:
    (secret / "w.safetensors").mkdir()
    with pytest.raises(FormatError, match="expected a regular file, found a folder"):
        open_safetensors(indexed(secret, "w.safetensors"))


def test_a_link_within_the_folder_is_fine(secret: Path) -> None:
    shutil.copy(secret.parent / "secret.safetensors", secret / "real.safetensors")
    (secret / "w.safetensors").symlink_to("real.safetensors")
    assert list(open_safetensors(indexed(secret, "w.safetensors")).tensors) == ["w"]


def test_the_blobs_of_a_hub_cache_count_as_inside(tmp_path: Path) -> None:
    repository = tmp_path / "models--a--b"
    snapshot = repository / "snapshots" / "0123"
    snapshot.mkdir(parents=True)
    (repository / "blobs").mkdir()
    save_file({"w": torch.ones(3)}, repository / "blobs" / "abc")
    (snapshot / "model.safetensors").symlink_to("../../blobs/abc")
    assert open_safetensors(snapshot).read("w").tolist() == [1, 1, 1]


# Folders without weights that can be read


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "consolidated.00.pth"])
def test_pickles_are_never_read(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"\x80\x02.")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(UnsupportedError, match=name) as caught:
        open_safetensors(tmp_path)
    assert "safetensors" in caught.value.remedy


def test_nothing_and_too_much(tmp_path: Path) -> None:
    with pytest.raises(ModelNotFound, match=r"no \.safetensors file"):
        open_safetensors(tmp_path)
    for name in ("a", "b"):
        save_file({"w": torch.ones(3)}, tmp_path / f"{name}.safetensors")
    with pytest.raises(ModelNotFound, match=r"a\.safetensors, b\.safetensors"):
        open_safetensors(tmp_path)
    with pytest.raises(ModelNotFound):
        open_safetensors(tmp_path / "c.safetensors")
