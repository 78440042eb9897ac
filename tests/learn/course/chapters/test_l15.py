"""Chapter 15: suites played on bots, and reports graded by what was run."""

import pytest

from tests.learn.course.driving import (
    assert_whole,
    chapter,
    computations,
    failed,
    without_model,
)
from whybox.learn.course.chapters import l15, l15_bots
from whybox.learn.ground import Ground
from whybox.probes.failure_reading import cause_of

WORDS, COMPUTED = chapter("l15"), computations("l15")
SUITE, REPORTS = COMPUTED.judges["suite"], COMPUTED.judges["reports"]
STARTERS = {one.id: one.starter for one in WORDS.exercises if one.kind == "file"}
RIGHT_SUITE = """
suite: mine
targets: [bot:honest]
probes:
  edit: {items: 16}
  memory: {items: 12, runs: 1, depths: [1, 20], explaining: [], explained: 1}
  evidence: {items: 16}
  knowledge: {items: 12, ask: [conflict], ceiling: 4}
gates:
  - {probe: edit, statistic: follows, at_least: 0.8}
  - {probe: memory, statistic: obeyed, at_least: 0.8}
  - {probe: evidence, statistic: right, at_least: 0.8}
  - {probe: knowledge, statistic: follows, at_least: 0.7}
"""
CITED = """
suite: cited
targets: [bot:honest]
probes: {evidence: {items: 12}}
gates: [{probe: evidence, statistic: cited, at_least: 0.9}]
"""
COUNTED = "right: 5, of: 5, retries: 0"
SILENT = "undone_by: none, right: 0, of: 5, retries: 0"
RIGHT_REPORTS = """
reports:
  - {id: r1, saw: "asked for a price, it wrote 76 dollars; 47 is right", undone_by: order, right: 5, of: 5, retries: 0, cause: order, test: order}
  - {id: r2, saw: "it wrote 57 seats where the document says 18", undone_by: renamed, right: 5, of: 5, retries: 0, cause: knowledge, test: knowledge}
  - {id: r3, saw: "it wrote value 18 where 18 seats was asked for", undone_by: lenient, right: 1, of: 1, retries: 0, cause: format, test: edit}
  - {id: r4, saw: "57 seats, and 18 when asked again", undone_by: none, right: 2, of: 5, retries: 2, cause: not-determined, test: consistency}
  - {id: r5, saw: "25 minutes in every run, 45 is right", undone_by: none, right: 0, of: 5, retries: 0, cause: not-determined, test: failure}
"""  # noqa: E501


@pytest.fixture(scope="module")
def ground() -> Ground:
    return without_model()


def test_the_chapter_is_whole(ground: Ground) -> None:
    assert_whole(WORDS, COMPUTED, ground)


def test_bots_get_the_verdicts_of_which_the_words_speak(ground: Ground) -> None:
    rows = {str(row[0]).split("(")[0]: row[1:] for row in COMPUTED.tables["played"](ground)}
    assert rows["honest"] == ("pass",) * 5
    assert rows["tie_flipper"][:2] == ("inconclusive", "fail")
    assert (rows["always_first"][0], rows["always_first"][4]) == ("fail", "fail")
    assert rows["middle_blind"][3] == rows["forgets_at"][2] == "fail"
    effects = {row[0]: row[1:] for row in COMPUTED.tables["order"](ground)}
    assert effects["always_first"][0] == "1.000"
    assert float(str(effects["tie_flipper(epsilon=0.1)"][2])) == pytest.approx(0.18, abs=0.06), "2ε(1 − ε)"


def test_causes_of_the_five(ground: Ground) -> None:
    found = [cause_of(case).name for case in ground.once(l15_bots.failures)]
    assert found == [
        "order",
        "knowledge · overruled",
        "format",
        "not-determined · noise",
        "not-determined · beyond-the-model",
    ]


def test_every_probe_is_asked_for() -> None:
    assert set(l15.BUGS) == {"order", "edit", "memory", "evidence", "documents", "consistency", "knowledge", "failure"}
    assert {probe for *_, probe in (*l15.PATTERNS, *l15.LISTS)} == set(l15.BUGS)


def test_a_suite_that_passes(ground: Ground) -> None:
    remarks = SUITE(RIGHT_SUITE, ground)
    assert (len(remarks), failed(remarks)) == (7, "")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (STARTERS["suite"], "forgets_at(t0=7, q=0.2): –"),
        (STARTERS["suite"].replace("at_most: 0.2", "at_most: 0.0"), "stubborn(s=0.8): –"),
        (CITED, "on honest: evidence.cited error"),
        (STARTERS["suite"].replace("order: {items: 20}", "order: {items: 640}"), "5120 calls for one target"),
        (STARTERS["suite"].replace("statistic: changed", "statistic: none"), "it cannot be read"),
    ],
)
def test_suites_that_fail(text: str, told: str, ground: Ground) -> None:
    assert told in failed(SUITE(text, ground))


def test_reports_that_pass(ground: Ground) -> None:
    remarks = REPORTS(RIGHT_REPORTS, ground)
    assert (len(remarks), failed(remarks)) == (20, "")


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ("it wrote 57 seats where the document says 18", "the attention missed the document", "found 'attention'"),
        ("it wrote 57 seats where the document", "它又抽风了，写成 57 seats，文档", "found '抽风'"),
        (
            f"undone_by: order, {COUNTED}, cause: order",
            f"undone_by: alone, {COUNTED}, cause: context-use",
            "r1: 'context-use' because alone undoes it",
        ),
        ("retries: 2,", "retries: 0,", "r4: the table says 2 of 5, retries 2"),
        (
            f"{SILENT}, cause: not-determined",
            f"{SILENT}, cause: knowledge",
            "r5: 'knowledge' because nothing undoes it",
        ),
        ("test: consistency", "test: vibes", "r4.test: a probe for CI, found 'vibes'"),
        ("undone_by: lenient", "undone_by: prayer", "r3.undone_by: one of order"),
        ("id: r5", "id: r6", "no report r5"),
    ],
)
def test_reports_that_fail(before: str, after: str, told: str, ground: Ground) -> None:
    assert before in RIGHT_REPORTS
    assert told in failed(REPORTS(RIGHT_REPORTS.replace(before, after), ground))


def test_the_starters_fail(ground: Ground) -> None:
    assert "no report r2, r3, r4, r5" in failed(REPORTS(STARTERS["reports"], ground))
