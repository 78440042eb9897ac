"""Where a result is written: refused before any work where it cannot be, and whole or not at all."""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import pytest

from whybox.cli.opening import prompt_of
from whybox.cli.telling import Form, write_whole
from whybox.errors import PromptError, StorageError
from whybox.model import Model
from whybox.suite.database import made_folder


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("folder.json", "it is a folder"),
        ("missing/x.json", "there is no folder"),
        ("file/x.json", "file is a file, not a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_refused_before_any_work(name: str, cause: str, tmp_path: Path) -> None:
    (tmp_path / "folder.json").mkdir()
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match=cause):
        Form(Mock()).check(tmp_path / name)


def test_what_the_system_refuses_is_told_in_one_line_without_names_of_ours(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for act in (partial(write_whole, tmp_path / "gone" / "x.json", ""), partial(made_folder, tmp_path / "file" / "x")):
        with pytest.raises(StorageError, match=r"cannot (write|make the folder)") as refused:
            act()
        assert ".part" not in refused.value.cause
        assert "Errno" not in refused.value.cause
        assert refused.value.remedy == "name another place with -o"


DELIVERED = """
import sys
from pathlib import Path
from unittest.mock import Mock
from whybox.cli import telling
named, json, summary = (answer == "True" for answer in sys.argv[1:])
telling.Form.save, telling.Form.show = lambda *_: print("saved"), lambda *_: print("shown")
telling.json_text = lambda _: "printed"
telling.Form(Mock(), summary=summary).deliver(Mock(), "en", Path("x.json") if named else None, json)
"""


@pytest.mark.parametrize(
    ("named", "json", "summary", "expected"),
    [
        (False, False, False, ["shown"]),
        (True, False, False, ["saved", "→", "x.json"]),
        (True, False, True, ["saved", "shown"]),
        (True, True, True, ["saved", "printed"]),
        (False, True, False, ["printed"]),
    ],
)
def test_a_result_goes_where_it_was_asked_for(named: bool, json: bool, summary: bool, expected: list[str]) -> None:
    command = [sys.executable, "-c", DELIVERED, str(named), str(json), str(summary)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == expected


def test_two_processes_that_write_the_same_report_do_not_meet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Path] = []
    replace = Path.replace

    def interrupted_by_another(beside: Path, out: Path) -> Path:
        written.append(beside)
        if len(written) == 1:
            monkeypatch.setattr(os, "getpid", lambda: 1)
            write_whole(out, "the other's")
        return replace(beside, out)

    monkeypatch.setattr(Path, "replace", interrupted_by_another)
    write_whole(tmp_path / "x.txt", "mine")
    assert not list(tmp_path.glob(".*"))
    assert (tmp_path / "x.txt").read_text() == "mine"
    assert len(set(written)) == 2


def test_a_closed_standard_input_is_a_mistake_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(PromptError, match="closed"):
        prompt_of(Mock(spec=Model), "-", chat=False)
