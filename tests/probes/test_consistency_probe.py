"""`consistency` on pairs of bots that differ in one known way, and on a small model run in several."""

import asyncio
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.probes.playing import estimate, ground_of
from tests.probes.rounds import all_rounds, asked
from tests.targets.folder import tiny_folder
from whybox.errors import UsageError
from whybox.items.generate import LANGUAGES, Language
from whybox.model import open_model
from whybox.probes.consistency import ConsistencyProbe
from whybox.probes.design import Finding, Ground
from whybox.probes.ways import ALL_WAYS, name_of, variant_of
from whybox.statistics.divergence import kl
from whybox.statistics.gates import SameWithin, judged
from whybox.statistics.unknown import Unknown
from whybox.suite.behaviour import Behaviour
from whybox.suite.grounds import grounds_of
from whybox.suite.planning import plan
from whybox.suite.schedule import selected
from whybox.suite.whole import Prepared, run
from whybox.targets.bots import kinds, model
from whybox.targets.bots.kinds import Bot
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.reading import Bank
from whybox.targets.local import LocalTarget
from whybox.targets.target import AnswerScore, Raw, Reply, Request, Sampling, Target

PROBE = ConsistencyProbe(items=60, prompts=12, positions=24, ways=None, against=["other"])


def pair(one: Bot, other: Bot, probe: ConsistencyProbe = PROBE, seed: int = 0) -> Finding:
    """What is found between two bots that know the same items."""
    made = replace(ground_of(BotTarget(one)), others=("other",))
    planned = probe.plan("consistency", made)
    bank = Bank.of(planned.items)
    targets: dict[str, Target] = {"bot": BotTarget(one, bank), "other": BotTarget(other, bank, seed)}
    return probe.read(*all_rounds(probe, targets, made, plan=planned), 0)


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_same_is_shown_to_be_the_same(language: Language) -> None:
    found = pair(kinds.Honest(0.8), kinds.Honest(0.8), PROBE.model_copy(update={"language": language}))
    assert not found.broken
    assert estimate(found, "same text, other").value == 1.0
    assert estimate(found, "accuracy lost, other").value == 0.0
    assert found.deciding == ()
    assert dict(found.words)["rung reached, other"] == "4"
    assert found.lost.hits == 0
    (part,) = found.measured["accuracy"]
    assert judged("x", SameWithin(0.05), part[1].complete).p_holds == pytest.approx(0.95**60, abs=1e-3)


def test_wrong_answers_of_one_side_are_found_both_ways() -> None:
    found = pair(kinds.Honest(0.9), kinds.Honest(0.5), seed=7)
    lost = estimate(found, "accuracy lost, other")
    assert lost.interval is not None
    assert lost.interval[0] <= 0.4 <= lost.interval[1]
    assert (lost.p or 1) < 0.01
    worse, better = (
        estimate(found, f"{way}, other").value for way in ("right before, wrong after", "wrong before, right after")
    )
    assert worse > better  # type: ignore[operator]
    assert found.deciding[0].arms == ("bot", "other")
    assert found.deciding[0].answers[0] != found.deciding[0].answers[1]


def test_noise_on_the_logits_gives_the_distance_that_it_must() -> None:
    """E KL ≈ ½σ²(1 − Σp²), over the positions that were read."""
    sigma = 0.2
    probe = ConsistencyProbe(items=4, prompts=20, positions=32, against=["other"])
    found = pair(kinds.LogitNoise(0.0), kinds.LogitNoise(sigma), probe)
    made = replace(ground_of(BotTarget(kinds.LogitNoise(0.0))), others=("other",))
    texts = [c.request for c in probe.plan("consistency", made).calls if (c.target, c.arm) == ("bot", "forced")]
    target = BotTarget(kinds.LogitNoise(0.0))
    spread = []
    for request in texts:
        scored = asyncio.run(target.score(request))  # type: ignore[arg-type]
        assert isinstance(scored, AnswerScore)
        spread += [1 - sum(np.exp(p) ** 2 for _, p in token.top) for token in scored.tokens[:32]]
    assert estimate(found, "KL mean, other").value == pytest.approx(sigma**2 / 2 * np.mean(spread), rel=0.25)
    assert estimate(found, "width of a tie").value == 0.0
    assert (estimate(found, "drift per 1,000, other").value or 0) > 0  # type: ignore[operator]
    assert estimate(found, "KL mean, other").unit == "nats"


