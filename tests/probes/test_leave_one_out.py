"""Passages left out in turn: what log P of the right answer loses."""

from dataclasses import replace

import pytest

from tests.probes.playing import estimate
from tests.probes.rounds import all_rounds, ground
from whybox.probes.design import Ground, Record
from whybox.probes.evidence import EvidenceProbe
from whybox.statistics.unknown import Unknown
from whybox.targets.bots import kinds
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.reading import Bank
from whybox.targets.openai import Endpoint, OpenAITarget
from whybox.targets.target import YES, Ability, AnswerScore, Chat, Failure, no

PROBE = EvidenceProbe(items=6, passages=3, leave_one_out=4)


def able(scores: Ability) -> Ground:
    """A target that scores given answers behind a conversation, or does not."""
    made = ground(kinds.Honest())
    return replace(made, abilities=replace(made.abilities, chat_scores=scores))


def test_what_is_lost_is_lost_by_the_passage_that_was_left_out() -> None:
    """log P is −5 without the right passage and −1 elsewhere: 4 nats, and nothing."""
    made = able(YES)
    plan = PROBE.plan("evidence", made)
    ours = [call for call in plan.calls if call.arm.startswith("without:")]
    assert len(ours) == 4 * 4
    plan, records = all_rounds(PROBE, {"bot": BotTarget(kinds.Honest(), Bank.of(plan.items))}, made, plan=plan)

    def score(record: Record) -> Record:
        if record.call not in ours:
            return record
        assert isinstance(record.call.request.prompt, Chat)
        item = next(item for item in plan.items if item.id == record.call.item)
        text = "\n".join(turn.content for turn in record.call.request.prompt.turns)
        is_there = item.instance.part(item.instance.evidence[0]).text in text
        assert is_there == (dict(record.call.facts)["role"] != "gold")
        return Record(record.call, AnswerScore(-1.0 if is_there else -5.0, ()))

    found = PROBE.read(plan, [score(record) for record in records], 0)
    assert estimate(found, "log P lost without the right passage").value == pytest.approx(4.0)
    assert estimate(found, "log P lost without another one").value == pytest.approx(0.0)
    assert estimate(found, "log P lost without another one").unit == "nats"
    assert found.lost.hits == 0


def test_who_scores_nothing_is_not_asked_and_says_so() -> None:
    """An endpoint echoes raw text alone: a call that could only fail is none, and no failure is counted."""
    endpoint = OpenAITarget(Endpoint("m"))
    for made in (able(no("not behind a conversation")), replace(able(YES), abilities=endpoint.abilities)):
        plan = PROBE.plan("evidence", made)
        assert not [call for call in plan.calls if call.arm.startswith("without:")]
        plan, records = all_rounds(PROBE, {"bot": BotTarget(kinds.Honest(), Bank.of(plan.items))}, made, plan=plan)
        assert not any(isinstance(record.outcome, Failure) for record in records)
        found = PROBE.read(plan, records, 0)
        assert isinstance(estimate(found, "log P lost without the right passage").value, Unknown)
        assert estimate(found, "log P lost without another one").items == 0


def test_who_may_score_and_does_not_loses_no_answer() -> None:
    made = able(YES)
    plan = PROBE.plan("evidence", made)
    plan, records = all_rounds(PROBE, {"bot": BotTarget(kinds.Honest(), Bank.of(plan.items))}, made, plan=plan)
    assert any(isinstance(record.outcome, Failure) for record in records)  # a bot echoes no conversation
    found = PROBE.read(plan, records, 0)
    assert isinstance(estimate(found, "log P lost without the right passage").value, Unknown)
    assert found.lost.hits == 0
