"""Assertions on bots whose truth is known: held, not held, left open, and what is none of these."""

import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from tests.documents import ROOT
from tests.pytest_plugin.conftest import Run

pytest_plugins = "pytester"

ORDER = """
@pytest.mark.whybox(target="{bot}")
def test_order(whybox_target):
    assert_order_invariant(whybox_target, items={items}, units=3)
"""
INVARIANT, BIASED = ORDER.format(bot="bot:honest(p=1.0)", items=60), ORDER.format(bot="bot:always_first", items=12)
OPEN = ORDER.format(bot="bot:honest(p=1.0)", items=6)


def test_what_holds_passes_and_is_told(run: Run) -> None:
    result = run(INVARIANT)
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*= whybox =*", "pass: order · bot:honest(p=1.0): changed 0.0 points*n 60 items*"])


def test_what_does_not_hold_fails_with_its_numbers(run: Run) -> None:
    result = run(BIASED)
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines([
        "E*NotHeld: order · bot:always_first: changed * points [[]*[]]*floor 0.0*n 12 items*",
        "E*fail: Reordering independent parts changes at most 5 points more answers*",
        "E*again by hand: whybox run *whybox.yaml -o *",
    ])  # fmt: skip


@pytest.mark.parametrize(("policy", "outcome"), [("skip", "skipped"), ("xfail", "xfailed"), ("fail", "failed")])
def test_what_is_open_never_passes(run: Run, policy: str, outcome: str) -> None:
    result = run(OPEN, f"--whybox-inconclusive={policy}")
    result.assert_outcomes(**{outcome: 1})
    result.stdout.fnmatch_lines_random(["*more items would settle it*", "inconclusive: order *"])


def test_a_dead_endpoint_is_an_error_even_where_a_failure_is_expected(
    run: Run, monkeypatch: pytest.MonkeyPatch, pytester: pytest.Pytester
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    text = ORDER.format(bot="openai:nobody", items=2)
    result = run(f"@pytest.mark.xfail\n{text.strip()}", "--junitxml=found.xml")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["EndpointError: *127.0.0.1:9*"])
    case = ET.parse(pytester.path / "found.xml").getroot().find(".//testcase")
    assert case is not None
    assert [child.tag for child in case if child.tag != "properties"] == ["error"]


def test_a_plan_beyond_the_budget_is_refused_before_a_call(run: Run) -> None:
    result = run(INVARIANT, "--whybox-budget=100")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["UsageError: this assertion would make 732 calls, the budget is 100"])


def test_evidence_turns_and_repeats(run: Run) -> None:
    result = run("""
@pytest.mark.whybox(target="bot:reader(e=0.0)")
def test_reads(whybox_target):
    assert_uses_evidence(whybox_target, items=20)

@pytest.mark.whybox(target="bot:forgets_geometric(h=1.0)")
def test_forgets(whybox_target):
    assert_survives_turns(whybox_target, turns=10, items=12)

@pytest.mark.whybox(target="bot:honest(p=1.0)")
def test_repeats(whybox_target):
    assert_consistent(whybox_target)

@pytest.mark.whybox(target="bot:tie_flipper(epsilon=0.4)")
def test_does_not_repeat(whybox_target):
    assert_consistent(whybox_target, items=20)
""")
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines_random(["pass: evidence *: follows 100.0 % *", "fail: memory *", "fail: consistent *"])


def test_what_is_open_says_how_many_items_are_missing_in_its_one_line(run: Run) -> None:
    result = run(OPEN, "-rs")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines_random(
        ["SKIPPED*changed *About * more items would settle it.*", "inconclusive: order *About * more items*"]
    )


def test_fields_that_cannot_be_are_told_of_the_assertion_and_not_of_a_file(run: Run) -> None:
    result = run("""
@pytest.mark.whybox(target="bot:honest")
def test_it(whybox_target):
    assert_order_invariant(whybox_target, parts=["only"])
""")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["UsageError: an assertion on order: parts: expected at least 2 entries, found 1*"])
    result.stdout.no_fnmatch_line("*whybox.yaml*")


