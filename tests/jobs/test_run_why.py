"""From a failed item to its mechanism: on planted weights whose cause is known, and what cannot be explained."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.report.run_fixtures import run as reported
from whybox.errors import UsageError
from whybox.items.case import Case
from whybox.items.instance import CaseInstance
from whybox.jobs.run import BrokenOff, RunOptions, kept_document, prepare, run_suite, target_from
from whybox.jobs.run_why import HowAnswered, failed_items, mechanism_of
from whybox.jobs.why import WhyOptions, why
from whybox.model import Model
from whybox.probes.design import Deciding, Finding
from whybox.report.document import CallsPayload, RunDocument, WhyDocument, to_json
from whybox.report.html import run_page
from whybox.report.junit import junit
from whybox.report.markdown import markdown
from whybox.report.run_lines import mechanisms
from whybox.statistics.intervals import Rate
from whybox.suite.behaviour import TargetText
from whybox.suite.judgement import Where
from whybox.suite.whole import Prepared
from whybox.targets.target import Target
from whybox.testing import ROWS
from whybox.testing.decoys import NONE
from whybox.testing.planted import Planted

SHORT = HowAnswered({"max_tokens": 4}, WhyOptions(limit=4))


def failed(case: CaseInstance, answer: str) -> Deciding:
    return Deciding("item/1 {a}", ("1-2",), (answer,), case)


def test_the_planted_cause_is_joined_to_its_item() -> None:
    planted = ROWS["not_looking"](1, NONE)
    wrong = str(planted.instance.wrong)
    found = mechanism_of(planted.model, failed(planted.instance, wrong), SHORT)
    assert (found.code, found.detail) == (planted.expected.code, planted.expected.detail)
    assert found.undone_by == f"boost decision → {planted.instance.evidence[0]}"
    assert found.effect is not None
    assert found.effect > 0
    assert found.scope == "this-prompt"
    assert found.code_reason is None


def test_an_answer_that_is_right_here_was_not_reproduced() -> None:
    planted = ROWS["induction"](1, NONE)
    found = mechanism_of(planted.model, failed(replace(planted.instance, wrong="Wexley"), "Wexley"), SHORT)
    assert (found.code, found.detail) == ("not-determined", "not-reproduced-here")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"wrong": "same"}, "other than the right one"),
        ({"right": "Nowhere", "wrong": None}, "cannot be joined"),
    ],
)
def test_what_cannot_be_explained_says_why(change: dict[str, str], said: str) -> None:
    planted = ROWS["not_looking"](1, NONE)
    given = {name: planted.instance.right if text == "same" else text for name, text in change.items()}
    found = mechanism_of(planted.model, failed(replace(planted.instance, **given), "x"), SHORT)
    assert found.code is None
    assert said in str(found.code_reason)
    assert (found.effect, found.effect_reason) == (None, "not explained")


def test_failed_items_are_the_first_distinct_ones_that_are_not_right() -> None:
    case = replace(ROWS["not_looking"](1, NONE).instance, right="7 days", wrong="30 days", kind="number")
    answers = [("a", "7 days"), ("b", "30 days"), ("b", "9 days"), ("c", "no idea"), ("d", "30 days")]
    finding = Finding(
        (), {}, Rate(0, 5), deciding=tuple(Deciding(item, ("1",), (said,), case) for item, said in answers)
    )
    assert [(place, each.item) for place, each in failed_items(finding, 2)] == [(1, "b"), (3, "c")]
    assert [place for place, _ in failed_items(finding, 9)] == [1, 3, 4]


def test_a_concrete_prompt_becomes_a_case_whatever_its_texts_hold() -> None:
    plain = ROWS["not_looking"](1, NONE).instance
    part = plain.parts[0].name
    hostile = replace(plain.replacing({part: "{a} {{b}} } {"}), id="../x {y}")
    case = Case.from_instance(hostile, "{got}", {"max_tokens": 4})
    filled = case.filled()
    assert filled.part(part).text == "{a} {{b}} } {"
    assert [each.text for each in filled.parts] == [each.text for each in hostile.parts]
    assert (filled.right, filled.wrong, filled.evidence) == (hostile.right, hostile.wrong, hostile.evidence)
    assert (case.got, filled.decoding.max_tokens) == ("{got}", 4)


SUITE = """
suite: check
targets: [{target}]
data:
  mine: {{file: mine.jsonl}}
