"""JUnit, Markdown and terminal of a run: the same states, estimates and reasons, whatever the texts hold."""

import io
import string
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from tests.report.xsd import faults
from whybox.report.document import GateRow, Lang, ModelInfo, ProbeRow, RunDocument, to_json
from whybox.report.junit import junit
from whybox.report.markdown import markdown
from whybox.report.run_lines import estimate_of
from whybox.report.run_words import RUNS
from whybox.report.text_run import render_run
from whybox.suite.gates import Because

XSD = Path(__file__).with_name("junit.xsd")
HOSTILE = 'a<b<c"><img src=x onerror=alert(1)></script>|\x1b[2J\ud800\ufffe]]> @team [x](http://e)'
HIDDEN = "not revealed"
MODEL = ModelInfo(name="m", family="bot", digest=HIDDEN, engine=HIDDEN, precision=HIDDEN, kernel=HIDDEN)
FLOOR = {"condition": "cold", "items": 12, "calls": 48, "differing": 0, "lost": 0, "bound": 0.06}
STATES = {
    "pass": "shown",
    "fail": "shown",
    "inconclusive": "open",
    "error": "calls-lost",
    "skipped": "not-run",
}


def estimate() -> dict[str, Any]:
    return {
        "statistic": "changed", "estimate": 0.04, "interval": (0.012, 0.069), "n": 100, "floor": 0.003,
        "p": 0.003, "p_adjusted": 0.006,
    }  # fmt: skip


def probe(name: str, verdict: str | None, target: str = "bot") -> ProbeRow:
    row = estimate() | {"unit": "difference", "null_95": 0.021}
    return ProbeRow.model_validate(
        estimate()
        | {
            "probe": name, "kind": "order", "target": target, "verdict": verdict, "calls": 800, "errors": 2,
            "verdict_reason": None if verdict else "no gate", "needs_n": None, "needs_n_reason": "no gate is open",
            "seconds": 12.3456, "estimates": (row,),
        }
    )  # fmt: skip


def gate(name: str, state: str, target: str = "bot") -> GateRow:
    judged = state not in ("error", "skipped")
    return GateRow.model_validate(
        {
            "gate": f"gate of {name}", "probe": name, "target": target, "demand": "changed at_most 0.05",
            "says": "At most 5 points.", "verdict": state, "because": STATES[state],
            "detail": "" if judged else "2 of 9 calls lost",
            "p_holds": 0.2 if judged else None, "p_holds_reason": None if judged else "lost",
            "p_broken": 0.01 if judged else None, "p_broken_reason": None if judged else "lost",
            "needs_n": 240 if state == "inconclusive" else None,
            "needs_n_reason": None if state == "inconclusive" else "settled",
        }
    )  # fmt: skip


def document(lang: Lang = "en", target: str = "bot") -> RunDocument:
    probes = [probe(state, state, target) for state in STATES] + [probe("free", None, target)]
    return RunDocument.model_validate(
        {
            "schema": RunDocument.identity(), "lang": lang, "model": MODEL, "seed": 3, "took_s": 1.0, "suite": "s",
            "suite_digest": "00", "targets": ({"kind": "bot", "model": "m", "name": target},),
            "calls": {"planned": 9, "chosen": 8, "finished": 8, "failed": 2, "cached": 1},
            "floor": (FLOOR | {"target": target},),
            "probes": tuple(probes), "gates": tuple(gate(state, state, target) for state in STATES),
            "verdict": "fail", "exit_code": 1,
        }
    )  # fmt: skip


def test_junit_tells_failure_error_and_skipped_apart_and_is_valid() -> None:
    text = junit(document())
    assert faults(text, XSD) == []
    root = ET.fromstring(text)
    assert {name: root.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6", "failures": "1", "errors": "1", "skipped": "2",
    }  # fmt: skip
    found = {suite.get("name"): [child.tag for child in suite.findall("testcase/*")] for suite in root}
    assert found == {
        "pass · bot": [], "fail · bot": ["failure"], "inconclusive · bot": ["skipped"], "error · bot": ["error"],
        "skipped · bot": ["skipped"], "free · bot": ["system-out"],
    }  # fmt: skip
    failure = root.find(".//failure")
    assert failure is not None
    assert "changed 4.0 points [1.2, 6.9]" in str(failure.text)
    open_one = root.find("testsuite[@name='inconclusive · bot']/testcase/skipped")
    assert open_one is not None
    assert "About 240 more items would settle it." in str(open_one.get("message"))
    properties = {str(each.get("name")): each.get("value") for each in root.findall("testsuite[1]/properties/property")}
    assert properties["changed"] == "0.04"
    assert [properties[f"changed{each}"] for each in (".low", ".floor", ".n")] == ["0.012", "0.003", "100"]
    assert (properties["seed"], properties["errors"]) == ("3", "2")
    assert root[0].get("time") == "12.346"
    assert float(str(root.get("time"))) == pytest.approx(6 * 12.346)


