"""A suite from its file to its document, on bots; errors that end a run, and what comes of going on."""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from whybox.errors import EndpointError, UsageError
from whybox.items.case import Case
from whybox.items.generate import generate
from whybox.jobs.run import (
    RunOptions,
    is_unfinished,
    kept_document,
    plan_rows,
    prepare,
    run_suite,
    seconds_of,
    target_from,
)
from whybox.report.document import CallsPayload, RunDocument, to_json
from whybox.report.html import run_page
from whybox.report.run_lines import estimate_of
from whybox.statistics.unknown import Unknown
from whybox.suite.behaviour import TargetText
from whybox.suite.data import load_items
from whybox.suite.progress import Progress
from whybox.suite.store import Store
from whybox.suite.whole import Choice
from whybox.targets.target import Target

SUITE = """
suite: check
targets: [{target}]
probes:
  order: {{items: {items}}}
gates:
  - {{probe: order, statistic: changed, at_most: 0.2}}
  - {{probe: order, statistic: right, at_least: 0.8}}
run:
  floor: {{items: 3, times: 3}}
"""


def opened(text: TargetText) -> Target:
    def no_model(_: TargetText) -> None:
        raise AssertionError("no model of this machine")

    return target_from(text, no_model, 0, None)  # type: ignore[arg-type]


def written(folder: Path, target: str, items: int = 20) -> Path:
    path = folder / "whybox.yaml"
    path.write_text(SUITE.format(target=json.dumps(target), items=items))
    return path


PLAIN = RunOptions()


def ran(folder: Path, target: str, options: RunOptions = PLAIN, items: int = 20) -> RunDocument:
    return run_suite(prepare(written(folder, target, items), options, opened), options, folder / "out")


@pytest.mark.parametrize(
    ("bot", "verdicts", "code"), [("bot:honest", ["pass", "pass"], 0), ("bot:always_first", ["fail", "fail"], 1)]
)
def test_bots_get_the_verdict_that_they_were_built_for(
    tmp_path: Path, bot: str, verdicts: list[str], code: int
) -> None:
    document = ran(tmp_path, bot)
    assert [gate.verdict for gate in document.gates] == verdicts
    assert document.exit_code == code
    assert document.calls.finished == document.calls.planned == 20 * 8 + 27
    (probe,) = document.probes
    assert (probe.calls, probe.errors, probe.n) == (160, 0, 20)
    assert 0 < probe.seconds <= document.took_s  # many calls at once: their own seconds are more
    assert [row.differing for row in document.floor] == [0, 0, 0]
    assert kept_document(tmp_path / "out") == document
    assert RunDocument.model_validate_json(to_json(document)) == document


def test_going_on_makes_no_call_and_finds_the_same(tmp_path: Path) -> None:
    first = ran(tmp_path, "bot:position_biased(b=0.3)", items=6)
    told: list[Progress] = []
    options = RunOptions()
    prepared = prepare(tmp_path / "whybox.yaml", options, opened)
    again = run_suite(prepared, options, tmp_path / "out", told.append)
    assert told[-1].planned == 0
    assert again.model_copy(update={"took_s": first.took_s}) == first
    assert seconds_of(prepared, tmp_path / "out") == 0
    with pytest.raises(UsageError, match=r"holds another run: seed: 0 there, 5 here\n"):
        ran(tmp_path, "bot:position_biased(b=0.3)", RunOptions(seed=5), items=6)
    with pytest.raises(UsageError, match=r"run: probes\.order\.items: 6 there, 7 here\n"):
        ran(tmp_path, "bot:position_biased(b=0.3)", items=7)
    with pytest.raises(UsageError, match=r"only there; targets\.bot:honest only here\n"):
        ran(tmp_path, "bot:position_biased(b=0.3)", RunOptions(model="bot:honest"), items=6)


