"""`memory` with a live history: the target's own replies, turn by turn, and the question on branches."""

from itertools import pairwise

import pytest

from tests.probes.playing import estimate, holds
from tests.probes.rounds import all_rounds, ground, played_out
from whybox.errors import UsageError
from whybox.probes.memory import MemoryProbe
from whybox.targets.bots import kinds
from whybox.targets.bots.process import BotTarget
from whybox.targets.bots.reading import Bank
from whybox.targets.target import Chat, Reply

PROBE = MemoryProbe(items=24, depths=[1, 3, 6], history="live", explained=8, runs=1)


def test_a_step_is_recovered_behind_own_replies() -> None:
    found = played_out(PROBE, kinds.ForgetsAt(3, 0.0), 1)
    assert not found.broken
    assert estimate(found, "drop").value == 1.0
    assert estimate(found, "obeyed").value == 0.0
    assert found.lost.hits == 0
    case = found.deciding[0].case
    assert [message.role for message in case.messages[:3]] == ["system", "user", "assistant"]
    assert len(case.messages) == 12


def test_who_never_forgets_shows_no_drop() -> None:
    found = played_out(PROBE, kinds.Honest(1.0))
    assert estimate(found, "drop").value == 0.0
    assert holds(found, "obeyed", 1.0)
    bare = next(curve for curve in found.curves if curve.name == "without the rule")
    assert [rate.n for _, rate in bare.points] == [8, 8, 8]


def test_every_branch_stands_on_the_replies_that_came() -> None:
    made = ground(kinds.Honest())
    plan = PROBE.plan("memory", made)
    plan, records = all_rounds(PROBE, {"bot": BotTarget(kinds.Honest(), Bank.of(plan.items))}, made, plan=plan)
    item = plan.items[0].id
    sent, came = {}, {}
    for record in records:
        if record.call.item == item:
            assert isinstance(record.call.request.prompt, Chat)
            assert isinstance(record.outcome, Reply)
            sent[record.call.arm] = [turn.content for turn in record.call.request.prompt.turns]
            came[record.call.arm] = record.outcome.text
    turns = [f"turn{i}:system" for i in range(1, 6)]
    for one, other in pairwise(turns):
        assert sent[other][:-1] == [*sent[one], came[one]]
    assert sent["6:system"][:-1] == [*sent[turns[-1]], came[turns[-1]]]
    assert sent["3:no-rule"][0] == sent["turn1:no-rule"][0]
    assert "turn6:system" not in sent


def test_a_turn_that_is_lost_ends_its_dialogue() -> None:
    found = played_out(MemoryProbe(items=12, depths=[1, 3], history="live", runs=1), kinds.NullContent())
    assert found.broken or found.lost.hits > 0.05 * found.lost.n


def test_a_live_history_holds_the_rule_in_the_system_message() -> None:
    with pytest.raises(UsageError, match="live history"):
        MemoryProbe(history="live", home="user").plan("memory", ground(kinds.Honest()))