TURNS, BARE = {"unit": "turns"}, {"interval": None, "interval_reason": "none"}
NO_LIFE = {"estimate": None, "estimate_reason": "longer than 20 turns"}


@pytest.mark.parametrize(
    ("changes", "english", "chinese"),
    [
        (TURNS | {"interval": (4.1, 9.0)}, "6.20 turns [4.10, 9.00]", "6.20 轮 [4.10, 9.00]"),
        (BARE | {"unit": "number"}, "6.20", "6.20"),
        (TURNS | BARE | NO_LIFE, "— (longer than 20 turns)", "—（长于 20 轮）"),
    ],
)
def test_what_is_no_rate_is_said_on_its_own_scale(changes: dict[str, Any], english: str, chinese: str) -> None:
    row = (
        estimate()
        | {"statistic": "half-life", "estimate": 6.2, "n": 40, "null_95": None, "null_95_reason": "no null"}
        | changes
    )
    found = ProbeRow.model_validate(probe("p", None).model_dump() | {"estimates": (row,)})
    assert [estimate_of(found, lang) for lang in ("en", "zh")] == [
        f"half-life {english} · n 40 items", f"半衰期 {chinese} · n 40 个样本",
    ]  # fmt: skip


def test_one_answer_that_was_cut_is_one() -> None:
    told = [estimate_of(probe("p", None).model_copy(update={"cut": n}), "en") for n in (0, 1, 2)]
    assert ["answer was cut" in each for each in told] == [False, True, False]
    assert "2 answers were cut" in told[2]


def test_the_validator_finds_what_is_wrong() -> None:
    text = junit(document())
    for right, wrong in [
        ('tests="6"', 'tests="six"'),
        ("<failure", "<warning"),
        ('classname="pass · bot"', 'class="pass · bot"'),
        ('time="12.346"', 'time="NaN"'),
        ("<properties>", "<properties>text"),
    ]:
        spoiled = text.replace(right, wrong).replace("</failure>", "</warning>" if "warning" in wrong else "</failure>")
        assert spoiled != text
        assert faults(spoiled, XSD), wrong


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_hostile_text_stays_text_everywhere(lang: Lang) -> None:
    hostile = document(lang, HOSTILE)
    text = junit(hostile)
    assert faults(text, XSD) == []
    assert 'a<b<c"><img' in str(ET.fromstring(text)[0].get("name"))
    summary = markdown(hostile)
    rows = [line for line in summary.splitlines() if line.startswith("| pass")]
    assert len(rows) == 1
    assert rows[0].replace("\\|", "").count("|") == 5, "a target's name makes no cell of its own"
    assert "<img" not in summary.replace("\\<", "")
    assert "[x](" not in summary
    assert "@team" not in summary
    console = Console(file=io.StringIO(), width=80, force_terminal=True)
    render_run(hostile, console, lang)
    assert "\x1b[2J" not in console.file.getvalue()  # type: ignore[attr-defined]
    assert RunDocument.model_validate_json(to_json(document(lang))) == document(lang)


def test_the_summary_says_the_verdict_first_and_what_is_not_passed() -> None:
    lines = markdown(document()).splitlines()
    assert lines[0] == "## whybox · s · ✗ fail"
    assert sum(line.startswith("| ") for line in lines) == 7
    assert [line[:3] for line in lines if line.startswith("- ")] == ["- ✗", "- ?", "- !", "- –"]


def test_every_sentence_is_there_in_both_languages_with_the_same_blanks() -> None:
    def blanks(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    for english, chinese in RUNS.values():
        assert english != chinese
        assert blanks(english) == blanks(chinese)
    for state, because in STATES.items():
        assert f"because.{because}.{state}" in RUNS
        assert f"state.{state}" in RUNS
    decided = {key.split(".")[1] for key in RUNS if key.startswith("because.")}
    assert decided == {each.value for each in Because}