def test_the_distance_is_that_of_the_distributions() -> None:
    """By hand on one position: the twenty words are all there is."""
    one, other = (dict(model.noisy(0, sigma, ["lamp"])) for sigma in (0.0, 0.3))
    p, q = (np.exp([side[word] for word in one]) for side in (one, other))
    assert float(kl(p, q)) > 0
    assert p.sum() == pytest.approx(1)


def test_without_noise_nothing_drifts() -> None:
    found = pair(kinds.LogitNoise(0.1), kinds.LogitNoise(0.1))
    assert estimate(found, "drift per 1,000, other").value == 0.0
    assert estimate(found, "KL most, other").value == pytest.approx(0, abs=1e-9)
    assert dict(found.measured)["drifting"][0][1].complete.hits == 0  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("doubles_bos", "template: +1 tokens in every prompt"),
        ("drops_system", "template: the system message counts -"),
        ("adds_system", "tokens where no system message was sent"),
        ("fence", "format: the answers of one side stand in a fence"),
    ],
)
def test_another_prompt_ends_the_ladder_at_its_foot(kind: str, said: str) -> None:
    bot = kinds.bot_of("template_breaker", {"kind": kind})
    found = pair(kinds.Honest(), bot)
    assert said in found.broken
    assert found.measured == {}
    assert found.estimates == ()


def test_who_gives_no_numbers_for_a_given_text_is_read_by_its_answers() -> None:
    found = pair(kinds.Honest(), kinds.Honest())
    assert isinstance(estimate(found, "drift per 1,000, other").value, Unknown)
    assert "drifting" not in found.measured
    assert "accuracy" in found.measured
    silent = kinds.bot_of("drops_logprobs", {"kind": "null"})
    found = pair(silent, silent)
    assert found.lost.hits == 0
    assert "accuracy" in found.measured


def test_unsteady_answers_are_the_floor() -> None:
    found = pair(kinds.TieFlipper(0.2), kinds.TieFlipper(0.2), seed=0)
    floor = estimate(found, "texts that differ when asked again")
    assert floor.interval is not None
    assert floor.interval[0] <= 2 * 0.2 * 0.8 <= floor.interval[1]
    assert estimate(found, "accuracy lost, other").floor == floor.value


def test_one_call_at_a_time_is_a_way_of_an_endpoint(tmp_path: Path) -> None:
    """Who changes beside other calls does not when it is alone; through the runner, from the suite file."""
    text = "suite: x\ntargets: ['bot:b']\nrun: {floor: {items: 2, times: 2}}\n"
    text += "probes:\n  consistency: {items: 40, prompts: 2, positions: 8, ways: [alone]}\n"
    read = Behaviour.parse(text)
    bot = BotTarget(kinds.BatchSensitive(0.5))
    draft = plan(read, grounds_of(read, {"bot:b": bot}, tmp_path))
    bank = Bank.of(draft.probes["consistency", "bot:b"].items)  # type: ignore[union-attr]
    targets: dict[str, Target] = {"bot:b": BotTarget(kinds.BatchSensitive(0.5), bank)}
    grounds = grounds_of(read, targets, tmp_path)
    planned = plan(read, grounds)
    assert {call.target for calls in planned.floors.values() for call in calls} == {"bot:b"}
    done = run(Prepared(read, targets, grounds, planned), tmp_path / "run.sqlite")
    found = done.findings["consistency", "bot:b"]
    assert isinstance(found, Finding)
    same = estimate(found, "same text, bot:b [alone]")
    assert same.interval is not None
    assert same.interval[0] <= 0.5 <= same.interval[1]
    assert done.counts.finished == done.counts.planned


