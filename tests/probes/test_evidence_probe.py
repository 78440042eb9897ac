"""`evidence` on bots whose truth is computed: shapes, gains and arms recovered; wrong designs are errors."""

from dataclasses import replace

import pytest

from tests.probes.playing import changed_calls, estimate, ground_of, holds, planned, played, recorded, shares
from whybox.errors import UsageError
from whybox.items.generate import LANGUAGES, Language
from whybox.probes.design import Plan, Record
from whybox.probes.evidence import EvidenceProbe
from whybox.statistics.unknown import Unknown
from whybox.targets.bots import kinds
from whybox.targets.bots.process import BotTarget
from whybox.targets.target import Failure, Reply, Request

ITEMS = 60
PLANS: dict[Language, Plan] = {
    language: planned(EvidenceProbe(items=ITEMS, language=language)) for language in LANGUAGES
}
PROBE = EvidenceProbe(items=ITEMS)


@pytest.mark.parametrize("language", LANGUAGES)
def test_recency_is_recovered_and_called_so(language: Language) -> None:
    found = played(PROBE, kinds.RecencyWeighted(0.5), seed=0, plan=PLANS[language])
    assert holds(found, "lean", 0.484)
    assert holds(found, "ends", 0.123)
    assert holds(found, "right", 0.2)
    assert dict(found.words)["shape"] == "recency"
    assert dict(found.words)["placement"] == "verified in ids"


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_blind_middle_is_a_u(language: Language) -> None:
    found = played(PROBE, kinds.MiddleBlind(0.5), seed=1, plan=PLANS[language])
    assert holds(found, "ends", 0.5)
    assert holds(found, "lean", 0.0)
    assert dict(found.words)["shape"] == "U"
    assert estimate(found, "ends").p == pytest.approx(1 / 5000, rel=1.5)
    assert 0.25 <= (shares(found, "right")["3"] or 0) <= 0.75


def test_memory_does_not_pass_for_reading() -> None:
    found = played(PROBE, kinds.ClosedBook(0.5), plan=PLANS["en"])
    assert estimate(found, "follows").value == 0.0
    assert estimate(found, "unchanged without it").value == 1.0
    assert estimate(found, "grounded").value == 0.0
    assert isinstance(estimate(found, "gain at 3").value, Unknown)  # nothing is gained by the passage alone
    assert holds(found, "closed", 0.5)


def test_a_reader_gains_all_that_the_passage_gives() -> None:
    found = played(PROBE, kinds.Reader(0.1), seed=0, plan=PLANS["zh"])
    assert estimate(found, "closed").value == 0.0
    assert estimate(found, "declines").value == 1.0
    assert estimate(found, "unchanged without it").value == 0.0
    assert holds(found, "gain at 1", 1.0)
    assert holds(found, "follows", 0.9)
    assert holds(found, "grounded", 0.81)


def test_a_place_that_is_always_taken() -> None:
    found = played(PROBE, kinds.AlwaysFirst(), plan=PLANS["en"])
    assert dict(found.words)["shape"] == "primacy"
    curves = {curve.name: dict(curve.points) for curve in found.curves}
    assert curves["place of a wrong answer"]["1"].share == 1.0
    assert [rate.hits for rate in curves["right"].values()] == [ITEMS, 0, 0, 0, 0]
    assert list(curves["right"]) == ["1 (0 %)", "2 (25 %)", "3 (50 %)", "4 (75 %)", "5 (100 %)"]
    case = found.deciding[0].case
    assert case.wrong not in (None, case.right)
    assert case.evidence[0] != case.parts[1].name


def test_nothing_is_found_where_nothing_is_and_flat_is_shown() -> None:
    found = played(PROBE, kinds.Honest(0.7), plan=PLANS["en"])
    assert dict(found.words)["shape"] == "flat"
    assert holds(found, "right", 0.7)
    runs, plan = 10, planned(EvidenceProbe(items=24))
    alarms = sum(
        (estimate(played(PROBE, kinds.TieFlipper(0.2), seed, plan), "lean").p or 0.0) <= 0.05 for seed in range(runs)
    )
    assert alarms <= 3  # P(Bin(10, .05) > 3) = .1 %


@pytest.mark.parametrize("language", LANGUAGES)
def test_places_are_measured_in_the_ids_really_sent(language: Language) -> None:
    """Found again without any span: what prompts share before and behind the right passage is its context."""
    plan = PLANS[language]
    target = BotTarget(kinds.Honest())
    for item in plan.items[:6]:
        passage = item.instance.part(item.instance.evidence[0]).text
        calls = [call for call in plan.calls if call.item == item.id and call.arm.isdecimal()]
        lengths = set()
        for call in calls:
            assert isinstance(call.request, Request)
            ids = target._player.ids(call.request.prompt)
            facts = dict(call.facts)
            lengths.add(len(ids))
            assert facts["ids"] == str(len(ids))
            content = call.request.prompt.turns[-1].content  # type: ignore[union-attr]
            lines = content.split("\n")[:-1]
            assert content.count(passage) == 1
            assert lines.index(passage) == int(facts["place"]) == int(call.arm) - 1
            assert abs(float(facts["realised"]) - float(facts["requested"])) <= 0.25
        assert len(lengths) == 1, "the order of the passages must not change the length"