def test_a_part_first_and_the_rest_later_is_the_whole(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    whole = ran(tmp_path / "one", "bot:item_biased", items=6)
    part = ran(tmp_path / "two", "bot:item_biased", RunOptions(Choice(limit=3)), items=6)
    assert (part.calls.chosen, part.probes[0].n) == (24, 3)
    rest = ran(tmp_path / "two", "bot:item_biased", items=6)
    assert rest.probes[0].estimates == whole.probes[0].estimates
    assert rest.gates == whole.gates


def test_a_plan_shows_what_was_chosen_and_what_is_left_of_it(tmp_path: Path) -> None:
    """The plan says what the run then does: the same calls of the same items, and nothing of the others."""
    path, plain = written(tmp_path, "bot:item_biased", 100), Choice()
    prepared = prepare(path, PLAIN, opened)
    floor, whole = plan_rows(prepared)
    assert (whole.items, whole.calls, isinstance(whole.finds, float)) == (100, 800, True)
    choice = Choice(limit=3)
    same_floor, row = plan_rows(prepared, choice)
    assert same_floor == floor
    assert (row.items, row.arms, row.calls, row.tokens_written / 24) == (3, 4, 24, whole.tokens_written / 800)
    assert isinstance(row.finds, Unknown)
    assert plan_rows(prepared, Choice("order/*/1-2-4-3"))[1].arms == 1
    with pytest.raises(UsageError, match="no call fits"):
        plan_rows(prepared, Choice("edit"))
    folder = tmp_path / "out"
    assert run_suite(prepared, RunOptions(choice), folder).calls.finished == row.calls + floor.calls
    assert (is_unfinished(prepared, folder, choice), is_unfinished(prepared, folder, plain)) == (False, True)
    assert seconds_of(prepared, folder, choice) == 0
    left = seconds_of(prepared, folder, plain)
    assert isinstance(left, float)
    assert left > 0


def test_other_runs_take_answers_from_the_cache_but_for_the_floor(tmp_path: Path) -> None:
    counts = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        options = RunOptions(Choice(cache=tmp_path / "answers.sqlite"))
        counts.append(ran(tmp_path / name, "bot:honest", options, items=6).calls)
    assert (counts[0].cached, counts[1].cached) == (0, 48)
    assert counts[1].finished == 48 + 27


def test_a_dead_endpoint_is_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    path = written(tmp_path, "openai:nobody", 3)
    path.write_text(path.read_text().replace('"openai:nobody"', "{model: 'openai:nobody', max_retries: 0}"))
    options = RunOptions()
    prepared = prepare(path, options, opened)
    assert isinstance(seconds_of(prepared, tmp_path / "out"), Unknown)
    with pytest.raises(EndpointError, match="cannot be reached"):
        run_suite(prepared, options, tmp_path / "out")
    with pytest.raises(UsageError, match="not finished"):
        kept_document(tmp_path / "out")


def test_answers_cut_before_they_say_anything_are_errors_and_are_told(tmp_path: Path) -> None:
    document = ran(tmp_path, "bot:cut_off", items=4)
    (probe,) = document.probes
    assert (probe.calls, probe.errors, probe.cut) == (32, 32, 32)
    assert "32 answers were cut by max_tokens" in estimate_of(probe, "en")
    assert {gate.verdict for gate in document.gates} == {"error"}
    assert document.exit_code == 3
    assert document.calls.failed == 0 or document.calls.failed == document.calls.finished


@pytest.mark.parametrize("bot", ["bot:honest", "bot:null_content"])
def test_what_a_target_could_do_is_kept_and_told(tmp_path: Path, bot: str) -> None:
    """Counted over the floor and the probes together."""
    path = written(tmp_path, bot, 3)
    path.write_text(path.read_text().replace("{items: 3}", "{items: 3, labels: [move]}", 1))
    document = run_suite(prepare(path, PLAIN, opened), PLAIN, tmp_path / "out")
    (target,) = document.targets
    seen = {row.ability: (row.shown, row.asked) for row in target.observed}
    asked = 3 * 8 + 27
    whole = {"chat": (asked, asked), "logprobs": (asked, asked), "usage": (asked, asked)}
    assert seen == (whole if bot == "bot:honest" else {"chat": (0, asked)})
    told = {row.ability: row.why for row in target.observed}
    assert all(bool(told[ability]) == (shown < asked) for ability, (shown, asked) in seen.items())
    with Store(tmp_path / "out" / "run.sqlite") as store:
        kept = json.loads(store.note("abilities") or "")
    assert kept == {target.name: {row.ability: [row.shown, row.asked, row.why] for row in target.observed}}
    page = run_page(document, CallsPayload(), "en")
    assert f"{seen['chat'][0]} of {asked} calls that needed it" in page


def test_repeats_are_made_as_asked_and_as_the_design_allows(tmp_path: Path) -> None:
    path = written(tmp_path, "bot:honest", 2)
    assert plan_rows(prepare(path, RunOptions(repeat=3), opened))[1].calls == 2 * 4 * 3
    with pytest.raises(UsageError, match="--repeat 1: order"):
        prepare(path, RunOptions(repeat=1), opened)
    assert plan_rows(prepare(path, RunOptions(model="bot:reader"), opened))[1].target == "bot:reader"


CASE = {"id": "a", "text": [{"name": "d", "text": "x {{y}} 7 days"}], "answer": {"right": "7 days", "kind": "number"}}


def test_items_of_the_user_in_three_forms(tmp_path: Path) -> None:
    (tmp_path / "c.jsonl").write_text(json.dumps(CASE) + "\n\n" + json.dumps(CASE | {"id": "b"}) + "\n")
    (tmp_path / "c.yaml").write_text(json.dumps([CASE, CASE | {"id": "b"}]))
    (tmp_path / "c.csv").write_text(
        "id,question,right,wrong,kind,evidence,d\na,How long?,7 days,30 days,number,d,Take {7} days.\nb,Who?,Ann,,,,\n"
    )
    for suffix in ("jsonl", "yaml", "csv"):
        items = load_items(tmp_path / f"c.{suffix}", "en")
        assert [item.id for item in items] == ["a", "b"]
        assert items[0].scorer.score("It takes 7 days.").outcome == "right"
    assert items[0].instance.part("d").text == "Take {7} days."
    assert items[0].instance.evidence == ("d",)
    for name, text, said in [
        ("e.jsonl", "\n", "at least one case"),
        ("e.csv", "id,question\n", "found no right"),
        ("e.csv", "id,question,right\n", "at least one case"),
        ("e.jsonl", json.dumps(CASE) * 2, "expected JSON"),
        ("e.jsonl", f"{json.dumps(CASE)}\n{json.dumps(CASE)}", "every id once"),
        ("e.txt", "x", "cannot read .txt"),
    ]:
        (tmp_path / name).write_text(text)
        with pytest.raises(UsageError, match=said):
            load_items(tmp_path / name, "en")
    with pytest.raises(UsageError, match="found no file"):
        load_items(tmp_path / "gone.yaml", "en")


CHOICES = """
suite: choices
targets: [{target}]
data: {{mine: {{file: cases.jsonl}}}}
probes:
  order: {{data: mine, parts: [doc1, doc2, doc3]}}
gates:
  - {{probe: order, statistic: right, at_least: 0.5}}
run:
  floor: {{items: 2, times: 2}}
"""


def of_choices(folder: Path, target: str) -> RunDocument:
    """The user's own choices, answered by log-probability in every order of their passages."""
    lines = []
    for item in generate("choice", "en", 4, seed=2, count_tokens=len, size=3):
        options = re.findall(r"^([A-Z])\) (.+)$", item.instance.part("question").text, re.MULTILINE)
        lines.append(Case.from_instance(replace(item.instance, by="logprob", options=tuple(options))).line)
    (folder / "cases.jsonl").write_text("\n".join(lines), encoding="utf-8")
    path = folder / "whybox.yaml"
    path.write_text(CHOICES.format(target=json.dumps(target)))
    return run_suite(prepare(path, PLAIN, opened), PLAIN, folder / "out")


def test_choices_by_log_probability_are_scored_as_labels(tmp_path: Path) -> None:
    document = of_choices(tmp_path, "bot:honest")
    (probe,), (target,) = document.probes, document.targets
    assert (probe.n, probe.errors) == (4, 0)
    (right,) = [row for row in probe.estimates if row.statistic == "right"]
    assert right.estimate == 1.0
    calls = document.calls.finished
    assert {row.ability: (row.shown, row.asked) for row in target.observed} == {"logprobs": (calls, calls)}


def test_choices_by_log_probability_are_not_asked_where_there_are_none(tmp_path: Path) -> None:
    document = of_choices(tmp_path, "bot:drops_logprobs")
    assert document.probes[0].not_measured == "needs logprobs: not usable: this bot drops them"
    assert (document.calls.finished, document.gates[0].verdict, document.exit_code) == (0, "skipped", 5)
