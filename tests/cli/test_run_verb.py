"""`whybox init` and `whybox run` as a person types them, on a bot."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from whybox.cli.main import app
from whybox.report.document import RunDocument


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WHYBOX_HOME", str(tmp_path / "home"))
    return tmp_path


def written(here: Path, bot: str, items: int, *words: str) -> Path:
    """A suite as `init` writes it, made small."""
    assert typed("init", "-m", bot, *words)[0] == 0
    suite = here / "whybox.yaml"
    suite.write_text(re.sub(r"items: \d{2,}", f"items: {items}", suite.read_text()))
    return suite


def typed(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [*words])
    return result.exit_code, result.stdout, result.stderr


def test_a_suite_is_written_planned_run_and_reported(here: Path) -> None:
    written(here, "bot:honest", 3)
    assert typed("init")[0] == 2, "a file that is there is not replaced"
    code, out, _ = typed("run", "--dry-run", "--lang", "en")
    assert code == 0
    assert "order" in out
    assert not (here / "whybox-run").exists()
    code, out, err = typed("run", "--lang", "en")
    assert code == 0, err
    assert "order · bot:honest  · measured, no gate" in out
    assert "changed 0.0 points" in out
    assert {path.name for path in (here / "whybox-run").iterdir()} >= {
        "run.sqlite", "report.json", "junit.xml", "summary.md",
    }  # fmt: skip
    assert "finds" in err
    code, _, err = typed("run", "--lang", "en")
    assert (code, "finds" in err) == (0, False), "nothing is left, so no plan is shown"
    code, out, _ = typed("run", "--json", "--quiet")
    assert code == 0
    assert RunDocument.model_validate_json(out).calls.chosen == json.loads(out)["calls"]["chosen"] == 81
    code, shown, _ = typed("report", "--lang", "en")
    assert (code, "changed 0.0 points" in shown) == (0, True)
    assert typed("report", "-o", "again.xml")[0] == 0
    assert (here / "again.xml").read_text() == (here / "whybox-run" / "junit.xml").read_text()
    assert typed("report", "elsewhere")[0] == 2


def test_gates_decide_the_exit_code_and_faults_have_theirs(here: Path) -> None:
    suite = written(here, "bot:always_first", 12)
    gated = suite.read_text().replace("# gates:", "gates:").replace("#   - {probe: order", "  - {probe: order")
    suite.write_text(gated)
    code, out, _ = typed("run", "--lang", "en", "--quiet", "--filter", "order")
    assert code == 1
    assert "✗" in out
    code, _, err = typed("run", "nothing.yaml")
    assert (code, "found no file" in err) == (2, True)
    code, _, err = typed("run", "--quiet", "--filter", "nothing")
    assert (code, "no call fits" in err) == (2, True)
    suite.write_text(suite.read_text().replace("seed: 0 ", "seed: 4 "))
    code, _, err = typed("run", "--quiet", "--seed", "0", "--filter", "order")
    assert code == 1, "the seed that was typed, and nothing else, replaces that of the suite"
    code, _, err = typed("run", "--quiet")
    assert (code, "another run: seed: 0 there, 4 here" in " ".join(err.split())) == (2, True)


def test_a_report_in_another_language_says_its_gates_in_that_language(here: Path) -> None:
    suite = written(here, "bot:always_first", 12)
    suite.write_text(suite.read_text() + "\ngates:\n  - {probe: order, statistic: changed, at_most: 0.05}\n")
    assert typed("run", "--quiet", "--lang", "en", "--filter", "order")[0] == 1
    for name in ("r.html", "r.xml"):
        assert typed("report", "--lang", "zh", "-o", name)[0] == 0
        told = (here / name).read_text("utf-8")
        assert "改变的答案比原样重问最多多 5 个百分点" in told
        assert name == "r.html" or "Reordering independent parts" not in told  # the page holds its document as well
    assert "Reordering independent parts" in typed("report", "--lang", "en")[1].replace("\n", " ")
    assert "Reordering independent parts" in typed("report")[1].replace("\n", " ")


def test_a_plan_as_json_says_what_is_not_known(here: Path) -> None:
    written(here, "bot:honest", 3)
    code, out, _ = typed("run", "--dry-run", "--json")
    plan = json.loads(out)
    assert code == 0
    assert plan["schema"] == {"name": "whybox.plan", "version": 1}
    assert [row["probe"] for row in plan["rows"]][:2] == ["floor", "order"]
    assert plan["rows"][1]["calls"] == 3 * 4 * 2
    assert plan["seconds"] is None
    assert "not known" in plan["seconds_reason"]