def test_distractors_keep_their_cyclic_order() -> None:
    plan = PLANS["en"]
    item = plan.items[7]
    orders = [dict(c.facts)["order"].split(" ") for c in plan.calls if c.item == item.id and c.arm.isdecimal()]
    gold = item.instance.evidence[0]
    assert [order.index(gold) for order in orders] == [0, 1, 2, 3, 4]
    for order in orders:
        assert [name for name in order[order.index(gold) :] + order[: order.index(gold)] if name != gold] == [
            name for name in orders[0] if name != gold
        ]


def test_a_right_passage_at_one_place_for_all_is_an_error() -> None:
    """One seed for every item shuffles every item alike: the right passage stands at a single place."""
    records = recorded(PLANS["en"], kinds.AlwaysFirst())
    stuck = [record for record in records if record.call.arm != "2"] + changed_calls(
        [record for record in records if record.call.arm == "2"], lambda call: replace(call, arm="1")
    )
    found = PROBE.read(PLANS["en"], stuck, 0)
    assert "design not balanced" in found.broken
    assert not found.estimates


def test_a_passage_that_stands_elsewhere_is_an_error() -> None:
    """The chart says 50 %, the ids say 0 %."""

    def moved(record: Record) -> Record:
        facts = tuple((key, "0.0000" if key == "realised" else value) for key, value in record.call.facts)
        return replace(record, call=replace(record.call, facts=facts))

    found = PROBE.read(PLANS["zh"], [moved(record) for record in recorded(PLANS["zh"], kinds.Honest())], 0)
    assert found.broken.startswith("placement: item")


def test_items_of_unequal_prompts_are_left_out_and_counted() -> None:
    records = recorded(PLANS["en"], kinds.Honest())
    odd = PLANS["en"].items[0].id

    def longer(record: Record) -> Record:
        if (record.call.item, record.call.arm) != (odd, "3"):
            return record
        facts = tuple((key, "9999" if key == "ids" else value) for key, value in record.call.facts)
        return replace(record, call=replace(record.call, facts=facts))

    found = PROBE.read(PLANS["en"], list(map(longer, records)), 0)
    assert "length differs: 1 items left out" in found.notes
    assert estimate(found, "right").items == ITEMS - 1


def test_lost_calls_are_lost_and_not_wrong() -> None:
    found = played(PROBE, kinds.NullContent(), plan=PLANS["en"])
    assert found.lost.share == 1.0
    assert not found.broken
    assert isinstance(estimate(found, "right").value, Unknown)
    records = recorded(PLANS["en"], kinds.Honest(1.0))
    holed = [
        replace(record, outcome=Failure("timeout", "late")) if i % 50 == 0 else record
        for i, record in enumerate(records)
    ]
    found = PROBE.read(PLANS["en"], holed, 0)
    assert shares(found, "right")["1"] == 1.0
    assert (shares(found, "right", lossy=True)["1"] or 0) < 1.0


def test_answers_that_change_with_the_length_of_the_context() -> None:
    probe = EvidenceProbe(items=20, lengths=[10, 20])
    plan = planned(probe)
    assert {call.arm for call in plan.calls} >= {"10:0", "10:100", "20:50"}
    changed = {
        bot: next(c for c in played(probe, bot, plan=plan).curves if c.name == "changed by length").points
        for bot in (kinds.Honest(0.7), kinds.AlwaysLast())
    }
    assert [str(rate) for _, rate in changed[kinds.Honest(0.7)]] == ["0 of 20", "0 of 20"]
    assert [str(rate) for _, rate in changed[kinds.AlwaysLast()]] == ["20 of 20", "20 of 20"]


@pytest.mark.parametrize("labels", ["fixed", "shuffled"])
def test_citations_by_number(labels: str) -> None:
    """Always the label of the first passage: cited rightly at the first place only, whatever the labels are."""
    probe = EvidenceProbe.model_validate({"items": 20, "labels": labels})
    plan = planned(probe)

    def citing(record: Record) -> Record:
        shown = dict(record.call.facts).get("labels", "").split(" ")[0]
        return replace(record, outcome=Reply(f"It is written [{shown}]."))

    found = probe.read(plan, [citing(record) for record in recorded(plan, kinds.Honest())], 0)
    assert list(shares(found, "cited").values()) == [1, 0, 0, 0, 0]
    assert estimate(found, "right among citations").value == pytest.approx(0.2)
    assert (estimate(found, "cited places alike").p or 1) < 1e-6
    assert found.grids[0].counts[4] == (20, 0, 0, 0, 0)
    texts = [c.request.prompt.turns[-1].content for c in plan.calls if c.arm == "1"]  # type: ignore[union-attr]
    seen = {text.split("]")[0] for text in texts}
    assert (len(seen) > 1) == (labels == "shuffled")


def test_a_target_without_ids_says_so() -> None:
    ground = replace(ground_of(BotTarget(kinds.Honest())), encode=None, count=len)
    probe = EvidenceProbe(items=6)
    plan = probe.plan("evidence", ground)
    found = probe.read(plan, recorded(plan, kinds.Honest()), 0)
    assert "depth in characters, not verified" in found.notes
    with pytest.raises(UsageError, match="not above 5 passages"):
        EvidenceProbe(items=6, lengths=[4]).plan("evidence", ground)
