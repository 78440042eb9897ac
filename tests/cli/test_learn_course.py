"""`whybox learn` at a terminal: the outline, a chapter, files that are handed in, and a whole session."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import Result
from typer.testing import CliRunner

from tests.learn.course.chapters.test_l04 import ATTENTION
from tests.learn.course.driving import without_model
from whybox.cli.learn_session import _Session
from whybox.cli.main import app
from whybox.learn.course.course import Course
from whybox.learn.course.progress import Progress

PREDICTED = "row: [0.1, 0.3, 0.6]\nsharper: best\n"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WHYBOX_PROGRESS", str(tmp_path / "course.json"))
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.chdir(tmp_path)


def learn(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["learn", *arguments, "--lang", "en"])


def test_the_outline() -> None:
    ended = learn()
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert "· L4     Attention by hand: a soft lookup" in ended.stdout
    assert "8. use pictures of attention beside the output" in ended.stdout
    document = json.loads(learn("--json").stdout)
    assert document["schema"]["name"] == "whybox.course"
    assert CliRunner().invoke(app, ["learn", "--lang", "zh"]).stdout.count("手算") == 1


def test_where_nobody_can_be_asked_a_chapter_shows_its_questions() -> None:
    ended = learn("L4")
    assert ended.exit_code == 0
    assert "Row 3, the weights of 退款" in ended.stdout
    assert "first comes your prediction: 2 still to be made" in ended.stdout
    assert "0.0743" not in ended.stdout
    assert "whybox learn L4 --answers FILE" in ended.stderr
    assert learn("L4", "--quiet").stderr == ""


def test_answers_from_a_file(tmp_path: Path) -> None:
    answers = tmp_path / "answers.yaml"
    answers.write_text(PREDICTED + "softmax: .67 .24 .09\n", "utf-8")
    ended = learn("l4", "--answers", str(answers))
    assert ended.exit_code == 0
    assert "you: 0.1   computed: 0.07" in ended.stdout
    assert "def one_head(" in ended.stdout
    assert "whybox/parts/attention.py" in ended.stdout
    assert "earlier prediction" not in ended.stdout
    answers.write_text("row: .07 .31 .62\n", "utf-8")
    late = learn("l4", "--answers", str(answers))
    assert "An earlier prediction stands; .07 .31 .62 is not stored." in late.stdout
    assert "you: 0.1   computed: 0.07" in late.stdout
    answers.write_text(json.dumps({"softmax": ".67 .24 .10"}), "utf-8")
    failed = learn("l4", "--answers", str(answers), "--json")
    assert failed.exit_code == 1
    row = json.loads(failed.stdout)["exercises"][0]
    assert (row["passed"], row["graded"]["passed"]) == (True, False)


def test_code_is_checked(tmp_path: Path) -> None:
    file = tmp_path / "l04_attention.py"
    file.write_text(ATTENTION, "utf-8")
    ended = learn("L4", "--check", str(file))
    assert (ended.exit_code, "✓ causal mask, weights: as expected" in ended.stdout) == (0, True)
    file.write_text("def attention(Q, K, V, mask):\n    return Q @ K, 1\n", "utf-8")
    failed = learn("L4", "--check", str(file))
    assert failed.exit_code == 1
    assert "line 2: return Q @ K, 1" in failed.stdout
    other = file.rename(tmp_path / "mine.py")
    assert "which exercise is" in learn("L4", "--check", str(other)).stderr
    assert learn("L4", "--check", str(other), "--exercise", "attention").exit_code == 1


def test_a_verdict_is_told_although_nothing_can_be_kept(tmp_path: Path) -> None:
    (tmp_path / "course.json").write_text("[", "utf-8")
    file = tmp_path / "l04_attention.py"
    file.write_text(ATTENTION, "utf-8")
    ended = learn("L4", "--check", str(file))
    assert (ended.exit_code, "passed" in ended.stdout) == (0, True)
    assert "This result is not kept." in ended.stdout
    assert (tmp_path / "course.json").read_text("utf-8") == "["


def test_a_recital_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "told.txt").write_text("A query looks, a key labels, 加权求和", "utf-8")
    ended = learn("L4", "--recite", str(tmp_path / "told.txt"))
    assert (ended.exit_code, "3 of 8 stations were told" in ended.stdout) == (0, True)
    assert "✗ value: what is handed over" in ended.stdout
    assert "says nothing of how well" in ended.stdout


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b"\xff\xfe", "is not UTF-8 text"), (b"[1]", "expected answers by question"),
        (b"a: [", "neither YAML nor JSON"),
        (b"row: null", "row has no answer"), (b"nothing: 1", "L4 has no exercise 'nothing'"),
        (b"row: x y z", "'x' is not a number"), (b"x" * 1_000_001, "more than 1,000,000 bytes"),
    ],
)  # fmt: skip
def test_bad_files_are_told(content: bytes, cause: str, tmp_path: Path) -> None:
    file = tmp_path / "answers.yaml"
    file.write_bytes(content)
    ended = learn("L4", "--answers", str(file))
    assert ended.exit_code == 2
    assert cause in ended.stderr.splitlines()[0]
    assert len(ended.stderr.strip().splitlines()) <= 2
    assert learn("L4", "--answers", str(tmp_path / "none.yaml")).exit_code == 3


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> Iterator[str]:
    left = iter(lines)

    def answer(_prompt: str = "") -> str:
        try:
            return next(left)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", answer)
    return left


def test_a_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    typed(monkeypatch, ".1 .2", ".1 .2 .7", "2", ".67 .24 .09", "", "1 2 3 3 1", "sharp", "query, key, value", "", "x")
    course = Course(without_model(), Progress())
    _Session(course, "L4", "en", quiet=True).run()
    told = capsys.readouterr().out
    for line in (
        "row: expected 3 numbers, found 2", "you: .2   computed: 0.31", "✓ weight of 2: you: .67", "passed",
        "3 of 4 judged right; a pass takes 4", "whybox learn L4 --check l04_attention.py", "3 of 8 stations were told",
    ):  # fmt: skip
        assert line in told
    assert told.index("0.0743") > told.index("2. best: the value of")
    assert (tmp_path / "l04_attention.py").read_text("utf-8") == course.starter("L4", "attention")
    done = course.progress.read().of("L4")
    assert (set(done.passed), done.attempts["differs"], "missing" in done.attempts) == ({"softmax", "roles"}, 1, False)


def test_a_session_that_ends_early_keeps_what_was_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    typed(monkeypatch, ".1 .2 .7")
    course = Course(without_model(), Progress())
    _Session(course, "L4", "zh", quiet=True).run()
    assert course.words("L4", "zh").waiting == ("sharper",)

    def interrupted(_prompt: str = "") -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    with pytest.raises(KeyboardInterrupt, match=r"kept in .*course\.json"):
        _Session(course, "L4", "zh", quiet=True).run()


def test_what_lies_there_is_left_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "l04_attention.py").write_text("mine", "utf-8")
    typed(monkeypatch, ".1 .2 .7", "2", "", "", "", "", "")
    _Session(Course(without_model(), Progress()), "L4", "en", quiet=True).run()
    assert (tmp_path / "l04_attention.py").read_text("utf-8") == "mine"
