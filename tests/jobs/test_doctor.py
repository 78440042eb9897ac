"""What the doctor finds: the planted fault of each bot, and nothing on an honest one."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
import torch
from transformers import AutoModelForCausalLM

from tests.targets.folder import tiny_folder
from whybox.errors import EndpointError
from whybox.jobs.doctor import DoctorOptions, doctor
from whybox.jobs.doctor.repeats import Repeats
from whybox.model import open_model
from whybox.report.doctor_words import WORDS
from whybox.report.document import DoctorDocument, FloorRow
from whybox.report.text_doctor import sentence
from whybox.targets.bots import kinds
from whybox.targets.bots.kinds import Bot
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.server import BotServer
from whybox.targets.local import LocalTarget
from whybox.targets.openai import Endpoint, OpenAITarget
from whybox.targets.pace import Patience

OPTIONS = DoctorOptions(seed=3, most_context=2048, design=Repeats(12, 5))


def examined(bot: Bot, options: DoctorOptions = OPTIONS) -> DoctorDocument:
    return doctor(BotTarget(bot), options)


def findings(document: DoctorDocument) -> dict[str, str]:
    return {check.check: check.finding for check in document.checks}


def faults(document: DoctorDocument) -> list[str]:
    return [check.finding for check in document.checks if check.state == "fault"]


def rates(document: DoctorDocument) -> dict[str, FloorRow]:
    return {row.condition: row for row in document.floor}


def test_an_honest_bot_is_usable() -> None:
    document = examined(kinds.Honest())
    assert document.verdict == "usable"
    assert findings(document) == {
        "logprobs": "logprobs.real",
        "scores": "scores.apart",
        "seed": "seed.honoured",
        "system": "system.read",
        "added": "added.nothing",
        "bos": "bos.once",
        "context": "context.whole",
        "fence": "fence.none",
        "usage": "usage.told",
    }
    floor = rates(document)
    assert set(floor) == {"cold", "warm", "concurrent"}
    assert all(row.differing == 0 for row in floor.values())
    assert floor["concurrent"].bound == pytest.approx(1 - 0.05 ** (1 / 60))
    assert floor["warm"].logprob_max == 0


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("bot", "fault"),
    [
        (kinds.TemplateBreaker("drops_system"), "system.dropped"),
        (kinds.TemplateBreaker("doubles_bos"), "bos.twice"),
        (kinds.TemplateBreaker("fence"), "fence.always"),
        (kinds.DropsLogprobs("constant"), "logprobs.constant"),
        (kinds.TruncatesContext(600, "start", "after"), "context.cut_start"),
        (kinds.TruncatesContext(600, "end", "before"), "context.cut_end"),
    ],
)
def test_each_fault_is_named(bot: Bot, fault: str, language: str) -> None:
    document = examined(bot, replace(OPTIONS, language=language))  # type: ignore[arg-type]
    assert fault in faults(document)
    assert set(faults(document)) <= {fault, "scores.alike"}
    assert document.verdict == "faults"


@pytest.mark.parametrize("usage", ["before", "after"])
@pytest.mark.parametrize("side", ["start", "end"])
@pytest.mark.parametrize("n", [400, 1100])
def test_a_silent_cut_is_located(n: int, side: str, usage: str) -> None:
    document = examined(kinds.TruncatesContext(n, side, usage))  # type: ignore[arg-type]
    found = next(check for check in document.checks if check.check == "context")
    assert found.finding == f"context.cut_{side}"
    assert found.numbers["tokens"] == pytest.approx(n, rel=0.15)


@pytest.mark.parametrize("kind", ["null", "missing", "short"])
def test_missing_log_probabilities_are_no_fault_and_no_ability(kind: str) -> None:
    document = examined(kinds.DropsLogprobs(kind))  # type: ignore[arg-type]
    assert findings(document)["logprobs"] == "logprobs.missing"
    assert findings(document)["scores"] == "scores.missing"
    assert faults(document) == []
    row = rates(document)["warm"]
    assert (row.logprob_max, row.logprob_max_reason) == (None, "no log-probabilities")


def test_text_that_nobody_typed() -> None:
    document = examined(kinds.TemplateBreaker("adds_system"))
    assert findings(document)["added"] == "added.system_text"


MANY = replace(OPTIONS, design=Repeats(30, 5))


@pytest.mark.parametrize(
    ("bot", "moved", "share"),
    [
        (kinds.ColdWarm(0.4), "cold", 0.4),
        (kinds.BatchSensitive(0.4), "concurrent", 0.4),
        (kinds.IgnoresSeed(0.4), None, 0.0),
    ],
)
def test_only_the_floor_that_moves_moves(bot: Bot, moved: str | None, share: float) -> None:
    document = examined(bot, MANY)
    for condition, row in rates(document).items():
        if condition == moved:
            assert row.interval[0] <= share <= row.interval[1]
            assert row.bound > row.rate > 0.2
        else:
            assert row.differing == 0
    assert (findings(document)["seed"] == "seed.ignored") == isinstance(bot, kinds.IgnoresSeed)


def test_a_coin_is_seen_in_every_condition() -> None:
    floor = rates(examined(kinds.TieFlipper(0.2), MANY))
    assert all(row.differing > 0 for row in floor.values())
    assert floor["warm"].interval[0] <= 0.32 <= floor["warm"].interval[1]  # 2 · .2 · .8
    assert floor["warm"].answers_differing == floor["warm"].differing


def test_failures_are_counted_and_told() -> None:
    document = doctor(BotTarget(kinds.Errors(0.3, "500"), patience=Patience(0)), OPTIONS)
    assert document.failed > 10
    assert document.failures == (f"http 500 × {document.failed}",)
    assert "calls.failed" in faults(document)


def test_no_content_at_all_is_told() -> None:
    document = examined(kinds.NullContent())
    assert document.floor == ()
    assert "calls.failed" in faults(document)


@contextmanager
def served(bot: Bot, key: str | None = None) -> Iterator[tuple[str, str]]:
    """A bot behind an address, in a thread: address and model."""
    server, ready, done = BotServer(bot, key=key), Event(), Event()
    found: list[str] = []

    async def run() -> None:
        async with server.serving() as url:
            found.append(url)
            ready.set()
            while not done.is_set():
                await asyncio.sleep(0.01)

    thread = Thread(target=asyncio.run, args=(run(),))
    thread.start()
    ready.wait(10)
    try:
        yield found[0], server.model
    finally:
        done.set()
        thread.join()


def test_through_http_the_same_is_found() -> None:
    for bot in (kinds.TemplateBreaker("doubles_bos"), kinds.TruncatesContext(600, "start", "before")):
        with served(bot) as (url, model):
            far = doctor(OpenAITarget(Endpoint(model, url)), OPTIONS)
        near = examined(bot)
        there = {name: found for name, found in findings(far).items() if name not in ("reach", "model")}
        assert there == findings(near)
        assert findings(far)["reach"] == "reach.answers"
        assert findings(far)["model"] == "model.listed"
        assert [row.differing for row in far.floor] == [row.differing for row in near.floor]


def test_where_no_call_can_succeed_there_is_no_finding() -> None:
    with pytest.raises(EndpointError, match="cannot be reached"):
        doctor(OpenAITarget(Endpoint("m", "http://127.0.0.1:1/v1", patience=Patience(0))), OPTIONS)
    with served(kinds.Honest(), key="some-other-key") as (url, model):
        with pytest.raises(EndpointError, match="wants a key"):
            doctor(OpenAITarget(Endpoint(model, url)), OPTIONS)
        with pytest.raises(EndpointError, match="wants a key"):
            doctor(OpenAITarget(Endpoint("gpt-9", url)), OPTIONS)


def test_a_local_model_shows_more() -> None:
    document = doctor(
        LocalTarget(open_model(str(tiny_folder()), "torch")), replace(OPTIONS, design=Repeats(2, 3), topics=2)
    )
    found = findings(document)
    assert found["finite"] == "finite.all"
    assert found["repeat"] == "repeat.bit_equal"
    assert found["seed"] == "seed.honoured"
    assert found["context"] == "context.trained"
    assert found["bos"] == "bos.once"
    gaps = {check.check: check.numbers["moved"] for check in document.checks if "moved" in check.numbers}
    assert set(gaps) == {"repeat", "batch", "cache", "engine"}
    assert all(float(gap) < 1e-4 for gap in gaps.values())
    assert document.model.engine != "not revealed"


def test_every_finding_has_its_sentence_in_both_languages() -> None:
    for bot in (kinds.Honest(), kinds.TieFlipper(), kinds.DropsLogprobs(), kinds.TruncatesContext(300)):
        for check in examined(bot).checks:
            assert check.finding in WORDS
            assert sentence(check, "en") != sentence(check, "zh")
            assert "{" not in sentence(check, "zh")


def test_the_first_value_that_is_not_finite_is_named(tmp_path: Path) -> None:
    """The MLP of layer 1 overflows: nothing that such a model writes is measured."""
    broken = AutoModelForCausalLM.from_pretrained(tiny_folder())
    with torch.no_grad():
        broken.model.layers[1].mlp.down_proj.weight.fill_(3e38)
    folder = Path(shutil.copytree(tiny_folder(), tmp_path / "broken"))
    broken.save_pretrained(folder)
    document = doctor(LocalTarget(open_model(str(folder))), OPTIONS)
    found = next(check for check in document.checks if check.finding == "finite.first")
    assert (found.state, found.numbers["site"], found.numbers["layer"]) == ("fault", "mlp_out", 1)
    assert (document.verdict, document.floor, document.calls) == ("faults", (), 0)
    assert "mlp_out of layer 1" in sentence(found, "en")
