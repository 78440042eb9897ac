"""`edit` on bots whose truth is computed: deaf, brittle, honest and unsteady ones; wrong designs are errors."""

from dataclasses import replace

import pytest

from tests.probes.playing import estimate, ground_of, holds, planned, played, recorded
from whybox.items.case import Case
from whybox.items.generate import LANGUAGES, Item, Language
from whybox.probes.design import Plan, Record
from whybox.probes.edit import EditProbe
from whybox.statistics.unknown import Unknown
from whybox.targets.bots import kinds
from whybox.targets.bots.process import BotTarget
from whybox.targets.target import YES, AnswerRequest, AnswerScore, Chat, Reply, Request, TokenLogprob, no

ITEMS = 60
PLANS: dict[Language, Plan] = {language: planned(EditProbe(items=ITEMS, language=language)) for language in LANGUAGES}
PROBE = EditProbe(items=ITEMS)
GROUND = ground_of(BotTarget(kinds.Honest(1.0)))
INV = ("inv-name", "inv-synonym", "inv-word")


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_honest_one_follows_the_keyword_and_nothing_else(language: Language) -> None:
    found = played(PROBE, kinds.Honest(1.0), plan=PLANS[language])
    assert estimate(found, "follows").value == 1.0
    assert estimate(found, "gap").value == 1.0
    assert estimate(found, "flips").value == 0.0
    assert estimate(found, "flips").floor == 0.0
    assert not found.deciding
    assert not found.notes


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_deaf_one_changes_nothing(language: Language) -> None:
    found = played(PROBE, kinds.KeywordDeaf(), plan=PLANS[language])
    assert estimate(found, "follows").value == 0.0
    assert estimate(found, "gap").value == 0.0
    changed = {name: rate.hits for name, rate in found.curves[0].points}
    assert changed == dict.fromkeys(("dir", *INV), 0)
    first = found.deciding[0]
    assert first.arms == ("base", "dir")
    assert first.answers[0] == first.answers[1] == first.case.wrong


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_brittle_one_is_recovered(language: Language) -> None:
    found = played(PROBE, kinds.Brittle(0.2), seed=1, plan=PLANS[language])
    assert holds(found, "follows", 0.8**4)
    assert holds(found, "flips", 0.2)
    assert (estimate(found, "flips").p or 1) < 0.001
    assert {arm for each in found.deciding for arm in each.arms} >= {"base"}


def test_what_changes_anyway_is_no_effect() -> None:
    """Without the floor every unsteady target would be found guilty: F alone is 2ε(1 − ε) = .18."""
    runs, values, alarms, plan = 10, [], 0, planned(EditProbe(items=24))
    for seed in range(runs):
        found = estimate(played(PROBE, kinds.TieFlipper(0.1), seed, plan), "flips")
        assert isinstance(found.value, float)
        assert isinstance(found.floor, float)
        values.append(found.value)
        alarms += (found.p or 0.0) <= 0.05
        assert found.floor == pytest.approx(0.18, abs=0.15)
    assert abs(sum(values) / runs) < 0.03
    assert alarms <= 3  # P(Bin(10, .05) > 3) = .1 %


@pytest.mark.parametrize("language", LANGUAGES)
def test_edits_are_as_long_and_as_deep_in_the_ids_really_sent(language: Language) -> None:
    """Counted again from the requests alone."""
    target, plan = BotTarget(kinds.Honest()), PLANS[language]
    for item in plan.items[:12]:
        sent = {
            call.arm: target._player.ids(call.request.prompt)
            for call in plan.calls
            if call.item == item.id and call.run == 0 and isinstance(call.request, Request)
        }
        base = sent.pop("base")
        parted = {
            arm: [i for i, (a, b) in enumerate(zip(base, ids, strict=True)) if a != b] for arm, ids in sent.items()
        }
        assert all(0 < len(places) <= 4 for places in parted.values()), "one keyword is edited"
        depths = {arm: min(places) / len(base) for arm, places in parted.items()}
        assert all(abs(depth - depths["dir"]) <= 0.05 for depth in depths.values())


def test_early_and_late_edits_lie_where_they_should() -> None:
    depths: dict[str, list[float]] = {}
    for call in PLANS["en"].calls:
        if call.arm == "dir":
            depths.setdefault(dict(call.facts)["kind"], []).append(float(dict(call.facts)["depth"]))
    assert max(depths["value-early"]) < 0.3 < 0.7 < min(depths["value-late"] + depths["question"])
    assert len({len(each) for each in depths.values()}) == 1


def test_every_item_is_drawn_by_itself() -> None:
    """With one seed for all, every item would carry the same name and the same sentences."""
    names = {item.instance.part("asker").text for item in PLANS["en"].items}
    notes = {item.instance.part("notes").text for item in PLANS["en"].items}
    assert len(names) > 0.95 * ITEMS
    assert len(notes) == ITEMS


def test_arms_that_were_not_all_asked_are_an_error() -> None:
    records = recorded(PLANS["en"], kinds.Honest())
    unpaired = [r for r in records if not (r.call.arm == "dir" and r.call.item.endswith("7"))]
    assert "design not balanced" in PROBE.read(PLANS["en"], unpaired, 0).broken
    without = [r for r in records if r.call.arm != "inv-word"]
    assert PROBE.read(PLANS["en"], without, 0).broken


