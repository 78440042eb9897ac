"""What is kept is kept: by two at once, whole at any moment, and never over a file that is not understood."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from whybox.errors import FormatError, StorageError
from whybox.learn.course.progress import Progress


def test_a_prediction_is_stored_once_and_a_pass_stays(tmp_path: Path) -> None:
    progress = Progress(tmp_path / "deep" / "course.json")
    assert progress.read().chapters == {}
    progress.predicted("L4", {"row": ("1", "2")})
    progress.predicted("L4", {"row": ("3",), "other": ("x",)})
    assert progress.attempted("L4", "softmax", False) == 1
    assert progress.attempted("L4", "softmax", True) == 2
    assert progress.attempted("L4", "softmax", False) == 3
    progress.recited("L4", 5, 60.0)
    progress.recited("L4", 3, None)
    done = Progress(progress.path).read().of("L4")
    assert {name: stored.said for name, stored in done.predicted.items()} == {"row": ("1", "2"), "other": ("x",)}
    assert (list(done.passed), done.attempts) == (["softmax"], {"softmax": 3})
    assert done.recited is not None
    assert (done.recited.found, done.recited.seconds) == (5, 60.0)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("{", "the whole file"), ("", "the whole file"), ("[]", "the whole file"),
        ('{"schema": "whybox.progress 2", "chapters": {}}', "schema"),
        ('{"schema": "whybox.progress 1", "chapters": {"L1": {"predicted": 3}}}', "chapters.L1.predicted"),
        ('{"schema": "whybox.progress 1", "more": 1}', "more"),
    ],
)  # fmt: skip
def test_what_is_not_understood_is_refused_and_left_alone(text: str, field: str, tmp_path: Path) -> None:
    path = tmp_path / "course.json"
    path.write_text(text, "utf-8")
    for act in (lambda p: p.read(), lambda p: p.attempted("L1", "x", True)):
        with pytest.raises(FormatError, match="WHYBOX_PROGRESS") as refused:
            act(Progress(path))
        assert refused.value.field == field
    assert path.read_text("utf-8") == text
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="UTF-8"):
        Progress(path).read()


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="WHYBOX_PROGRESS"):
        Progress(tmp_path / "file" / "course.json").attempted("L1", "x", True)


TWENTY = """
import sys
from pathlib import Path
from whybox.learn.course.progress import Progress
for number in range(20):
    Progress(Path(sys.argv[1])).attempted("L1", sys.argv[2], number == 7)
"""


def test_a_file_that_is_no_json_is_told_in_order(tmp_path: Path) -> None:
    (tmp_path / "course.json").write_text("{", "utf-8")
    with pytest.raises(FormatError) as refused:
        Progress(tmp_path / "course.json").read()
    assert refused.value.expected == "JSON"
    assert "Invalid JSON" not in str(refused.value)


def test_several_processes_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "course.json"
    names = ("a", "b", "c")
    running = [subprocess.Popen([sys.executable, "-c", TWENTY, str(path), name]) for name in names]
    assert [process.wait(60) for process in running] == [0, 0, 0]
    assert json.loads(path.read_text("utf-8"))["chapters"]["L1"]["attempts"] == dict.fromkeys(names, 20)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["course.json", "course.json.lock"]


def test_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_PROGRESS", str(tmp_path / "mine.json"))
    assert Progress().path == tmp_path / "mine.json"
    monkeypatch.delenv("WHYBOX_PROGRESS")
    monkeypatch.setenv("WHYBOX_HOME", str(tmp_path))
    assert Progress().path == tmp_path / "course.json"