def test_a_prompt_of_ones_own(run: Run, pytester: pytest.Pytester) -> None:
    Path(pytester.path / "refund.yaml").write_text(
        """
id: refund
prompt:
  - role: user
    parts:
      - {name: doc1, text: "Exchanges are accepted for {other} days."}
      - {name: doc2, text: "Refunds are paid within {right} days."}
      - {name: question, text: "How long does a refund take?"}
vary: {right: [17, 25, 39], other: [31, 20, 64]}
answer: {right: "{right} days", wrong: "{other} days", kind: number}
evidence: [doc2]
"""
    )
    result = run("""
@pytest.mark.whybox(target="bot:always_first", prompt="refund.yaml")
def test_mine(whybox_target, whybox_prompt):
    assert whybox_prompt.id == "refund"
    assert_order_invariant(whybox_target, whybox_prompt, parts=["doc1", "doc2"])
""")
    result.assert_outcomes(skipped=1)
    result.stdout.fnmatch_lines(["*order · bot:always_first: changed * points*n 9 items*"])


def test_the_command_line_and_the_ini_file_name_the_target(run: Run, pytester: pytest.Pytester) -> None:
    text = """
def test_who(whybox_target):
    assert isinstance(whybox_target.ask("Hello?"), str)
    print(whybox_target.settings)
"""
    pytester.makeini("[pytest]\nwhybox_target = bot:honest\nwhybox_seed = 7")
    by_file, by_option = run(text), run("", "--whybox-target=bot:reader")
    for result, bot in ((by_file, "honest"), (by_option, "reader")):
        result.assert_outcomes(passed=1)
        result.stdout.fnmatch_lines([f"*target='bot:{bot}', seed=7*"])


@pytest.mark.parametrize("mark", ["seed='x'", "budgt=3", "inconclusive='ignore'"])
def test_a_marker_that_says_nothing_is_refused(run: Run, mark: str) -> None:
    result = run(f"@pytest.mark.whybox({mark})\ndef test_it(whybox_target):\n    pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*UsageError: *expected *found *"])


def test_workers_share_what_one_of_them_found(run: Run, pytester: pytest.Pytester) -> None:
    pytester.makeconftest("""
import pathlib
from whybox.pytest_plugin import experiment
from whybox.jobs import run
inner = experiment.run_suite
def counted(*given):
    with open(pathlib.Path(__file__).parent / "runs", "a") as file:
        file.write("run\\n")
    return inner(*given)
experiment.run_suite = counted
""")
    tests = "".join(f"{INVARIANT.replace('test_order', f'test_{i}')}\n" for i in range(4))
    result = run(tests, "-n2", "--dist=load")
    result.assert_outcomes(passed=4)
    assert (pytester.path / "runs").read_text() == "run\n"


def test_every_assertion_says_the_same_on_workers(run: Run) -> None:
    """What holds and what does not, with its numbers, whichever worker asked."""
    result = run(
        """
MARK = pytest.mark.whybox
@MARK(target="bot:always_first")
def test_order(whybox_target):
    assert_order_invariant(whybox_target, items=12, units=3)

@MARK(target="bot:reader(e=0.0)")
def test_reads(whybox_target):
    assert_uses_evidence(whybox_target, items=20)

@MARK(target="bot:forgets_geometric(h=1.0)")
def test_forgets(whybox_target):
    assert_survives_turns(whybox_target, turns=10, items=12)

@MARK(target="bot:honest(p=1.0)")
def test_repeats(whybox_target):
    assert_consistent(whybox_target)
""",
        "-n2",
        "--dist=load",
    )
    result.assert_outcomes(passed=2, failed=2)
    result.stdout.fnmatch_lines_random(
        ["E*NotHeld: order · bot:always_first: changed * points *n 12 items*", "E*NotHeld: memory *"]
    )


def test_pytest_starts_without_numpy_and_torch(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT / "src"))
    names = "{'numpy', 'scipy', 'torch', 'pydantic'} & set(sys.modules)"
    found = pytester.run(sys.executable, "-c", f"import sys, whybox.pytest_plugin; print({names})")
    assert found.outlines == ["set()"]