def test_what_cannot_be_compared_is_refused() -> None:
    made: Ground = ground_of(BotTarget(kinds.Honest()))
    with pytest.raises(UsageError, match="no way 'tield'"):
        ConsistencyProbe(ways=["tield"]).plan("c", made)
    with pytest.raises(UsageError, match="cannot be run 'tiled'"):
        ConsistencyProbe(ways=["tiled"]).plan("c", replace(made, ways=("alone",)))
    with pytest.raises(UsageError, match="against 'nobody'"):
        ConsistencyProbe(against=["nobody"]).plan("c", made)


def test_the_first_items_of_a_plan_hold_texts_and_questions() -> None:
    """So that --limit leaves some of both, and what was not asked of both sides is not read."""
    made = replace(ground_of(BotTarget(kinds.Honest())), others=("other",))
    planned = PROBE.plan("consistency", made)
    few = selected(planned.calls, None, 6)
    arms = {call.arm for call in few if call.target == "other"}
    assert {"forced", "answer"} <= arms
    bank = Bank.of(planned.items)
    records = asked(BotTarget(kinds.Honest(), bank), [call for call in few if call.target == "bot"])
    found = PROBE.read(planned, records, 0)
    assert found.measured == {}
    assert found.notes == ("nothing to compare with: repeats alone",)


def test_lost_calls_are_lost_on_both_sides() -> None:
    found = pair(kinds.Honest(), kinds.NullContent())
    assert found.lost.hits >= 60
    seen = dict(found.measured["accuracy"])["other"]
    assert seen.complete.n == 0  # type: ignore[union-attr]
    assert seen.worst.harm == pytest.approx(1.0)  # type: ignore[union-attr]


def test_every_way_of_a_small_model_runs(tmp_path: Path) -> None:
    """In fp32 by other kernels, in pieces, in a batch, without a cache: within 1e-3 nats. Merged heads are not."""
    local = LocalTarget(open_model(str(tiny_folder()), engine="torch"))
    read = Behaviour.parse("suite: x\ntargets: [m]\nprobes: {order: }\n")
    made = grounds_of(read, {"m": local}, tmp_path)["m"]
    sides = ["tiled", "chunk", "batch", "no-cache", "merged-heads"]
    assert set(sides) < set(made.ways) < set(ALL_WAYS)
    probe = ConsistencyProbe(items=2, prompts=3, positions=12, max_tokens=2, ways=sides)
    planned = probe.plan("consistency", made)
    names = dict.fromkeys(call.target for call in planned.calls)
    targets = {name: local if name == "m" else variant_of(name, {"m": local}) for name in names}
    whole, records = all_rounds(probe, targets, made, plan=planned)
    assert all(isinstance(r.outcome, AnswerScore) for r in records if r.call.arm.startswith("forced"))
    found = probe.read(whole, records, 0)
    for way in sides:
        kl_most = [
            e.value for e in found.estimates if e.statistic in (f"KL most, m [{way}]", f"KL most, at least, m [{way}]")
        ]
        assert isinstance(kl_most[0], float)
        assert (kl_most[0] > 1e-3) == (way == "merged-heads"), (way, kl_most)
    width = estimate(found, "width of a tie").value
    assert isinstance(width, float)
    assert 0 < width < 1e-3  # twice what lies between the engines


def test_without_a_cache_the_same_is_written() -> None:
    """Every token from all ids before it: what is written is what the cache gives."""
    local = LocalTarget(open_model(str(tiny_folder()), engine="numpy"))
    other = variant_of(name_of("m", "no-cache"), {"m": local})
    assert isinstance(other, LocalTarget)
    assert not other.model.cached
    request = Request(Raw("once upon"), Sampling(max_tokens=5), 2)
    one, two = (asyncio.run(each.ask(request)) for each in (local, other))
    assert isinstance(one, Reply)
    assert isinstance(two, Reply)
    assert one.text == two.text
    assert two.tokens is not None
    assert [t.logprob for t in one.tokens or ()] == pytest.approx([t.logprob for t in two.tokens], abs=1e-4)
