"""What other tools left on this machine, and how damage among it is told."""

import json
import os
from pathlib import Path

import pytest

from tests.library.fakes import Listener
from whybox import library
from whybox.errors import ModelNotFound
from whybox.library import Found

GGUF = b"GGUF and more"
DIGEST = "ab" * 32


def put(path: Path, data: bytes | str | dict[str, object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    raw = json.dumps(data) if isinstance(data, dict) else data
    path.write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    return path


def ollama(store: Path, name: str, digest: str, blob: bytes | None = GGUF) -> None:
    layers = [
        {"mediaType": "application/vnd.ollama.image.template", "digest": "sha256:" + "cd" * 32},
        {"mediaType": "application/vnd.ollama.image.model", "digest": f"sha256:{digest}"},
    ]
    put(store / "manifests" / name, {"layers": layers})
    if blob is not None:
        put(store / "blobs" / f"sha256-{digest}", blob)


def test_an_empty_machine_has_no_models() -> None:
    listener = Listener()
    assert library.discover(listener) == []
    assert listener.lines == []


def test_every_store_is_looked_through_in_order(machine: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = machine / "home"
    own = put(models / "mine.gguf", GGUF)
    put(models / ".half.gguf.part", GGUF)
    shelf = machine / "shelf"
    monkeypatch.setenv("WHYBOX_MODELS", str(shelf))
    split = put(shelf / "big-00001-of-00002.gguf", GGUF)
    put(shelf / "big-00002-of-00002.gguf", GGUF)
    put(shelf / "folder" / "config.json", "{}")
    put(shelf / "folder" / "model.safetensors", b"12345")
    ollama(home / ".ollama" / "models", "registry.ollama.ai/library/qwen2.5/0.5b", DIGEST)
    ollama(home / ".ollama" / "models", "registry.ollama.ai/someone/tuned/latest", "ef" * 32)
    studio = put(home / ".lmstudio" / "models" / "pub" / "repo" / "m-Q4_0.gguf", GGUF)
    put(home / ".lmstudio" / "models" / "pub" / "repo" / "mmproj-m.gguf", GGUF)
    older = put(home / ".cache" / "lm-studio" / "models" / "pub" / "old" / "o.gguf", GGUF)
    blobs = home / ".ollama" / "models" / "blobs"
    listener = Listener()
    assert library.discover(listener) == [
        Found(str(own), own, 13, "whybox"),
        Found(str(split), split, 26, "WHYBOX_MODELS"),
        Found(str(shelf / "folder"), shelf / "folder", 5, "WHYBOX_MODELS"),
        Found("ollama:qwen2.5:0.5b", blobs / f"sha256-{DIGEST}", 13, "Ollama"),
        Found("ollama:someone/tuned:latest", blobs / f"sha256-{'ef' * 32}", 13, "Ollama"),
        Found(str(studio), studio, 13, "LM Studio"),
        Found(str(older), older, 13, "LM Studio"),
    ]
    assert listener.lines == []
    assert library.locate("ollama:qwen2.5:0.5b") == blobs / f"sha256-{DIGEST}"


@pytest.mark.parametrize(
    ("variable", "below"), [("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")]
)
def test_the_hub_cache_is_where_its_variables_say(
    machine: Path, monkeypatch: pytest.MonkeyPatch, variable: str, below: str
) -> None:
    monkeypatch.setenv(variable, str(machine / "elsewhere"))
    repo = machine / "elsewhere" / below / "models--org--tiny"
    put(repo / "refs" / "main", "new")
    for revision in ("old", "new"):
        put(repo / "snapshots" / revision / "config.json", "{}")
        put(repo / "snapshots" / revision / "model.safetensors", revision)
    assert library.discover() == [Found("hf:org/tiny", repo / "snapshots" / "new", 3, "Hugging Face")]


def test_a_model_without_an_owner_has_its_short_name(machine: Path) -> None:
    folder = machine / "home/.cache/huggingface/hub/models--gpt2/snapshots/rev"
    put(folder / "config.json", "{}")
    put(folder / "model.safetensors", b"12345")
    put(folder.parents[1] / "refs" / "main", "rev")
    assert [model.name for model in library.discover()] == ["hf:gpt2"]
    assert library.locate("hf:gpt2", download=False) == folder


@pytest.mark.parametrize("revision", ["../../models--org--other/snapshots/rev", "..", ""])
def test_a_revision_that_leads_out_is_not_followed(machine: Path, revision: str) -> None:
    cache = machine / "home/.cache/huggingface/hub"
    put(cache / "models--org--other/snapshots/rev/config.json", "{}")
    put(cache / "models--org--other/snapshots/rev/model.safetensors", b"12345")
    put(cache / "models--org--tiny/refs/main", revision)
    assert [model.name for model in library.discover()] == ["hf:org/other"]
    with pytest.raises(ModelNotFound):
        library.locate("hf:org/tiny", download=False)


def test_a_snapshot_whose_download_broke_off_is_not_opened(machine: Path) -> None:
    folder = machine / "home/.cache/huggingface/hub/models--org--tiny/snapshots/rev"
    put(folder / "config.json", "{}")
    put(folder.parents[1] / "refs" / "main", "rev")
    (folder / "model.safetensors").symlink_to("../../blobs/absent")
    listener = Listener()
    assert library.discover(listener) == []
    assert "1 of 1 weight files are missing, first model.safetensors" in listener.said
    with pytest.raises(ModelNotFound):
        library.locate("hf:org/tiny", download=False)


def test_ollama_models_points_elsewhere(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_MODELS", str(machine / "elsewhere"))
    ollama(machine / "elsewhere", "registry.ollama.ai/library/m/latest", DIGEST)
    assert [model.name for model in library.discover()] == ["ollama:m:latest"]


def test_damaged_entries_are_told_and_passed_over(machine: Path, models: Path) -> None:
    home = machine / "home"
    good = put(models / "good.gguf", GGUF)
    put(models / "empty.gguf", b"")
    put(models / "half-00001-of-00003.gguf", GGUF)
    (models / "dangling.gguf").symlink_to(machine / "nowhere")
    store = home / ".ollama" / "models"
    put(store / "manifests/registry.ollama.ai/library/broken/latest", b"\xff{not json")
    put(store / "manifests/registry.ollama.ai/library/list/latest", "[]")
    ollama(store, "registry.ollama.ai/library/gone/latest", DIGEST, blob=None)
    ollama(store, "registry.ollama.ai/library/evil/latest", "../../../../etc/hostname", blob=None)
    snapshot = home / ".cache/huggingface/hub/models--org--half/snapshots/rev"
    put(snapshot / "config.json", "{}")
    put(snapshot / "model.safetensors.index.json", {"weight_map": {"w": "a.safetensors"}})
    outside = home / ".cache/huggingface/hub/models--org--evil/snapshots/rev"
    put(outside / "config.json", "{}")
    put(outside / "model.safetensors.index.json", {"weight_map": {"w": "../secret.safetensors"}})
    listener = Listener()
    assert [model.path for model in library.discover(listener)] == [good]
    for words in (
        "empty.gguf: not a GGUF file",
        "half-00001-of-00003.gguf: 2 parts are missing",
        "dangling.gguf",
        "broken/latest",
        "list/latest: no model layer",
        "gone/latest",
        "is not a digest",
        "1 of 1 weight files are missing, first a.safetensors",
        "'../secret.safetensors', which is not a plain file name",
    ):
        assert words in listener.said
    assert len(listener.lines) == 9


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root reads everything")
def test_a_closed_folder_is_told(models: Path) -> None:
    models.mkdir(parents=True)
    models.chmod(0)
    listener = Listener()
    try:
        assert library.discover(listener) == []
    finally:
        models.chmod(0o755)
    assert "Permission denied" in listener.said