probes:
  order: {{data: mine, parts: [doc1, doc2], max_tokens: 4}}
gates:
  - {{probe: order, statistic: right, at_least: 0.8}}
run:
  floor: {{items: 1, times: 2}}
"""


def prepared_for(planted: Planted, folder: Path, options: RunOptions, items: int = 1) -> Prepared:
    """So many items, all alike but for their names, on planted weights."""
    cases = [Case.from_instance(replace(planted.instance, id=f"item-{i}")) for i in range(items)]
    (folder / "mine.jsonl").write_text("\n".join(case.text.model_dump_json(exclude_none=True) for case in cases))
    (folder / "s.yaml").write_text(SUITE.format(target="planted"))

    def opened(text: TargetText) -> Target:
        def local(_: TargetText) -> Model:
            return planted.model

        return target_from(text, local, 0, None)

    return prepare(folder / "s.yaml", options, opened)


def test_a_failing_gate_is_explained_in_every_report(tmp_path: Path) -> None:
    options = RunOptions(why=2)
    told: list[str] = []
    prepared = prepared_for(ROWS["first_biased"](1, NONE), tmp_path, options)
    document = run_suite(
        prepared,
        options,
        tmp_path / "out",
        tell_why=lambda where, item, number, of: told.append(f"{item} {number}/{of}"),
    )
    (row,) = document.probes[0].deciding
    assert row.mechanism is not None
    assert row.mechanism.code == "order"
    assert told == [f"{row.item} 1/1"]
    assert RunDocument.model_validate_json(to_json(document)) == document
    ((item, line),) = mechanisms(document.probes[0], "en")
    assert line.startswith("order (undone by ")
    assert line.endswith("This prompt only.")
    assert f'name="why.{item}"' in junit(document)
    assert "undone by" in markdown(document)
    assert "This prompt only." in run_page(document, CallsPayload(), "en")
    plain = run_suite(prepared, RunOptions(), tmp_path / "out")
    assert plain.probes[0].deciding[0].mechanism is None


@pytest.mark.parametrize("late", [False, True])
def test_ctrl_c_ends_the_run_and_keeps_what_was_explained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    """Early: before the second item has an answer. Late: `why` gives what it has, which names nothing here."""
    options = RunOptions(why=3)
    prepared = prepared_for(ROWS["first_biased"](1, NONE), tmp_path, options, items=3)
    numbers: list[int] = []

    def heard(where: Where, item: str, number: int, of: int) -> None:
        numbers.append(number)
        if number == 2 and not late:
            raise KeyboardInterrupt

    def broken_off(model: Model, case: Case, asked: WhyOptions) -> WhyDocument:
        return why(model, case, asked).model_copy(update={"broken_off": "heads" if len(numbers) == 2 else ""})

    monkeypatch.setattr("whybox.jobs.run_why.why", broken_off)
    with pytest.raises(BrokenOff) as stop:
        run_suite(prepared, options, tmp_path / "out", tell_why=heard)
    assert numbers == [1, 2]
    assert [row.mechanism is not None for row in stop.value.document.probes[0].deciding] == [True, False, False]
    assert kept_document(tmp_path / "out") == stop.value.document


def test_a_target_without_weights_is_refused_before_the_first_call(tmp_path: Path) -> None:
    text = SUITE.replace("{{data: mine, parts: [doc1, doc2], max_tokens: 4}}", "{{items: 2}}")
    text = text.replace("data:\n  mine: {{file: mine.jsonl}}\n", "")
    (tmp_path / "s.yaml").write_text(text.format(target='"bot:honest"'))

    def opened(text: TargetText) -> Target:
        return target_from(text, lambda _: pytest.fail("no model"), 0, None)

    with pytest.raises(UsageError, match="needs weights of this machine") as refused:
        prepare(tmp_path / "s.yaml", RunOptions(why=3), opened)
    assert refused.value.exit_code == 2
    prepare(tmp_path / "s.yaml", RunOptions(), opened)


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_the_line_of_a_mechanism_has_its_effect_and_interval(lang: str) -> None:
    document = reported(lang)  # type: ignore[arg-type]
    ((_, line),) = [each for probe in document.probes for each in mechanisms(probe, document.lang)]
    assert "order" in line
    assert "+1.25 nat" in line
    assert "0.5" in line
