"""`whybox look` as a process: table, CSV, JSON, and how mistakes end."""

import csv
import io
import json
import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from tests.cli.test_next import run
from tests.models import model_path
from whybox.cli.look import Heads, _picture
from whybox.report.draw import Budget, HeadAt, ModelView

pytestmark = pytest.mark.model
TEXT = "The quick brown fox jumps over the lazy dog. The quick brown fox"


Look = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="module")
def look() -> Look:
    """`whybox look` on the default model, which is found before the tests are cut off from the machine's own."""
    return partial(run, "look", "-m", str(model_path("smollm2")))


def test_a_table_of_eighty_columns(look: Look, tmp_path: Path) -> None:
    ended = look(TEXT, "--layer", "18", "-o", str(tmp_path / "a.json"))
    assert (ended.returncode, ended.stdout) == (0, f"→ {tmp_path / 'a.json'}\n")
    document = json.loads((tmp_path / "a.json").read_text("utf-8"))
    assert document["schema"] == {"name": "whybox.look", "version": 1}
    ended = look(TEXT, "--layer", "18", "--lang", "zh")
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert "第 18 层的头" in ended.stdout
    assert "18.6" in ended.stdout


def test_csv_holds_every_head(look: Look) -> None:
    rows = list(csv.DictReader(io.StringIO(look(TEXT, "--csv", "--quiet").stdout)))
    assert len(rows) == 270
    best = max(rows, key=lambda row: float(row["induction"]))
    assert (best["layer"], best["head"]) == ("18", "6")
    assert float(best["decision prompt"]) == pytest.approx(1, abs=1e-3)
    assert "induction" in best["classes"].split()


def test_the_page_is_written_with_the_head_that_was_asked_for(look: Look, tmp_path: Path) -> None:
    ended = look(TEXT, "--layer", "18", "--head", "6", "--lang", "zh", "-o", str(tmp_path / "a.html"))
    assert (ended.returncode, ended.stdout) == (0, f"→ {tmp_path / 'a.html'}\n")
    page = (tmp_path / "a.html").read_text("utf-8")
    assert page.startswith('<!doctype html>\n<html lang="zh-Hans">')
    assert '"queries":[{"layer":18,"head":6,"group":2' in page


def test_a_picture_is_written_by_its_suffix(look: Look, tmp_path: Path) -> None:
    assert look(TEXT, "--picture", "budget", "-o", str(tmp_path / "a.svg")).returncode == 0
    assert (tmp_path / "a.svg").read_text("utf-8").startswith("<svg ")


def test_which_picture_is_drawn() -> None:
    assert _picture(None, Heads()) == ModelView()
    assert _picture(None, Heads(18)) == ModelView()
    assert _picture(None, Heads(18, 6)) == HeadAt(18, 6)
    assert _picture("model", Heads(18, 6)) == ModelView()
    assert _picture("budget", Heads()) == Budget()


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["x"], "the prompt has one token"),
        ([TEXT, "--sort", "sinc"], "heads have no column 'sinc'"),
        ([TEXT, "--head", "3"], "--head needs --layer"),
        ([TEXT, "--csv", "--json"], "both want stdout"),
        ([TEXT, "--layer", "30"], "no layer 30"),
        ([TEXT, "-o", "x.pdf"], "cannot write .pdf"),
        ([TEXT, "--picture", "head", "-o", "x.png"], "--picture head needs --layer and --head"),
        (["nowhere.yaml"], "nowhere.yaml"),
    ],
)
def test_a_mistake_is_one_line_and_its_remedy(look: Look, arguments: list[str], line: str) -> None:
    ended = look(*arguments)
    assert ended.returncode == 2
    assert line in ended.stderr
    assert len(ended.stderr.splitlines()) <= 2
    assert ended.stdout == ""