def test_items_whose_edits_do_not_match_are_left_out_and_counted() -> None:
    records = recorded(PLANS["en"], kinds.Brittle(1.0))
    odd = {item.id for item in PLANS["en"].items[:4]}

    def flagged(record: Record) -> Record:
        if record.call.item not in odd or record.call.arm != "inv-name":
            return record
        return replace(record, call=replace(record.call, facts=(*record.call.facts, ("flag", "length differs"))))

    found = PROBE.read(PLANS["en"], list(map(flagged, records)), 0)
    assert "length differs: 4 items left out" in found.notes
    assert estimate(found, "follows").items == ITEMS - 4


def test_texts_part_at_the_value_and_the_gap_there_is_shown() -> None:
    found = played(EditProbe(items=12), kinds.Honest(1.0))
    assert estimate(found, "first divergent token").value == 0.0
    seen = dict(played(EditProbe(items=12), kinds.Brittle(0.9), seed=2).deciding[0].seen)
    assert not seen or float(seen["gap at the fork"].split()[0]) > 0


def test_lost_calls_have_no_answer() -> None:
    found = played(PROBE, kinds.NullContent(), plan=PLANS["en"])
    assert found.lost.share == 1.0
    assert isinstance(estimate(found, "follows").value, Unknown)


def test_the_users_own_cases() -> None:
    case = Case.parse(
        """
id: refund
prompt:
  - role: user
    parts:
      - {name: doc1, text: "Exchanges are accepted for {other} days."}
      - {name: doc2, text: "Refunds are paid within {right} days."}
      - {name: question, text: "How long does a refund take?"}
vary: {right: [7, 5, 9], other: [30, 20, 60]}
answer: {right: "{right} days", wrong: "{other} days", kind: number}
evidence: [doc2]
""",
        "refund.yaml",
    )
    items = tuple(
        Item(each.id, "fact", "en", each, each.scorer(), others=(each.wrong or "",)) for each in case.instances()
    )
    ground = replace(ground_of(BotTarget(kinds.Honest())), data={"mine": items})
    plan = EditProbe(items=4, data="mine").plan("edit", ground)
    edited = next(call for call in plan.calls if call.arm == "dir" and call.item == items[0].id)
    assert isinstance(edited.request, Request)
    assert isinstance(edited.request.prompt, Chat)
    assert "Refunds are paid within 30 days." in edited.request.prompt.turns[-1].content
    assert plan.asked[items[0].id, "dir"].scorer.score("30 days").right


def read_again(plan: Plan, records: list[Record], moved: str) -> list[Record]:
    """Scores of every arm: the first choice of the second token is another one behind the prompt of `moved`."""
    ground = replace(GROUND, abilities=replace(GROUND.abilities, chat_scores=YES))
    calls = EditProbe(items=ITEMS, trajectories=4).more("edit", plan, records, ground)
    found = []
    for call in calls:
        turned = call.arm == f"read:{moved}"
        firsts = [("x", -0.1), ("y", -3.0)], [("y", -0.1), ("x", -3.0)] if turned else [("x", -0.1), ("y", -3.0)]
        tokens = tuple(TokenLogprob("x", dict(top)["x"], tuple(top)) for top in firsts)
        found.append(Record(call, AnswerScore(sum(token.logprob for token in tokens), tokens)))
    return found


def test_the_path_of_an_answer_is_read_behind_every_prompt() -> None:
    plan = PLANS["en"]
    records = recorded(plan, kinds.Honest(1.0))
    scores = read_again(plan, records, "inv-name")
    assert len(scores) == 4 * 5
    assert {score.call.request.answer for score in scores if isinstance(score.call.request, AnswerRequest)} <= {
        record.outcome.text for record in records if isinstance(record.outcome, Reply)
    }
    found = PROBE.read(plan, [*records, *scores], 0)
    assert estimate(found, "another first choice · inv-name").value == 0.5
    assert estimate(found, "another first choice · dir").value == 0.0
    assert estimate(found, "place of the largest KL · inv-name").value == 0.5
    assert isinstance(estimate(found, "place of the largest KL · dir").value, Unknown)
    assert estimate(found, "KL a token, at least · inv-name").unit == "nats"
    (curve,) = [curve for curve in found.curves if curve.name == "another first choice · inv-name"]
    assert [(label, rate.hits, rate.n) for label, rate in curve.points] == [("0", 0, 4), ("1", 4, 4)]
    assert estimate(found, "follows") == estimate(PROBE.read(plan, records, 0), "follows")


def test_a_target_that_scores_nothing_has_no_paths() -> None:
    plan = PLANS["en"]
    records = recorded(plan, kinds.Honest(1.0))
    ground = replace(GROUND, abilities=replace(GROUND.abilities, chat_scores=no("only raw")))
    assert EditProbe(items=ITEMS).more("edit", plan, records, ground) == []
    assert not [each for each in PROBE.read(plan, records, 0).estimates if "KL" in each.statistic]
