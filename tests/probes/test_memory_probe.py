"""`memory` on bots that forget by turns, by tokens, or never knew the rule."""

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.probes.playing import estimate, ground_of, holds, planned, played, recorded
from whybox.errors import UsageError
from whybox.items.generate import LANGUAGES, Language
from whybox.probes.design import Finding, Plan
from whybox.probes.memory import MemoryProbe
from whybox.statistics.intervals import Rate
from whybox.statistics.unknown import Unknown
from whybox.targets.bots import kinds
from whybox.targets.bots.process import BotTarget
from whybox.targets.target import Chat, Request

ITEMS = 40
PROBE = MemoryProbe(items=ITEMS)
PLANS: dict[Language, Plan] = {language: planned(MemoryProbe(items=ITEMS, language=language)) for language in LANGUAGES}


def points(found: Finding, name: str) -> dict[str, Rate]:
    return next(dict(curve.points) for curve in found.curves if curve.name == name)


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_step_is_recovered(language: Language) -> None:
    found = played(PROBE, kinds.ForgetsAt(7, 0.3), seed=2, plan=PLANS[language])
    obeyed = points(found, "obeyed")
    assert [rate.share for rate in obeyed.values()][:2] == [1.0, 1.0]
    assert holds(found, "drop", 0.7)
    assert holds(found, "obeyed", 0.3)
    assert (points(found, "never failed until then")["20"].share or 0) == pytest.approx(0.09, abs=0.12)
    assert estimate(found, "rescue by restating").value == pytest.approx(0.7, abs=0.2)
    assert found.deciding[0].arms[0] == "1:system"
    assert len(found.deciding[0].case.messages) > 10


def test_a_half_life_is_recovered() -> None:
    found = estimate(played(PROBE, kinds.ForgetsGeometric(5.0), seed=3, plan=PLANS["en"]), "half-life")
    assert found.interval is not None
    assert found.interval[0] <= 5.0 <= found.interval[1]
    assert found.unit == "turns"


def test_tokens_and_turns_are_told_apart() -> None:
    by_tokens = played(PROBE, kinds.ForgetsTokens(100), plan=PLANS["en"])
    by_turns = played(PROBE, kinds.ForgetsAt(7, 0.0), plan=PLANS["en"])
    assert estimate(by_tokens, "turns beyond their tokens").value == 0.0
    assert estimate(by_turns, "turns beyond their tokens").value == 1.0


@pytest.mark.parametrize("language", LANGUAGES)
def test_obeying_by_chance_is_no_memory(language: Language) -> None:
    found = played(PROBE, kinds.NoRuleObeyer(0.4), seed=0, plan=PLANS[language])
    assert holds(found, "obeyed", 0.4)
    assert all(holds(found, f"beyond chance at {depth}", 0.0) for depth in (1, 5, 10, 20))


def test_who_never_forgets_shows_no_drop() -> None:
    found = played(PROBE, kinds.Honest(1.0), plan=PLANS["zh"])
    assert estimate(found, "drop").value == 0.0
    assert estimate(found, "drop").interval is not None
    assert isinstance(estimate(found, "half-life").value, Unknown)
    assert found.lost.hits == 0, "a call that no arm asks for is not lost"
    assert found.lost.n == len(PLANS["zh"].calls)


@pytest.mark.parametrize("language", LANGUAGES)
def test_depths_are_branches_of_one_dialogue(language: Language) -> None:
    """No branch holds an answer to another: only scripted replies stand between rule and question."""
    item = PLANS[language].items[3].id
    calls = [c for c in PLANS[language].calls if c.item == item and c.arm.endswith(":system") and c.run == 0]
    turns = []
    for call in calls:
        assert isinstance(call.request, Request)
        assert isinstance(call.request.prompt, Chat)
        turns.append(call.request.prompt.turns)
    assert [sum(turn.role == "user" for turn in each) for each in turns] == [1, 5, 10, 20]
    for shorter, longer in pairwise(turns):
        assert longer[: len(shorter) - 1] == shorter[:-1]
        assert longer[-1] == shorter[-1]
    assert len({turn.content for turn in turns[-1] if turn.role == "assistant"}) == 1


def test_one_turn_holds_the_same_words() -> None:
    item = PLANS["en"].items[0].id
    texts = {}
    for call in PLANS["en"].calls:
        if call.item == item and call.arm in ("20:user", "20:one-turn"):
            assert isinstance(call.request, Request)
            assert isinstance(call.request.prompt, Chat)
            texts[call.arm] = "\n".join(turn.content for turn in call.request.prompt.turns)
    assert texts["20:user"] == texts["20:one-turn"]


def test_talk_is_drawn_for_every_item_alone() -> None:
    asked = PLANS["en"].asked
    first = {each.instance.messages[1].parts[0].text for (_, arm), each in asked.items() if arm == "20:system"}
    assert len(first) > 0.9 * ITEMS


def test_a_depth_that_was_left_out_is_an_error() -> None:
    records = [
        r for r in recorded(PLANS["en"], kinds.Honest()) if (r.call.item, r.call.arm) != ("rule-en-5", "10:system")
    ]
    assert "design not balanced" in PROBE.read(PLANS["en"], records, 0).broken


@pytest.mark.parametrize("usage", ["before", "after"])
def test_a_prompt_that_is_cut_is_no_forgetting(usage: str) -> None:
    probe = MemoryProbe(items=6, explained=1)
    ground = replace(ground_of(BotTarget(kinds.Honest())), counted=False)
    plan = probe.plan("memory", ground)
    cut = kinds.bot_of("truncates_context", {"n": 120, "side": "start", "usage": usage})
    assert "cut at the start" in probe.read(plan, recorded(plan, cut), 0).broken
    assert not probe.read(plan, recorded(plan, kinds.Honest()), 0).broken


def test_depths_that_do_not_rise_are_refused() -> None:
    with pytest.raises(UsageError, match="depths must rise"):
        planned(MemoryProbe(items=2, depths=[5, 1]))
