"""What a suite finds out of its targets before it plans: once a run, off the calls of its items."""

import json
from functools import partial
from pathlib import Path

import pytest

from tests.jobs.test_run_suite import PLAIN, opened, written
from whybox.errors import EndpointError, InfrastructureError, UsageError
from whybox.jobs.doctor import brief
from whybox.jobs.doctor.brief import Wanted, as_shown, examined
from whybox.jobs.doctor.examiner import check
from whybox.jobs.run import RunOptions, prepare, run_suite
from whybox.jobs.run_examined import once, remembered
from whybox.report.document import CallsPayload, RunDocument
from whybox.report.html import run_page
from whybox.report.junit import junit
from whybox.report.markdown import markdown
from whybox.suite.examined import keep, kept
from whybox.suite.store import Store
from whybox.targets.bots import kinds
from whybox.targets.bots.kinds import Bot
from whybox.targets.bots.process import BotTarget
from whybox.targets.target import Abilities, Ability, no
from whybox.targets.until_done import until_done

WANTED = Wanted(300, draws=False)


def of(bot: Bot, wanted: Wanted = WANTED) -> dict[str, str]:
    return {each["check"]: each["finding"] for each in until_done(examined(BotTarget(bot), wanted)).checks}


def ran(folder: Path, target: str, probes: str = "order: {items: 4}", options: RunOptions = PLAIN) -> RunDocument:
    path = folder / "whybox.yaml"
    path.write_text(
        f"suite: s\ntargets: [{json.dumps(target)}]\nprobes: {{{probes}}}\nrun: {{floor: {{items: 2, times: 2}}}}\n"
    )
    prepared = prepare(path, options, opened, partial(once, folder / "out" / "run.sqlite"))
    return run_suite(prepared, options, folder / "out")


def test_a_dozen_calls_say_what_is_real() -> None:
    found = until_done(examined(BotTarget(kinds.Honest()), WANTED))
    assert found.calls <= 14
    assert found.cut is None
    assert found.abilities == BotTarget(kinds.Honest()).abilities
    assert of(kinds.Honest()) == {
        "reach": "reach.answers",
        "logprobs": "logprobs.real",
        "scores": "scores.apart",
        "system": "system.read",
        "added": "added.nothing",
        "bos": "bos.once",
        "context": "context.whole",
        "usage": "usage.told",
    }
    assert "seed" in of(kinds.Honest(), Wanted(300, draws=True))


def test_a_folder_of_another_run_is_refused_before_anybody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran(tmp_path, "bot:honest")
    asked: list[str] = []
    monkeypatch.setattr(BotTarget, "ask", lambda *_: asked.append("asked"))
    monkeypatch.setattr(BotTarget, "ask_all", lambda *_: asked.append("asked"))
    with pytest.raises(UsageError, match=r"holds another run: targets\.bot:honest only there"):
        ran(tmp_path, "bot:always_first")
    assert asked == []


def test_what_is_missing_is_no_ability_and_what_failed_by_chance_is_not_known() -> None:
    found = until_done(examined(BotTarget(kinds.DropsLogprobs("constant")), WANTED)).abilities
    assert found.logprobs.has is False
    assert "log-probabilities that are none" in found.logprobs.why
    said = Abilities(logprobs=Ability(None, "not tried"), seed=no("never"))
    shown = as_shown(said, [check("logprobs", "unknown", "errors"), check("bos", "unknown", "hidden")])
    assert (shown.logprobs, shown.seed) == (said.logprobs, said.seed)
    assert shown.ids.has is False
    assert of(kinds.Errors(1.0, "500"))["logprobs"] == "logprobs.errors"


@pytest.mark.parametrize(("side", "finding"), [("start", "context.cut_start"), ("end", "context.cut_end")])
def test_a_cut_is_found_as_long_as_the_suite_needs(side: str, finding: str) -> None:
    bot = kinds.TruncatesContext(600, side, "after")  # type: ignore[arg-type]
    found = until_done(examined(BotTarget(bot), Wanted(700, draws=False)))
    assert finding in [each["finding"] for each in found.checks]
    assert found.cut == pytest.approx(600, rel=0.15)
    assert until_done(examined(BotTarget(bot), Wanted(100, draws=False))).cut is None


def test_it_is_made_once_for_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = ran(tmp_path, "bot:honest")
    monkeypatch.setattr(brief, "_checks", lambda *_: pytest.fail("examined again"))
    again = ran(tmp_path, "bot:honest")
    (target,) = again.targets
    assert target.checks == first.targets[0].checks
    assert {each.check for each in target.checks} >= {"logprobs", "context", "usage"}
    assert again.calls == first.calls
    assert first.calls.finished == 4 * 8 + 3 * 2 * 2, "its calls are none of the suite's"


def test_nobody_is_asked_where_the_plan_alone_is_wanted(tmp_path: Path) -> None:
    path = written(tmp_path, "bot:honest", 3)
    place = tmp_path / "out" / "run.sqlite"
    assert prepare(path, PLAIN, opened, partial(remembered, place)).examined == {}
    assert not place.exists()
    known = prepare(path, PLAIN, opened, partial(once, place)).examined
    assert prepare(path, PLAIN, opened, partial(remembered, place)).examined == known


def test_what_was_found_is_kept_whole(tmp_path: Path) -> None:
    target = BotTarget(kinds.DropsLogprobs("null"))
    found = until_done(examined(target, WANTED))
    with Store(tmp_path / "run.sqlite") as store:
        keep(store, target, found)
        assert kept(store, target) == found
        assert kept(store, BotTarget(kinds.Honest())) is None


def test_a_probe_whose_prompts_would_be_cut_is_an_error_and_says_so_everywhere(tmp_path: Path) -> None:
    """What comes of a lost end is no decay."""
    bot = "bot:truncates_context(n=300, side='start')".replace("'", "")
    document = ran(tmp_path, bot, "memory: {items: 3, runs: 1, explained: 1}, order: {items: 3}")
    memory, order = document.probes
    assert (memory.verdict, memory.calls, order.calls) == ("error", 0, 24)
    assert "silently cuts them at about" in memory.not_measured
    said = "cut silently at about"
    page = run_page(document, CallsPayload(), "en")
    assert all(said in text for text in (page, markdown(document), junit(document)))
    assert 'name="doctor.context"' in junit(document)


def test_a_key_that_is_refused_ends_it_before_anything_is_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    path = written(tmp_path, "openai:nobody", 3)
    with pytest.raises(EndpointError, match="cannot be reached"):
        prepare(path, PLAIN, opened, partial(once, tmp_path / "out" / "run.sqlite"))


def test_values_that_are_not_finite_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    where = {"site": "mlp_out", "position": 3, "layer": 2}

    async def broken(*_: object) -> list[object]:
        return [check("finite", "fault", "first", where)]

    monkeypatch.setattr(brief, "_checks", broken)
    with pytest.raises(InfrastructureError, match="NaN or Inf first at mlp_out of layer 2"):
        until_done(examined(BotTarget(kinds.Honest()), WANTED))
