"""Models by hub name, against a hub of one repository on 127.0.0.1."""

import sys
from pathlib import Path

import pytest

from tests.library.fakes import COMMIT, Hub, Listener, content_of, serving
from whybox import library
from whybox.errors import DownloadError, ModelNotFound, StorageError, UsageError
from whybox.library.hub import HubName, choose, parse

TINY = HubName("org/tiny", None, None)
FILES = {
    "config.json": b"{}",
    "model.safetensors": b"weights",
    "tokenizer.json": b"{}",
    "chat_template.jinja": b"{{ messages }}",
    "modeling_tiny.py": b"raise SystemExit",
    "pytorch_model.bin": b"a pickle",
    "onnx/model.json": b"{}",
    "README.md": b"hello",
}


@pytest.mark.parametrize(
    ("name", "parsed"),
    [
        ("hf:org/tiny", TINY),
        ("hf:gpt2", HubName("gpt2", None, None)),
        ("hf:org/tiny@v1.0", HubName("org/tiny", "v1.0", None)),
        ("hf:org/tiny/tiny-Q4_K_M.gguf", HubName("org/tiny", None, "tiny-Q4_K_M.gguf")),
        ("hf:org/tiny@main/tiny.gguf", HubName("org/tiny", "main", "tiny.gguf")),
    ],
)
def test_names_are_taken_apart(name: str, parsed: HubName) -> None:
    assert parse(name) == parsed


@pytest.mark.parametrize(
    "name",
    [
        "hf:",
        "hf:../tiny",
        "hf:org/..",
        "hf:org/tiny@..",
        "hf:a/b/c",
        "hf:org/tiny/sub/x.gguf",
        "hf:org/tiny/x.bin",
        "hf:o r/t",
    ],
)
def test_other_names_are_usage_errors(name: str) -> None:
    with pytest.raises(UsageError, match="is not a hub name"):
        parse(name)


def test_only_weights_settings_and_templates_are_chosen() -> None:
    chosen = ["config.json", "model.safetensors", "tokenizer.json", "chat_template.jinja"]
    assert choose(TINY, FILES) == chosen


def test_one_gguf_is_chosen_and_of_several_one_must_be_named() -> None:
    assert choose(TINY, ["a.gguf", "README.md", "mmproj-a.gguf"]) == ["a.gguf"]
    split = ["b-00001-of-00002.gguf", "b-00002-of-00002.gguf"]
    assert choose(TINY, split) == split
    with pytest.raises(ModelNotFound, match=r"2 models: a\.gguf, b-00001-of-00002\.gguf") as caught:
        choose(TINY, ["a.gguf", *split])
    assert caught.value.remedy == "Name one: hf:org/tiny/a.gguf"
    assert choose(HubName("org/tiny", None, split[0]), ["a.gguf", *split]) == split
    with pytest.raises(ModelNotFound, match=r"has no file c\.gguf"):
        choose(HubName("org/tiny", None, "c.gguf"), ["a.gguf"])
    with pytest.raises(ModelNotFound, match="neither"):
        choose(TINY, ["pytorch_model.bin", "sub/model.safetensors"])


def test_a_repository_is_fetched_without_its_code_and_then_found_without_network(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("huggingface_hub")
    listener = Listener()
    with serving(Hub(dict(FILES))) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        folder = library.locate("hf:org/tiny", progress=listener)
    assert folder.name == COMMIT
    assert sorted(path.name for path in folder.iterdir()) == sorted(choose(TINY, FILES))
    assert (folder / "model.safetensors").read_bytes() == b"weights"
    assert machine / "home" in folder.parents
    assert "4 files" in listener.said
    assert library.locate("hf:org/tiny", progress=listener) == folder
    assert library.locate("hf:org/tiny", download=False) == folder
    found = library.discover()
    assert [(model.name, model.path, model.size, model.origin) for model in found] == [
        ("hf:org/tiny", folder, 7, "Hugging Face")
    ]


def test_a_gguf_repository_gives_its_file(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    content = content_of(5_003)
    with serving(Hub({"a.gguf": content, "b.gguf": b"GGUF other", "config.json": b"{}"})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        path = library.pull("hf:org/tiny/a.gguf", progress=Listener())
        assert hub.gets == ["a.gguf"]
    assert path.read_bytes() == content
    assert library.locate("hf:org/tiny/a.gguf", download=False) == path
    assert [model.name for model in library.discover()] == ["hf:org/tiny/a.gguf"]


def test_a_configuration_is_fetched_without_its_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    with serving(Hub(dict(FILES))) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        folder = library.locate_config("hf:org/tiny")
        assert hub.gets == ["config.json"]
        assert [path.name for path in folder.iterdir()] == ["config.json"]
        whole = library.locate("hf:org/tiny", progress=Listener())
    assert (whole / "model.safetensors").is_file()
    assert library.locate_config("hf:org/tiny") == whole


def test_faults_of_the_hub_are_one_line_each(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    with pytest.raises(DownloadError, match="could not be obtained") as caught:
        library.locate("hf:org/tiny", progress=Listener())
    assert "\n" not in caught.value.cause
    with serving(Hub({})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        with pytest.raises(ModelNotFound, match="the hub has no other/tiny"):
            library.locate("hf:other/tiny", progress=Listener())
        with pytest.raises(ModelNotFound, match="holds neither"):
            library.locate("hf:org/tiny", progress=Listener())
    with pytest.raises(ModelNotFound, match="not on this machine"):
        library.locate("hf:org/tiny", download=False)


def test_a_full_disk_is_told_before_the_download(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("huggingface_hub")
    with serving(Hub(dict(FILES))) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        monkeypatch.setattr("whybox.library.store.MARGIN", 10**18)
        with pytest.raises(StorageError, match="is full"):
            library.locate("hf:org/tiny", progress=Listener())
        assert hub.gets == []


def test_without_the_extra_the_remedy_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)
    with pytest.raises(DownloadError, match="huggingface_hub") as caught:
        library.locate("hf:org/tiny", progress=Listener())
    assert "whybox[hub]" in caught.value.remedy
