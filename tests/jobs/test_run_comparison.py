"""Two runs of a suite, paired: the same target twice, a worse one, another suite."""

import io
import shutil
import sqlite3
from pathlib import Path

import pytest
import typer
from rich.console import Console

from tests.jobs.test_run_suite import opened, ran
from whybox.cli.report import report
from whybox.errors import UsageError
from whybox.jobs.run import RunOptions, prepare, run_suite
from whybox.jobs.run_calls import calls_of
from whybox.jobs.run_comparison import compare_runs
from whybox.report.document import ComparisonDocument, to_json
from whybox.report.html import comparison_page
from whybox.report.text_comparison import render_comparison


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    found = {}
    for name, bot, items in [
        ("honest", "bot:honest", 20),
        ("again", "bot:honest", 20),
        ("first", "bot:always_first", 20),
        ("few", "bot:honest", 6),
    ]:
        folder = tmp_path_factory.mktemp(name)
        ran(folder, bot, items=items)
        found[name] = folder / "out"
    return found


def told(document: ComparisonDocument) -> list[str]:
    console = Console(file=io.StringIO(), width=200)
    render_comparison(document, console, "en")
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined,no-any-return]


def test_the_calls_of_a_run_are_there_with_texts_and_scores(runs: dict[str, Path]) -> None:
    found = calls_of(runs["first"])
    probed = [call for call in found.calls if call.probe == "order"]
    assert len(probed) == 160
    assert {call.outcome for call in probed} == {"right", "wrong"}
    wrong = next(call for call in probed if call.outcome == "wrong")
    assert wrong.candidate
    assert wrong.candidate != wrong.right
    assert wrong.right in found.prompts[wrong.prompt][-1][1]
    assert all(call.outcome is None for call in found.calls if call.probe != "order")


def test_the_same_target_twice_shows_no_difference(runs: dict[str, Path]) -> None:
    found = compare_runs(runs["honest"], runs["again"])
    assert (found.shown, found.matched, found.only_first, found.only_second) == ("alike", 80, 0, 0)
    assert not found.same_run
    assert told(found)[0] == "= Nothing differs: all 80 answers are the same, word for word."
    assert "?" not in "".join(told(found))
    assert found.settings == ()
    assert found.changed == ()
    assert all((row.worse, row.better, row.texts_changed, row.p_adjusted) == (0, 0, 0, 1) for row in found.rows)
    assert compare_runs(runs["honest"], runs["again"], 0.5).shown == "same"
    assert compare_runs(runs["honest"], runs["again"], 0.02).shown == "alike", "twenty items cannot show two points"


def test_a_run_beside_itself_is_the_same_run(runs: dict[str, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs["first"], tmp_path / "copy")
    for other in (runs["first"], copy):
        found = compare_runs(runs["first"], other, 0.02)
        assert (found.same_run, found.rows, found.probes, found.shown) == (True, (), (), "alike")
        assert told(found)[0] == "= The same run: its 80 answers are compared with themselves."
        assert len(told(found)) == 2
        assert "同一次测试" in comparison_page(found, "zh")
        assert 'id="differences"' not in comparison_page(found, "en")


def test_texts_that_differ_are_not_alike(runs: dict[str, Path], tmp_path: Path) -> None:
    copy = shutil.copytree(runs["again"], tmp_path / "copy")
    with sqlite3.connect(copy / "run.sqlite") as database:
        changed = 'replace(record, \'"text":"\', \'"text":"So: \')'
        arm = database.execute("SELECT arm FROM outcomes WHERE probe = 'order' AND run = 0 LIMIT 1").fetchone()
        database.execute(f"UPDATE outcomes SET record = {changed} WHERE probe = 'order' AND run = 0 AND arm = ?", arm)
    database.close()
    found = compare_runs(runs["honest"], copy)
    assert found.shown == "open"
    assert {row.arm: row.shown for row in found.rows}[arm[0]] == "open"
    assert "alike" in {row.shown for row in found.rows}


def test_a_worse_target_is_shown_to_be_worse(runs: dict[str, Path]) -> None:
    found = compare_runs(runs["honest"], runs["first"])
    turned = compare_runs(runs["first"], runs["honest"])
    assert (found.shown, turned.shown) == ("worse", "better")
    for row, other in zip(found.rows, turned.rows, strict=True):
        assert row.difference == pytest.approx(-(other.difference or 0))
        assert row.interval is not None
        assert row.difference is not None
        assert row.interval[0] <= row.difference <= row.interval[1] < 0
        assert row.difference == (row.better - row.worse) / row.n
    (probe,) = found.probes
    assert (probe.arm, probe.n, probe.lost, probe.shown) == ("", 20, 0, "worse")
    assert probe.difference == pytest.approx(sum(row.difference or 0 for row in found.rows) / len(found.rows))
    assert probe.interval is not None
    assert probe.interval[0] < probe.difference < probe.interval[1] < 0  # type: ignore[operator]
    assert len(found.changed) == sum(row.worse + row.better for row in found.rows)
    assert {"target: model"} <= {row.name for row in found.settings}
    assert ComparisonDocument.model_validate_json(to_json(found)) == found
    said = "\n".join(told(found))
    assert "✗ The second run is shown to be worse." in said
    assert "  ✗ order  −" in said


def test_items_in_one_run_only_are_counted_and_nothing_in_common_is_refused(
    runs: dict[str, Path], tmp_path: Path
) -> None:
    found = compare_runs(runs["honest"], runs["few"])
    assert (found.matched, found.only_first, found.only_second) == (24, 56, 0)
    assert "suite digest" in {row.name for row in found.settings}
    suite = tmp_path / "whybox.yaml"
    ran(tmp_path, "bot:honest", items=2)
    suite.write_text(suite.read_text().replace("order: {", "order: {language: zh, "))
    run_suite(prepare(suite, RunOptions(), opened), RunOptions(), tmp_path / "zh")
    with pytest.raises(UsageError, match="no prompt with a score in common"):
        compare_runs(runs["honest"], tmp_path / "zh")


def test_the_command_ends_with_1_where_it_is_worse_and_writes_a_page(
    runs: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "two.html"
    with pytest.raises(typer.Exit) as ended:
        report(runs["first"], runs["honest"], out=out)
    assert ended.value.exit_code == 1
    assert "shown to be worse" in out.read_text(encoding="utf-8")
    page = tmp_path / "one.html"
    report(runs["first"], out=page)
    assert capsys.readouterr().out.splitlines() == [f"→ {out}", f"→ {page}"]
    assert "Calls" in page.read_text(encoding="utf-8")
