"""`order` on bots whose truth is known, and what its design refuses."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from whybox.errors import UsageError
from whybox.probes.design import Finding, Ground, Plan, Record, Seen2
from whybox.probes.order import OrderProbe
from whybox.statistics.calls import LOST
from whybox.targets.bots.kinds import bot_from
from whybox.targets.bots.process import BotTarget
from whybox.targets.target import Failure, Reply


def ground(**fields: object) -> Ground:
    return Ground("bot", BotTarget(bot_from("honest")).abilities, **fields)  # type: ignore[arg-type]


def planned(items: int = 12, units: int = 4) -> tuple[OrderProbe, Plan]:
    probe = OrderProbe(items=items, units=units)
    return probe, probe.plan("order", ground())


def asked(plan: Plan, bot: str) -> list[Record]:
    target = BotTarget(bot_from(bot), concurrency=64)

    async def all_of_them() -> list[Record]:
        requests = [call.request for call in plan.calls]
        return [Record(plan.calls[i], outcome) async for i, outcome in target.ask_all(requests)]  # type: ignore[arg-type]

    return asyncio.run(all_of_them())


def effects(finding: Finding) -> Seen2:
    return finding.measured["changed"][0][1]


def test_every_unit_stands_at_every_place_equally_often_and_calls_are_distinct() -> None:
    _, plan = planned(6)
    assert len(plan.calls) == 6 * 4 * 2
    assert len({call.cell for call in plan.calls}) == len(plan.calls)
    one = [call for call in plan.calls if call.item == plan.items[0].id and call.run == 0]
    assert sorted(dict(call.facts)["place"] for call in one) == ["0", "1", "2", "3"]
    assert len({call.request.digest for call in one}) == 4
    again = [call for call in plan.calls if call.item == plan.items[0].id and call.arm == one[0].arm]
    assert {call.request.digest for call in again} == {one[0].request.digest}
    assert [call.request.repeat for call in again] == [0, 1]
    assert plan.calls == planned(6)[1].calls, "the same plan for the same seed"


@pytest.mark.parametrize(("bot", "changed"), [("honest", 0.0), ("always_first", 1.0)])
def test_an_honest_bot_shows_nothing_and_one_that_takes_the_first_shows_all(bot: str, changed: float) -> None:
    probe, plan = planned()
    finding = probe.read(plan, asked(plan, bot), seed=0)
    assert finding.broken == ""
    estimate = finding.estimates[0]
    assert estimate.value == pytest.approx(changed)
    assert estimate.floor == 0
    assert estimate.interval is not None
    assert estimate.interval[0] <= changed <= estimate.interval[1]
    assert (estimate.p is not None and estimate.p < 0.01) == (changed > 0)
    rights = [rate.hits for _, rate in finding.curves[0].points]
    assert rights == ([12] * 4 if bot == "honest" else rights)
    assert len(finding.deciding) == (0 if bot == "honest" else 12)
    for each in finding.deciding:
        assert not each.case.scorer().score(each.answers[-1]).right, "the case is that of a wrong order"
        named = [part.name for part in each.case.parts if part.name.startswith("doc")]
        assert named == [f"doc{unit}" for unit in each.arms[-1].split("-")]
    if bot == "always_first":
        wrong = dict(finding.curves[1].points)
        assert wrong["1"].hits == wrong["1"].n > 0, "every wrong answer stood first"
        assert all(len(set(each.answers)) > 1 for each in finding.deciding)
        assert {each.statistic for each in finding.estimates} == {"changed", "right", "spread", "slope over order"}


def test_a_lost_call_is_neither_right_nor_wrong_and_counts_against_the_gate() -> None:
    probe, plan = planned(10)
    hit = plan.items[0].id, 0
    records: Sequence[Record] = [
        Record(record.call, Failure("http", "no")) if (record.call.item, record.call.run) == hit else record
        for record in asked(plan, "honest")
    ]
    finding = probe.read(plan, records, seed=0)
    assert (finding.lost.hits, finding.lost.n) == (4, 80)
    seen = effects(finding)
    assert isinstance(seen.complete, np.ndarray)
    assert isinstance(seen.worst, np.ndarray)
    assert not seen.complete.any()
    assert seen.worst.mean() > 0
    assert LOST not in [rate.n for _, rate in finding.curves[0].points]


def test_a_part_of_the_design_is_no_design() -> None:
    probe, plan = planned(5)
    records = [Record(call, Reply("?")) for call in plan.calls[:-1]]
    finding = probe.read(plan, records, seed=0)
    assert "not balanced" in finding.broken
    assert finding.estimates == ()


def test_items_of_the_user_need_parts_that_commute() -> None:
    from whybox.items.case import Case
    from whybox.items.generate import Item

    case = Case.from_data(
        {
            "id": "c",
            "text": [{"name": "a", "text": "Refunds take 7 days."}, {"name": "b", "text": "The above holds."}],
            "answer": {"right": "7 days", "kind": "number"},
        }
    )
    instance = case.instances()[0]
    own = ground(data={"mine": (Item("c", "fact", "en", instance, instance.scorer()),)})
    with pytest.raises(UsageError, match="needs `parts`"):
        OrderProbe(data="mine").plan("order", own)
    with pytest.raises(UsageError, match="does not commute"):
        OrderProbe(data="mine", parts=["a", "b"]).plan("order", own)
