"""`knowledge` on bots that keep to what they know, follow every text, bluff, refuse, or know nothing past a month."""

from functools import cache
from pathlib import Path

import pytest

from tests.probes.playing import estimate, holds, shares
from tests.probes.rounds import all_rounds, ground, played_out
from whybox.errors import CaseError, UsageError
from whybox.items.generate import LANGUAGES, Language, common_facts, generate
from whybox.items.scoring import number_scorer
from whybox.probes.design import Finding
from whybox.probes.knowledge import KnowledgeProbe
from whybox.probes.knowledge_conflict import DOSES, contradicted, stated
from whybox.statistics.unknown import Unknown
from whybox.suite.behaviour import Behaviour
from whybox.suite.data import load_items
from whybox.targets.bots import kinds
from whybox.targets.bots.kinds import Bot
from whybox.targets.bots.process import BotTarget

CONFLICT = KnowledgeProbe(items=60, ceiling=12, ask=["conflict"])
EDGE = KnowledgeProbe(answerable=60, unanswerable=30, ask=["boundary"])
DATES = KnowledgeProbe(ask=["cut-off"], dated="facts", released="2024-08")


@cache
def conflict(bot: Bot, language: Language = "en", seed: int = 0) -> Finding:
    return played_out(CONFLICT.model_copy(update={"language": language}), bot, seed)


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_keeps_to_what_it_knows(language: Language) -> None:
    """PB = s and CB = 1 − s at every dose; nothing is known of invented entities, so the text is followed there."""
    found = conflict(kinds.Stubborn(0.7), language, 1)
    for dose in DOSES:
        assert estimate(found, f"follows {dose}").items == 60
        assert holds(found, f"follows {dose}", 0.3)
        assert estimate(found, f"follows {dose}").primary
    assert holds(found, "from memory", 0.7)
    assert estimate(found, "follows where nothing is known").value == 1.0
    case = found.deciding[0].case
    assert case.evidence == ("doc1",)
    assert case.right in case.part("doc1").text


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_follows_every_text(language: Language) -> None:
    found = conflict(kinds.Gullible(0.8), language, 2)
    assert all(holds(found, f"follows {dose}", 0.8) for dose in DOSES)
    assert list(shares(found, "follows")) == list(DOSES)


def test_a_wrong_prior_against_a_right_text() -> None:
    """Who ignores the text keeps its wrong answers: PB = 1."""
    found = conflict(kinds.ClosedBook(0.5), "en", 3)
    assert estimate(found, "prior over a right text").value == 1.0
    assert estimate(found, "prior over a right text").items >= 10
    assert estimate(found, "text over a wrong prior").value == 0.0


def test_without_a_prior_there_is_no_conflict() -> None:
    """A reader declines without a text: nothing is contradicted, and nothing is said of it."""
    found = conflict(kinds.Reader())
    assert isinstance(estimate(found, "follows near").value, Unknown)
    assert "follows" not in found.measured
    assert found.notes == ("a steady answer without any text: 0 items",)


def test_an_answer_that_comes_and_goes_is_no_prior() -> None:
    found = conflict(kinds.TieFlipper(0.5), "en", 1)
    assert 0 < estimate(found, "follows near").items < 60


@pytest.mark.parametrize("language", LANGUAGES)
def test_doses_state_other_answers_of_their_kind(language: Language) -> None:
    for item in generate("common", language, len(common_facts()), 0, len):
        values = [stated(item, dose) for dose in DOSES]
        assert len({item.instance.right, *values}) == 4, item.id
        for arm, each in contradicted(item).items():
            assert each.scorer.score(each.instance.right).outcome == "right", (item.id, arm)
            assert each.scorer.score(item.instance.right).candidate == item.instance.right
            assert each.instance.right in each.instance.part("doc1").text
            assert (len(each.instance.messages) == 1) == arm.endswith(":untold")


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_bluffs_where_nothing_answers(language: Language) -> None:
    found = played_out(EDGE.model_copy(update={"language": language}), kinds.Bluffer(0.4), 4)
    assert holds(found, "declines", 0.6)
    assert estimate(found, "refuses").value == 0.0
    assert estimate(found, "right of all answerable").value == 1.0
    assert dict(found.words)["boundary"] == "8 documents"
    assert {case.arms[0] for case in found.deciding} == {"unanswerable", "false-premise"}


@pytest.mark.parametrize("language", LANGUAGES)
def test_who_declines_what_could_be_answered(language: Language) -> None:
    found = played_out(EDGE.model_copy(update={"language": language}), kinds.OverRefuser(0.3), 6)
    assert holds(found, "refuses", 0.3)
    assert estimate(found, "declines").value == 1.0
    assert estimate(found, "right of those tried").value == 1.0


