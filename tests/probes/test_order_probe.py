"""`order` on bots whose truth is known, and what its design refuses."""

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest

from whybox.errors import UsageError
from whybox.probes.design import Finding, Ground, Plan, Record, Seen2
from whybox.probes.order import OrderProbe
from whybox.statistics.calls import LOST
from whybox.statistics.unknown import Unknown
from whybox.targets.bots.kinds import bot_from
from whybox.targets.bots.process import BotTarget
from whybox.targets.target import Chat, Failure, Reply, TokenLogprob


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


def value(finding: Finding, statistic: str) -> float | Unknown:
    return next(each.value for each in finding.estimates if each.statistic == statistic)


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
        gains = ["gain where first", "gain where last"]
        told = ["changed", "right", "spread", "slope over order", *gains, "first divergent token"]
        assert [each.statistic for each in finding.estimates] == told
        assert value(finding, "gain where first") == pytest.approx(1.0)
        assert value(finding, "gain where last") == pytest.approx(-1 / 3), "right at one place of the three others"


def texts(plan: Plan, arm: str) -> list[str]:
    """What the user is shown in the first prompt of an arm, line by line."""
    prompt = next(call for call in plan.calls if call.arm == arm).request.prompt
    assert isinstance(prompt, Chat)
    return prompt.turns[-1].content.split("\n")


def test_numbers_go_with_their_part_or_belong_to_a_place() -> None:
    probe = OrderProbe(items=6, units=3, numbering=["kept", "renewed"])
    plan = probe.plan("order", ground())
    assert len(plan.calls) == 6 * 6 * 2 * 2
    plain = OrderProbe(items=6, units=3).plan("order", ground())
    shown = texts(plain, "3-1-2")[:3]
    assert texts(plan, "numbers kept 3-1-2")[:3] == [f"{n}. {line}" for n, line in zip((3, 1, 2), shown, strict=True)]
    assert texts(plan, "numbers renewed 3-1-2")[:3] == [
        f"{n}. {line}" for n, line in zip((1, 2, 3), shown, strict=True)
    ]
    finding = probe.read(plan, asked(plan, "always_first"), seed=0)
    assert [part for part, _ in finding.measured["changed"]] == ["numbers kept", "numbers renewed"]
    first = value(finding, "changed · numbers kept")
    assert first == value(finding, "changed · numbers renewed")
    assert isinstance(first, float)
    assert first > 0.5
    assert len(finding.measured["right"]) == 12
    assert {each.item for each in finding.deciding} == {item.id for item in plan.items}


def test_labels_move_with_their_content_or_stay_in_place() -> None:
    probe = OrderProbe(items=4, labels=["move", "stay"])
    plan = probe.plan("order", ground())
    plain, moved, stayed = (
        texts(plan, f"labels {arm}")[-5:-1] for arm in ("move 1-2-4-3", "move 2-3-1-4", "stay 2-3-1-4")
    )
    contents = dict(line.split(") ") for line in plain)
    assert list(contents) == ["A", "B", "D", "C"]
    assert moved == [f"{label}) {contents[label]}" for label in "BCAD"]
    assert stayed == [f"{label}) {contents[content]}" for label, content in zip("ABCD", "BCAD", strict=True)]
    for call in plan.calls:
        item = plan.asked[call.item, call.arm]
        label = item.instance.right
        value_given = item.instance.part(item.instance.evidence[0]).text.split()[-2]
        assert f"\n{label}) {value_given}" in item.instance.part("question").text
        assert item.scorer.score(label).right
        assert not item.scorer.score(str(item.instance.wrong)).right


@pytest.mark.parametrize(
    ("bot", "moved", "stayed", "place", "label"),
    [
        ("honest", 0.0, 0.0, 0.0, 0.0),
        ("always_first", 1.0, 1.0, 0.75, 0.0),
        ("label_biased(b=1.0)", 0.0, 1.0, 0.0, 0.75),
    ],
)
def test_a_liking_for_a_label_is_told_from_one_for_a_place_where_labels_move(
    bot: str, moved: float, stayed: float, place: float, label: float
) -> None:
    """Both take `A` where labels stay, and are alike there, call by call; no label is spoken of."""
    probe = OrderProbe(items=16, labels=["move", "stay"])
    plan = probe.plan("order", ground())
    finding = probe.read(plan, asked(plan, bot), seed=0)
    found = {each.statistic: each.value for each in finding.estimates}
    assert found["changed · labels move"] == pytest.approx(moved)
    assert found["changed · labels stay"] == pytest.approx(stayed)
    assert found["first place beyond right · labels move"] == pytest.approx(place)
    assert found["label A beyond right · labels move"] == pytest.approx(label)
    assert found["first place beyond right · labels stay"] == pytest.approx(0.75 * stayed)
    assert "label A beyond right · labels stay" not in found
    assert found["same content · labels move"] == pytest.approx(1 - moved)
    assert found["same place · labels move"] == pytest.approx(moved)
    assert found["same content · labels stay"] == pytest.approx(1 - stayed)
    assert found["same place · labels stay"] == pytest.approx(stayed)


def test_a_liking_of_some_calls_is_recovered() -> None:
    """`label_biased(b)`: b(k − 1)/k beyond right, with labels that move; D = b² where they stay."""
    probe = OrderProbe(items=100, labels=["move", "stay"])
    plan = probe.plan("order", ground())
    finding = probe.read(plan, asked(plan, "label_biased(b=0.4)"), seed=0)
    truths = {
        "label A beyond right · labels move": 0.4 * 0.75, "first place beyond right · labels move": 0.0,
        "changed · labels stay": 0.4**2, "changed · labels move": 0.0,
    }  # fmt: skip
    for statistic, truth in truths.items():
        low, high = next(each.interval for each in finding.estimates if each.statistic == statistic) or (1, 0)
        assert low <= truth <= high, statistic


def test_how_far_choices_move_is_read_from_the_first_token() -> None:
    """Half on A, a quarter on each of B and C, in whatever order: with labels that move nothing moves."""
    probe = OrderProbe(items=3, units=3, labels=["move", "stay"])
    plan = probe.plan("order", ground())
    top = tuple((f" {label}", np.log(share)) for label, share in zip("ABC", (0.5, 0.25, 0.25), strict=True))
    reply = Reply("A", tokens=(TokenLogprob("A", top[0][1], (*top, ("The", -9.0))),))
    finding = probe.read(plan, [Record(call, reply) for call in plan.calls], seed=0)
    assert value(finding, "JSD of choices · labels move") == pytest.approx(0.0)
    same, other = np.array([0.5, 0.25, 0.25]), np.array([0.25, 0.5, 0.25])
    middle = (same + other) / 2
    apart = (same * np.log(same / middle) + other * np.log(other / middle)).sum() / 2
    assert value(finding, "JSD of choices · labels stay") == pytest.approx(apart * 12 / 15), "3 of 15 pairs agree on A"
    silent = probe.read(plan, [Record(call, Reply("A")) for call in plan.calls], seed=0)
    assert isinstance(value(silent, "JSD of choices · labels move"), Unknown)


def test_labels_are_of_generated_options() -> None:
    with pytest.raises(UsageError, match="generated options"):
        OrderProbe(labels=["move"], numbering=["kept"]).plan("order", ground())


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
