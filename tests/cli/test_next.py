"""`whybox next` as a process: what it prints, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm
from tests.models import model_path

pytestmark = pytest.mark.model


def run(*arguments: str, stdin: bytes = b"") -> "subprocess.CompletedProcess[str]":
    return warm.whybox(*arguments, stdin=stdin, env=os.environ | {"LANG": "C.UTF-8"})


@pytest.fixture(scope="module")
def model() -> str:
    return str(model_path("smollm2"))


def test_shows_paris(model: str) -> None:
    command = [sys.executable, "-m", "whybox", "next", "-m", model, "The capital of France is"]
    ended = subprocess.run(command, capture_output=True, timeout=120, encoding="utf-8", env=os.environ | {"LANG": "C"})
    assert ended.returncode == 0
    assert "·Paris" in ended.stdout
    assert "77.3 %" in ended.stdout
    assert ended.stderr == ""


def test_json_is_one_document_and_nothing_else(model: str) -> None:
    document = json.loads(run("next", "-m", model, "The capital of France is", "--json", "-n", "3").stdout)
    assert document["next"][0]["text"] == " Paris"
    assert document["generated"]["text"] == " Paris.\n"


def test_reads_standard_input_and_writes_files(model: str, tmp_path: Path) -> None:
    for name in ("a.json", "a.txt"):
        ended = run(
            "next", "-m", model, "-", "-o", str(tmp_path / name), "--lang", "zh", stdin="天氣很好，我想".encode()
        )
        assert (ended.returncode, ended.stdout) == (0, f"→ {tmp_path / name}\n")
    assert json.loads((tmp_path / "a.json").read_text())["next"][0]["text"] == "要"
    assert "10.2 %" in (tmp_path / "a.txt").read_text()
    assert not list(tmp_path.glob("*.part"))


def test_chat_goes_through_the_template(model: str) -> None:
    document = json.loads(run("next", "-m", model, "--chat", "hi", "--json").stdout)
    assert len(document["tokens"]) == 31
    assert any("nobody typed" in note or "not typed" in note for note in document["notes"])


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["next", ""], 2, "whybox: the prompt is empty"),
        (["next", "-m", "smolm2", "a"], 2, "whybox: no model 'smolm2'"),
        (["next", "-m", "./nothing.gguf", "a"], 2, "nothing.gguf"),
        (["next", "--engine", "jax", "a"], 2, "'jax'"),
        (["next", "--precision", "fp8", "a"], 2, "whybox: precision 'fp8' is not available"),
        (["next", "--precision", "fp16", "--device", "cpu", "a"], 2, "whybox: float16 products are about 100 times"),
        (["next", "--device", "cpu:3", "--engine", "torch", "a"], 2, "whybox: device 'cpu:3' is not supported"),
        (["next", "--threads", "99999", "a"], 2, "whybox: --threads 99999: this machine runs"),
        (["next", "a " * 9000], 2, "tokens, the trained context has"),
        (["next", "a", "-o", "x.docx"], 2, "whybox: cannot write .docx"),
        (["next", "a", "-o", "/nowhere/at/all/x.json"], 3, "there is no folder /nowhere/at/all"),
    ],
)
def test_mistakes_get_a_line_of_cause_and_an_exit_code(arguments: list[str], code: int, line: str, model: str) -> None:
    if "-m" not in arguments:
        arguments = [arguments[0], "-m", model, *arguments[1:]]
    ended = run(*arguments)
    assert ended.returncode == code, ended.stderr
    assert line in ended.stderr
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""


def test_a_broken_file_is_named(tmp_path: Path, model: str) -> None:
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(Path(model).read_bytes()[:-1_000_000])
    ended = run("next", "-m", str(broken), "a")
    assert ended.returncode == 3
    assert "blk.9.ffn_up.weight" in ended.stderr
    assert "442,432 bytes short" in ended.stderr


def test_standard_input_that_is_not_text_is_refused(model: str) -> None:
    ended = run("next", "-m", model, "-", stdin=b"\xff\xfe\x00")
    assert ended.returncode == 2
    assert "UTF-8" in ended.stderr


def test_more_tokens_than_the_context_has_room_for_are_refused(model: str) -> None:
    ended = run("next", "-m", model, "hi", "-n", "99999999999999999999999")
    assert ended.returncode == 2
    assert "leaves room for" in ended.stderr


def test_a_reader_that_has_gone_ends_a_table_as_it_ends_a_document(model: str) -> None:
    for form in ([], ["--json"]):
        command = [sys.executable, "-m", "whybox", "next", "-m", model, "hi", *form]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait(timeout=60) == 141


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process alone")
@pytest.mark.parametrize("form", [["--json"], ["--top", "1"]])
def test_ctrl_c_keeps_what_is_written(model: str, form: list[str]) -> None:
    """A text of 4,000 tokens is interrupted when the first are written: the whole document comes, and says so."""
    command = [sys.executable, "-c", TOLD, "next", "-m", model, "-n", "4000", "Once upon a time", *form]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ | {"LANG": "C"})
    assert process.stderr is not None
    assert process.stderr.readline() == b"20 written\n"
    process.send_signal(signal.SIGINT)
    out, err = (stream.decode() for stream in process.communicate(timeout=60))
    assert process.returncode == 130
    assert err.splitlines()[-2] == "whybox: interrupted"
    assert re.fullmatch(r"\d+ of 4000 tokens were written, and are in the result\.", err.splitlines()[-1])
    if "--json" in form:
        written = json.loads(out)["generated"]
        assert written["broken_off"] is True
        assert 20 <= len(written["ids"]) < 4000
        assert len(written["text"]) > 20
    else:
        assert "Broken off by Ctrl-C after" in out


TOLD = """
import sys
from whybox.jobs import next as job
steps = job.Model.steps
def told(*given):
    for done, step in enumerate(steps(*given)):
        yield step
        if done == 19:
            print("20 written", file=sys.stderr, flush=True)
job.Model.steps = told
from whybox.cli.main import main
main()
"""