def test_kinds_and_tiers_are_even() -> None:
    plan = EDGE.plan("knowledge", ground(kinds.Honest()))
    tiers: dict[tuple[str, str], int] = {}
    for call in plan.calls:
        at = call.arm, dict(call.facts)["tier"]
        tiers[at] = tiers.get(at, 0) + 1
    assert set(tiers.values()) == {20, 10}
    assert len(tiers) == 9
    assert len({item.id for item in plan.items}) == len(plan.items) == 120


def facts(folder: Path, months: int = 32, each: int = 5, wrong: str = "North|South|East|West") -> Path:
    """Made for this test alone: months in which something of a number came out."""
    path, rows = folder / "facts.csv", ["month,question,right,wrong,source"]
    for month in range(months):
        name = f"{2022 + month // 12}-{month % 12 + 1:02d}"
        rows += [
            f"{name},Which way did test {month} number {i} go?,Up,{wrong},https://example.org/{month} 2025-01-01"
            for i in range(each)
        ]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_the_month_from_which_nothing_is_known_is_in_the_set(tmp_path: Path) -> None:
    data = {"facts": load_items(facts(tmp_path, 45), "en")}
    found = played_out(DATES, kinds.CutoffAt("2023-06", 0.9, 0.25), 1, data)
    assert holds(found, "months known", 17)
    assert holds(found, "guess rate", 0.25)
    assert "2023-0" in dict(found.words)["knowledge fades about"]


def test_who_only_guesses_is_not_located(tmp_path: Path) -> None:
    data = {"facts": load_items(facts(tmp_path, 45), "en")}
    found = played_out(DATES, kinds.Guesser(0.25), 1, data)
    assert isinstance(estimate(found, "months known").value, Unknown)
    assert dict(found.words)["knowledge fades"].startswith("not located")


def test_controls_are_choices_without_the_right_one(tmp_path: Path) -> None:
    """Where no fact is later than the release: as many as the method needs."""
    data = {"facts": load_items(facts(tmp_path), "en")}
    probe = KnowledgeProbe(ask=["cut-off"], dated="facts")
    plan = probe.plan("knowledge", ground(kinds.Honest(), data))
    controls = [plan.asked[call.item, call.arm].instance for call in plan.calls if call.arm == "control"]
    assert len(controls) == 60
    assert all("Up" not in dict(case.options).values() and len(case.options) == 4 for case in controls)
    asked = [plan.asked[call.item, call.arm].instance for call in plan.calls if call.arm == "dated"]
    assert all(dict(case.options)[case.right] == "Up" for case in asked)
    assert {case.right for case in asked} == set("ABCD")


def test_too_few_facts_locate_nothing(tmp_path: Path) -> None:
    data = {"facts": load_items(facts(tmp_path, 20, 3), "en")}
    found = played_out(KnowledgeProbe(ask=["cut-off"], dated="facts"), kinds.Honest(), 0, data)
    assert dict(found.words)["knowledge fades"] == "60 dated facts, at least 120 are needed"


def test_dated_facts_without_a_source_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "facts.csv"
    path.write_text("month,question,right,wrong,source\n2024-01,Who?,A,B,a friend\n", encoding="utf-8")
    with pytest.raises(CaseError, match="public address"):
        load_items(path, "en")
    path.write_text("month,question,right,wrong,source\n", encoding="utf-8")
    with pytest.raises(UsageError, match="found none"):
        load_items(path, "en")


def test_what_cannot_be_meant_is_refused() -> None:
    made = ground(kinds.Honest(), {"mine": generate("fact", "en", 2, 0, len)})
    with pytest.raises(UsageError, match="has no month"):
        KnowledgeProbe(dated="mine").plan("knowledge", made)
    with pytest.raises(UsageError, match="tiers must rise"):
        KnowledgeProbe(tiers=[4, 2]).plan("knowledge", made)
    with pytest.raises(UsageError, match=r"probes\.knowledge\.dated: expected data among nothing"):
        Behaviour.parse("suite: x\ntargets: [m]\nprobes: {knowledge: {dated: facts}}\n")


def test_lost_calls_are_neither_followed_nor_declined() -> None:
    probe = KnowledgeProbe(items=8, ceiling=2, answerable=9, unanswerable=6)
    made = ground(kinds.Honest())
    plan, records = all_rounds(probe, {"bot": BotTarget(kinds.NullContent())}, made)
    found = probe.read(plan, records, 0)
    assert found.lost.hits == found.lost.n == len(records)
    assert isinstance(estimate(found, "declines").value, Unknown)
    assert shares(found, "refuses", lossy=True) == {"answerable": 1.0}
    assert number_scorer("7 days").score(None).outcome == "error"
