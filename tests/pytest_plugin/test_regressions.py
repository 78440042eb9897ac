"""Suites of findings as tests: collected when asked for, judged on the prompts that they name."""

import pytest

import whybox.pytest_plugin.regressions
import whybox.suite.regression  # noqa: F401
from tests.pytest_plugin.conftest import Run

pytest_plugins = "pytester"

SUITE = """
suite: hall
model: {bot}
cases:
  - id: hall
    prompt:
      - role: user
        parts:
          - {{name: doc1, text: "The hall of the Jorfodai station has {{other}} seats."}}
          - {{name: doc2, text: "The hall of the Velsalin station has {{right}} seats."}}
          - {{name: question, text: "How many seats does the hall of the Velsalin station have?"}}
    vary: {{right: [17, 25, 39], other: [31, 20, 64]}}
    answer: {{right: "{{right}} seats", wrong: "{{other}} seats", kind: number}}
    evidence: [doc2]
tests:
  - {{name: right, case: hall, probe: case, known_failing: {known}}}
  - {{name: every place, case: hall, probe: evidence, evidence: [doc2], parts: [doc1, doc2]}}
  - {{name: any order, case: hall, probe: order, parts: [doc1, doc2]}}
  - {{name: follows, case: hall, probe: changed, evidence: [doc2]}}
  - {{name: legal, case: hall, probe: format}}
  - {{name: same ids, case: hall, probe: diff, ids: [1, 2], switch: fp32}}
"""


def written(pytester: pytest.Pytester, bot: str, known: bool = False) -> None:
    (pytester.path / "hall.yaml").write_text(SUITE.format(bot=bot, known=str(known).lower()))


def test_a_reader_of_the_last_passage_fails_where_the_order_matters(run: Run, pytester: pytest.Pytester) -> None:
    written(pytester, "bot:always_first")
    result = run("", "hall.yaml")
    result.assert_outcomes(passed=1, failed=4, skipped=1)
    result.stdout.fnmatch_lines_random([
        "evidence · bot:always_first: every place: place 1 9 of 9, place 2 0 of 9 (at least 80%)",
        "*any order: 100.0 points of answers change (at most 5), 9 prompts",
        "  right: expected '17 seats', got *31*",
    ])  # fmt: skip


def test_a_known_failure_is_expected_and_files_are_named_by_the_ini(run: Run, pytester: pytest.Pytester) -> None:
    written(pytester, "bot:always_first", known=True)
    run("").assert_outcomes()
    pytester.makeini("[pytest]\nwhybox_files = *.yaml")
    run("").assert_outcomes(xfailed=1, passed=1, failed=3, skipped=1)


def test_another_target_and_a_file_that_is_no_suite(run: Run, pytester: pytest.Pytester) -> None:
    written(pytester, "bot:always_first")
    run("", "hall.yaml", "--whybox-target=bot:always_last").assert_outcomes(passed=3, failed=2, skipped=1)
    (pytester.path / "other.yaml").write_text("a: 1")
    result = run("", "other.yaml")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*other.yaml: *one of suite, version, *found*"])
