"""A judge on the open answers of a kept run: only where asked, with its errors taken off."""

import json
from pathlib import Path

import pytest

from tests.jobs.test_run_suite import ran
from tests.suite.fake import FakeTarget
from whybox.cli.report import report
from whybox.errors import EndpointError, UsageError
from whybox.jobs import run_judge
from whybox.jobs.run_judge import ASK, Answer, judged_run
from whybox.statistics.judged import Corrected
from whybox.suite.scores import ScoredCall
from whybox.targets.target import Chat, Outcome, Reply, Request


class Reading(FakeTarget):
    """Says yes where the given answer holds the number that is expected; of every fifth one the contrary."""

    async def ask(self, request: Request) -> Outcome:
        assert isinstance(request.prompt, Chat)
        text = request.prompt.turns[0].content
        assert text.startswith(ASK.split("\n")[0])
        self.asked.append(request.digest)
        expected, given = (text.split(f"{name} answer: ")[1].split("\n")[0] for name in ("Expected", "Given"))
        yes = expected.split(" ")[0] in given.split(" ")
        return Reply("Yes." if yes != (len(self.asked) % 5 == 0) else "No, it does not.")


def answer(item: int, outcome: str, text: str) -> Answer:
    score = ScoredCall("m", "order", f"item-{item}", "1-2", 0, outcome, None, "7 days")
    return Answer(score, "How long?", text)


KNOWN = [answer(i, "right", "7 days") for i in range(100)] + [answer(100 + i, "wrong", "30 days") for i in range(60)]
OPEN = [answer(200 + i, "invalid", "about 7 in all" if i < 30 else "no idea at all") for i in range(40)]


def made(folder: Path) -> Path:
    ran(folder, "bot:honest", items=2)
    return folder / "out"


def test_open_answers_are_judged_and_its_errors_are_taken_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(tmp_path)
    monkeypatch.setattr(run_judge, "_answers", lambda folder: [*KNOWN, *OPEN])
    found = judged_run(run, Reading(width=1))
    assert (found.calls, found.failed) == (200, 0)
    assert found.judge.sensitivity.n == 100
    assert found.judge.sensitivity.share == pytest.approx(0.8, abs=0.05)
    assert found.judge.specificity.share == pytest.approx(0.8, abs=0.05)
    (probe,) = found.probes
    assert (probe.seen.right, probe.seen.other, probe.seen.open, probe.unread) == (100, 60, 40, 0)
    assert isinstance(probe.found, Corrected)
    assert probe.found.value == pytest.approx((100 + 30) / 200, abs=0.02)
    assert abs(probe.found.plain - 0.65) > abs(probe.found.value - 0.65) - 1e-9
    assert probe.found.interval[0] < 0.65 < probe.found.interval[1]


def test_one_answer_an_item_whatever_its_arms(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(tmp_path)
    monkeypatch.setattr(run_judge, "_answers", lambda folder: [*KNOWN, *OPEN, *KNOWN, *OPEN])
    assert judged_run(run, Reading(width=1)).probes[0].seen.n == 200


def test_a_run_that_scorers_read_whole_needs_no_judge(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="none is left for a judge"):
        judged_run(made(tmp_path), Reading())


def test_a_judge_that_refuses_every_call_is_no_score(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = made(tmp_path)
    monkeypatch.setattr(run_judge, "_answers", lambda folder: OPEN)
    with pytest.raises(EndpointError, match="the key is refused"):
        judged_run(run, FakeTarget(fatal_after=0))


def test_the_command_says_it_in_lines_and_in_json(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = made(tmp_path)
    monkeypatch.setattr(run_judge, "_answers", lambda folder: [*KNOWN, *OPEN])
    report(run, judge="bot:honest")
    assert "order · m:" in capsys.readouterr().out
    report(run, judge="bot:honest", json=True)
    told = json.loads(capsys.readouterr().out)
    assert told["schema"]["name"] == "whybox.judged"
    assert told["probes"][0]["n"] == 160 + told["probes"][0]["open"]
    assert (told["probes"][0]["right"] is None) == (told["probes"][0]["right_reason"] is not None)
