"""Which calls are made and in which order: all of them once, arms interleaved, the same for the same seed."""

from itertools import groupby, pairwise

import pytest

from tests.suite.fake import calls_of
from whybox.errors import UsageError
from whybox.probes.design import Record
from whybox.suite.floor import CONDITIONS, floor_calls, found
from whybox.suite.schedule import scheduled, selected, share_of
from whybox.targets.target import Failure, Reply

CALLS = calls_of(40)


def test_every_call_once_and_the_same_order_for_the_same_seed() -> None:
    for shared in (False, True):
        order = scheduled(CALLS, 3, shared)
        assert sorted(call.cell for call in order) == sorted(call.cell for call in CALLS)
        assert order == scheduled(CALLS, 3, shared)
        assert order != scheduled(CALLS, 4, shared)


def test_arms_are_interleaved() -> None:
    arms = [call.arm for call in scheduled(CALLS, 0)]
    runs = len([arm for arm, _ in groupby(arms)])
    assert 60 < runs < 100, "80 calls of each arm, mixed: about 80 changes of arm"
    early = arms[: len(arms) // 2].count("a")
    assert 30 < early < 50


def test_with_shared_prefixes_the_calls_of_an_item_stay_together() -> None:
    order = scheduled(CALLS, 0, shared_prefixes=True)
    assert len([item for item, _ in groupby(order, key=lambda call: call.item)]) == 40
    firsts = [next(group).arm for _, group in groupby(order, key=lambda call: call.item)]
    assert 10 < firsts.count("a") < 30


def test_a_filter_names_probe_item_or_arm_and_a_limit_counts_items() -> None:
    assert {call.item for call in selected(CALLS, None, 3)} == {"item-0", "item-1", "item-2"}
    assert selected(CALLS, "order", None) == CALLS
    assert {call.arm for call in selected(CALLS, "*/*/a", None)} == {"a"}
    assert {call.item for call in selected(CALLS, "order/item-7/*", 5)} == {"item-7"}
    with pytest.raises(UsageError, match="no call fits"):
        selected(CALLS, "memory/*", None)


def test_a_share_is_drawn_evenly_one_call_an_item() -> None:
    share = share_of(CALLS, 12)
    assert len({call.item for call in share}) == 12
    assert {call.arm for call in share} == {"a", "b"}
    assert {call.run for call in share} == {0}
    numbers = [int(call.item.removeprefix("item-")) for call in share]
    assert max(b - a for a, b in pairwise(numbers)) <= 4


def test_the_floor_asks_the_same_again_and_counts_what_changed() -> None:
    calls = floor_calls(CALLS, 6, 5)
    assert len(calls) == 3 * 6 * 5
    assert len({call.cell for call in calls}) == len(calls)
    assert all(call.fresh for call in calls)
    assert len({(call.item, call.request.digest) for call in calls}) == 6
    warm = [call.item for call in calls if call.arm == "warm"]
    assert len([item for item, _ in groupby(warm)]) == 6
    cold = [call.item for call in calls if call.arm == "cold"]
    assert len([item for item, _ in groupby(cold)]) == 30
    texts = {("warm", 2): "b"}
    records = [
        Record(call, Failure("http", "no") if call.run == 4 else Reply(texts.get((call.arm, call.run), "a")))
        for call in calls
    ]
    rows = found(records)
    assert [row.condition for row in rows] == list(CONDITIONS)
    assert [(row.differing.hits, row.differing.n, row.lost) for row in rows] == [(0, 18, 6), (6, 18, 6), (0, 18, 6)]
    assert rows[1].bound is None
    assert rows[0].bound == pytest.approx(1 - 0.05 ** (1 / 18))
