"""`whybox learn --claims`: JSON alone on stdout, pages by suffix, exit 1 where the ledger is broken."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whybox.cli.main import app
from whybox.learn import figures

TOYS = ["C20", "C102"]


def test_json_is_alone_on_stdout() -> None:
    ended = CliRunner().invoke(app, ["learn", "--claims", *TOYS, "--json", "--lang", "zh"])
    document = json.loads(ended.stdout)
    assert (ended.exit_code, ended.stderr) == (0, "")
    assert document["schema"]["name"] == "whybox.claims"
    first, second = document["claims"]
    assert (first["id"], first["status"], first["holds"]) == ("C20", "wrong", True)
    assert first["right"].startswith("0.0743、0.3057、0.6200。")
    assert second["numbers"][0]["value"] == [pytest.approx(11.107, abs=5e-4)]
    assert document["totals"] == {"right": 0, "imprecise": 0, "wrong": 2}


def test_the_terminal_fits_eighty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ended = CliRunner().invoke(app, ["learn", "--claims", "C20", "C96", "--lang", "en"])
    assert ended.exit_code == 0
    assert max(map(len, ended.stdout.splitlines())) <= 80
    assert "✗ wrong" in ended.stdout
    assert "0.0743 / 0.3057 / 0.6200" in ended.stdout
    assert "0.695†" in ended.stdout
    assert "known before anything was recomputed" in ended.stdout


def test_each_suffix_has_its_format(tmp_path: Path) -> None:
    for name, begins in {"x.html": "<!doctype html>", "x.json": "{", "x.txt": "\n2 claims"}.items():
        ended = CliRunner().invoke(app, ["learn", "--claims", *TOYS, "--lang", "en", "-o", str(tmp_path / name)])
        assert (ended.exit_code, ended.stdout) == (0, f"→ {tmp_path / name}\n")
        assert (tmp_path / name).read_text("utf-8").startswith(begins)


def test_a_broken_ledger_ends_with_1(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(figures.TOYS, "worked.row_3", lambda: (0.04, 0.26, 0.7))  # type: ignore[arg-type]
    ended = CliRunner().invoke(app, ["learn", "--claims", *TOYS, "--lang", "en"])
    assert ended.exit_code == 1
    assert "Not as recorded any more: C20." in ended.stdout
    assert "not as recorded: row" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "cause", "remedy"),
    [
        (["C20"], "there is no chapter C20", "chapters are L1"),
        (["C20", "C21"], "one chapter at a time", "--claims for ids"),
        (["--claims", "--check", "x.py"], "--claims takes no answers", "--recite"),
        (["--check", "x.py"], "which chapter is that for?", "whybox learn L4"),
        (["--claims", "C129"], "there is no claim C129", "claims are C1 … C128"),
        (["--claims", "C20", "-o", "x.pdf"], "cannot write .pdf", "FILE.json"),
    ],
)
def test_mistakes_are_told_in_two_lines(arguments: list[str], cause: str, remedy: str) -> None:
    ended = CliRunner().invoke(app, ["learn", *arguments])
    first, second = ended.stderr.strip().splitlines()
    assert ended.exit_code == 2
    assert cause in first
    assert remedy in second
